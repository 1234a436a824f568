/** The support matrix, found by asking the code: every operator with every type, rank and policy is tried. */
import {
  defined,
  CompileError,
  dialectOf,
  dtypes,
  findOp,
  findTarget,
  indexDTypes,
  maxRank,
  opDefs,
  readPolicies,
  parseModule,
  resolveSource,
  type Attrs,
  type CommonName,
  type DType,
  type OpDef,
  type Shape,
  type TensorType,
  targets,
  type Target,
} from "../../ir/index.js";
import { describe, isData, isIndex, retyped } from "./dialects-page.js";
import type { Same, Way } from "./same-operators.js";
import { scatters } from "./scatters.js";
import { emitWgsl } from "../../backends/webgpu/index.js";
import { verdict } from "../support/refusal.js";
import { planWasm } from "../../backends/wasm/index.js";
import { tryCompile, type Kernel } from "../../src/api/compile.js";
import { tryProgram, type ProgramDescription } from "../../src/api/program.js";

/** An operator, under the attributes of one of its levels. */
interface Row {
  readonly def: OpDef;
  readonly level: Attrs;
}

/** Operators that gather; programs of the others are those of the page on dialects. */
const gatherDefs = opDefs.filter(({ writes }) => writes === undefined);

/** An operator that has levels has a row for each, the default first. */
function rowsOf(def: OpDef): Row[] {
  const spec = def.attrs["level"];
  if (spec?.kind !== "word") return [{ def, level: {} }];
  const levels =
    spec.default === undefined
      ? spec.words
      : [spec.default, ...spec.words.filter((word) => word !== spec.default)];
  return levels.map((level) => ({ def, level: { level } }));
}

/** The inputs behind the indices of an operator that has more than two, for data and indices of some shapes. */
function othersOf(
  { name }: OpDef,
  { shape }: TensorType,
  indices: TensorType,
): readonly TensorType[] | undefined {
  switch (name) {
    case "onnx.gather_block_quantized":
      return [{ dtype: "f32", shape: shape.map((extent, k) => (k === shape.length - 1 ? 1 : extent)) }];
    case "torch.embedding_bag":
      // Of two dims, its rows are the bags.
      return indices.shape.length === 1 ? [{ dtype: "i64", shape: [2] }] : undefined;
    case "moe.combine":
      return [{ dtype: "f32", shape: indices.shape }];
    default:
      return undefined;
  }
}

/** A smallest program of an operator: extents of 2, a tuple of 1, indices of the lowest rank that it takes. */
function smallest(
  { def, level }: Row,
  data: DType,
  indices: string,
  rank: number,
  indexRank = def.name === "pypto.gather_in_ub" || def.name === "moe.combine" ? 2 : 1,
): ProgramDescription {
  const two = (count: number): number[] => new Array<number>(Math.max(0, count)).fill(2);
  // Of a scalar, one index names all there is.
  const picks = rank === 0 ? new Array<number>(Math.max(0, indexRank)).fill(1) : two(indexRank);
  const padded = (last: number): number[] => [...new Array<number>(Math.max(0, rank - 1)).fill(1), last];
  const shapes: Readonly<Record<CommonName, readonly [Shape, Shape]>> = {
    gather: [two(rank), dialectOf(def) === "directml" ? padded(2) : picks],
    gather_elements: [two(rank), two(rank)],
    gather_nd: [two(rank), dialectOf(def) === "directml" ? padded(1) : [...two(indexRank - 1), 1]],
  };
  const [dataShape, indicesShape] = shapes[likeOf(def)];
  const attrs: Attrs = {
    ...level,
    ...(def.name === "directml.gather" ? { index_dimensions: 1 } : {}),
    ...(def.name.startsWith("directml.gather_nd") ? { indices_dimension_count: 1 } : {}),
    ...(def.name === "stablehlo.gather" ? rowsOfDim0(rank, indexRank) : {}),
    ...(def.name === "pypto.gather_in_ub" ? { block_size: 1 } : {}),
    ...(def.name === "onnx.gather_block_quantized" ? { block_size: 16, quantize_axis: rank - 1 } : {}),
  };
  if (def.name === "pypto.gather_in_ub") {
    const row = {
      dtype: indices as DType,
      shape: [...new Array<number>(Math.max(0, indexRank - 1)).fill(1), 2],
    };
    return { op: def.name, attrs, data: { dtype: data, shape: two(rank) }, indices: row, others: [row] };
  }
  const types = {
    data: { dtype: data, shape: dataShape },
    indices: { dtype: indices as DType, shape: indicesShape },
  };
  const others = othersOf(def, types.data, types.indices);
  return { op: def.name, attrs, ...types, ...defined({ others }) };
}

/** A type of data that an operator takes. */
const anyData = ({ def }: Row): DType => (def.name === "onnx.gather_block_quantized" ? "u8" : "f32");

/** The common operator whose shapes one without a common name takes. */
const likeOf = (def: OpDef): CommonName =>
  def.kind ?? (def.name === "torch.take_along_dim" ? "gather_elements" : "gather");

/** Rows of an operand, each by an index of one component. */
const rowsOfDim0 = (rank: number, indexRank: number): Attrs => ({
  offset_dims: Array.from({ length: Math.max(0, rank - 1) }, (_, k) => indexRank + k),
  collapsed_slice_dims: [0],
  start_index_map: [0],
  index_vector_dim: indexRank,
  slice_sizes: Array.from({ length: rank }, (_, k) => (k === 0 ? 1 : 2)),
});

/** The first type of indices that an operator takes. */
const indexTypeOf = (row: Row): DType =>
  indexDTypes.find((dtype) => takes(smallest(row, anyData(row), dtype, 2))) ?? "i64";

/** A smallest program of every operator, at each of its levels, on data of a type. */
export const smallestPrograms = (data: DType): readonly ProgramDescription[] =>
  gatherDefs.flatMap(rowsOf).map((row) => smallest(row, data, indexTypeOf(row), 2));

const takes = (description: ProgramDescription): boolean => tryProgram(description).ok;

/** Ranks in a row as `1 to 8`. */
function ranks(list: readonly number[]): string {
  const [first, last] = [list[0], list[list.length - 1]];
  if (first === undefined || last === undefined) return "none";
  return first === last ? String(first) : `${first} to ${last}`;
}

/** The attribute that says what an index out of range means, and its words. */
function policiesOf({ attrs: { mode, oob } }: OpDef): readonly [name: string, words: readonly string[]] {
  return oob === undefined && mode?.kind === "word" ? ["mode", mode.words] : ["oob", readPolicies];
}

function backendsOf(row: Row, dtype: DType, indexType: string): string[] {
  const result = tryProgram(smallest(row, dtype, indexType, 2));
  if (!result.ok) return [];
  const found = ["reference"];
  if (tryCompile(result.func).ok) found.push("sim");
  const webgpu = findTarget("webgpu");
  const device = webgpu === undefined ? undefined : tryCompile(result.func, { target: webgpu });
  if (device?.ok === true && verdict(() => emitWgsl(device.kernel.tile)) === "accepted") found.push("webgpu");
  return found;
}

/** Words of attributes that say how an update changes an element. */
const combining = ["reduction", "reduce", "update_computation", "accumulate"] as const;

/** A line of the table of scatters. */
function scatterRow(way: Way, same: Same): string {
  const base = describe(way, same);
  const def = findOp(base.op);
  if (def === undefined) throw new Error(`no operator ${base.op}`);
  const typesOf = (chosen: typeof isData, among: readonly DType[], attrs: Attrs): readonly DType[] =>
    among.filter((dtype) => takes({ ...retyped(base, chosen, dtype), attrs: { ...base.attrs, ...attrs } }));
  const resolvedOf = (attrs: Attrs) =>
    resolveSource({
      op: base.op,
      attrs: { ...base.attrs, ...attrs },
      inputs: [base.data, base.indices, ...(base.others ?? [])],
    });
  const combines = combining.flatMap((name) => {
    const spec = def.attrs[name];
    const given = spec?.kind === "word" ? spec.words : spec?.kind === "int" ? [0, 1] : [];
    return given.flatMap((word) => (resolvedOf({ [name]: word }).ok ? [{ [name]: word }] : []));
  });
  const byTypes = new Map<string, string[]>();
  for (const attrs of combines.length === 0 ? [{}] : combines) {
    const result = resolvedOf(attrs);
    if (!result.ok || result.resolved.operator.op !== "mapped") continue;
    const { combine } = result.resolved.operator.map.write;
    const types = typesIn(typesOf(isData, dtypes, attrs), dtypes);
    if (byTypes.get(types)?.includes(combine) !== true)
      byTypes.set(types, [...(byTypes.get(types) ?? []), combine]);
  }
  const result = resolvedOf({});
  if (!result.ok) throw new CompileError(result.diagnostics);
  const { negative, oob } = result.resolved;
  const cells = [
    def.name,
    [...byTypes].map(([types, names]) => `${names.join(", ")}: ${types}`).join("; "),
    typesOf(isIndex, indexDTypes, {}).join(", "),
    def.writes ?? "",
    negative === "from-end" ? "from the end" : "out of range",
    oob,
    Object.keys(def.attrs).join(", "),
  ];
  return `| ${cells.join(" | ")} |`;
}

/** One access map of each kind: what operators come to, what folds, and what is written by hand. */
const maps: readonly (readonly [kind: string, tir: string])[] = [
  [
    "rows by an index",
    `(%x: tensor<8x4xf32>, %i: tensor<3xi32>) -> tensor<3x4xf32> {
  %y = access.gather %x, %i (d0, d1) -> (%i[d0], d1)`,
  ],
  [
    "a view: steps, permuted and reversed dims",
    `(%x: tensor<8x4xf32>, %i: tensor<3xi32>) -> tensor<2x3xf32> {
  %y = access.gather %x, %i (d0, d1) -> (%i[d1], 3 - 2 * d0)`,
  ],
  [
    "windows",
    `(%x: tensor<8x4xf32>, %i: tensor<3xi32>) -> tensor<3x2x4xf32> {
  %y = access.gather %x, %i (d0, d1, d2) -> (%i[d0] + d1, d2)`,
  ],
  [
    "`div` and `mod` of an index",
    `(%x: tensor<8x4xf32>, %i: tensor<3xi32>) -> tensor<3xf32> {
  %y = access.gather %x, %i (d0) let s = clamp(%i[d0] in 32) -> (s div 4, s mod 4)`,
  ],
  [
    "several index tensors",
    `(%x: tensor<8x4xf32>, %i: tensor<3x1xi32>, %j: tensor<2xi32>) -> tensor<3x2xf32> {
  %y = access.gather %x, %i, %j (d0, d1) -> (%i[d0, 0], %j[d1])`,
  ],
  [
    "an index of an index, in pages",
    `(%x: tensor<8x4xf32>, %t: tensor<3xi32>, %b: tensor<4xi32>) -> tensor<3x4xf32> {
  %y = access.gather %x, %t, %b (d0, d1) let t = clamp(%t[d0] in 8) -> (clamp(2 * %b[t div 2] + t mod 2 in 8), d1)`,
  ],
  [
    "a computed value",
    `(%x: tensor<8x4xf32>, %s: tensor<8xf32>, %i: tensor<3xi32>) -> tensor<3x4xf32> {
  %y = access.gather %x, %s, %i (d0, d1) let t = clamp(%i[d0] in 8) yield %x[t, d1] * %s[t]`,
  ],
  [
    "a sum of rows",
    `(%x: tensor<8x4xf32>, %i: tensor<3x2xi32>) -> tensor<3x4xf32> {
  %y = access.gather %x, %i (d0, d1; r < 2) let t = clamp(%i[d0, r] in 8) yield fold(%x[t, d1])`,
  ],
  [
    "fill bits",
    `(%x: tensor<8x4xf32>, %i: tensor<3xi32>) -> tensor<3x4xf32> {
  %y = access.gather %x, %i (d0, d1) -> (fill(%i[d0]), d1)`,
  ],
];

/** Where a map runs, or the code by which it is refused. */
function mapRow([kind, body]: (typeof maps)[number]): string {
  const policy = kind === "fill bits" ? "fill, fill = 1065353216" : "clamp";
  const { module, diagnostics } = parseModule(`func @f${body} {oob = ${policy}}\n  return %y\n}`, kind);
  const [func] = module.funcs;
  if (func === undefined) throw new CompileError(diagnostics);
  const on = (target: Target, emit: (kernel: Kernel) => unknown): string => {
    const result = tryCompile(func, { target });
    return result.ok ? verdict(() => emit(result.kernel)) : (result.diagnostics[0]?.code ?? "");
  };
  const cells = [
    on(targets.cpu, () => undefined),
    on(targets.cpu, ({ tile }) => planWasm(tile)),
    on(targets.webgpu, ({ tile }) => emitWgsl(tile)),
    on(targets.ascendA2, (kernel) => kernel.pto()),
    on(targets.ascendA2, (kernel) => kernel.pypto()),
  ];
  return `| ${kind} | ${cells.map((cell) => (cell === "accepted" ? "yes" : cell)).join(" | ")} |`;
}

/** Types, in words where they are most of all. */
function typesIn(types: readonly DType[], all: readonly DType[]): string {
  const others = all.filter((dtype) => !types.includes(dtype));
  if (others.length === 0) return "all";
  return others.length < 4 ? `all but ${others.join(", ")}` : types.join(", ");
}

const everywhere = "reference, sim, webgpu";

/** The element types that an operator takes, by the backends that run them. */
function elementTypes(row: Row, anyIndex: DType): string {
  const byBackends = new Map<string, DType[]>();
  for (const dtype of dtypes) {
    const backends = takes(smallest(row, dtype, anyIndex, 2))
      ? backendsOf(row, dtype, anyIndex).join(", ")
      : "";
    byBackends.set(backends, [...(byBackends.get(backends) ?? []), dtype]);
  }
  byBackends.delete("");
  return [...byBackends]
    .map(
      ([backends, types]) => typesIn(types, dtypes) + (backends === everywhere ? "" : ` (${backends} alone)`),
    )
    .join("; ");
}

/** A line of the table of operators. */
function operatorRow(row: Row): string {
  const { def, level } = row;
  const anyIndex = indexTypeOf(row);
  const indexTypes = [...indexDTypes, "bool" as const].filter((dtype) =>
    takes(smallest(row, anyData(row), dtype, 2)),
  );
  const all = Array.from({ length: maxRank + 1 }, (_, rank) => rank);
  const dataRanks = all.filter((rank) => takes(smallest(row, anyData(row), anyIndex, rank)));
  const indexRanks = all.filter((rank) =>
    takes(
      smallest(
        row,
        anyData(row),
        anyIndex,
        likeOf(def) === "gather" ? (dataRanks.find((own) => own > 0) ?? 1) : rank,
        rank,
      ),
    ),
  );
  const [policy, words] = policiesOf(def);
  const base = smallest(row, anyData(row), anyIndex, 2);
  const policies = words.filter((word) => takes({ ...base, attrs: { ...base.attrs, [policy]: word } }));
  const inputs = [base.data, base.indices, ...(base.others ?? [])];
  const resolved = resolveSource({ op: base.op, attrs: base.attrs, inputs });
  const oob = resolved.ok ? resolved.resolved.oob : "none";
  const named = policy === "oob" ? oob : String(def.attrs[policy]?.default);
  const negative = resolved.ok && resolved.resolved.negative === "from-end" ? "from the end" : "out of range";
  const cells = [
    [def.name, ...Object.entries(level).map(([name, word]) => `${name} ${String(word)}`)].join(", "),
    def.kind ?? "none",
    elementTypes(row, anyIndex),
    indexTypes.join(", "),
    ranks(dataRanks),
    dialectOf(def) === "directml" ? "as data" : ranks(indexRanks),
    negative,
    (policies.length === 0 ? [oob] : policies)
      .map((word) => (word === named ? `**${word}**${named === oob ? "" : ` (${oob})`}` : word))
      .join(", "),
    Object.keys(def.attrs).join(", "),
  ];
  return `| ${cells.join(" | ")} |`;
}

/** Markdown. */
export function supportMatrix(): string {
  const lines = [
    "# What runs where",
    "",
    "Which operators, element types and policies each backend takes. `npm run docs:support` generates this page and a test compares it: it compiles a program for every cell.",
    "",
    "## Operators",
    "",
    "Each operator takes the listed element types, which run on the reference, on both executors of the simulator and on WebGPU; it refuses others (TC104).",
    "",
    "- **Common operator**: the flag `--op` takes it for every dialect that has one.",
    "- **Index ranks** of DirectML are those of the data: leading dims of 1 are padding.",
    "- **Out of range**: the policies or modes that the operator takes, with the default in bold, and its policy where the mode has another name.",
    "",
    "| Operator | Common operator | Element types | Index types | Data ranks | Index ranks | Negative indices | Out of range | Attributes |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ...gatherDefs.flatMap(rowsOf).map(operatorRow),
    "",
    "## Scatters",
    "",
    "The reference, both executors of the simulator and WebGPU run these on every type that they take. PTO prints those that move elements and constants or combine integers,",
    "and sums and products of floats under conditions ([pto.md](pto.md#a-scatter)), PyPTO those that are one of its operators ([pto.md](pto.md#scatters)); they refuse others (TC505). The element types are those of each combination that the operator has.",
    "",
    "| Operator | Element types | Index types | Writes | Negative indices | Out of range | Attributes |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...scatters.flatMap((same) => same.ways.map((way) => scatterRow(way, same))),
    "",
    "## Access maps",
    "",
    "Maps of 32-bit elements under `clamp`; a code is a refusal. The reference runs all of them. PTO and PyPTO are text for Ascend toolchains. PyPTO prints its own operators, and values over rows that lie in global memory ([claims.md](claims.md)); it refuses general maps.",
    "",
    "| Map | sim, checked | sim, fast | webgpu | PTO | PyPTO |",
    "| --- | --- | --- | --- | --- | --- |",
    ...maps.map(mapRow),
  ];
  return `${lines.join("\n").trimEnd()}\n`;
}
