/** docs/dialects.md, found by asking the code: the same gather in each dialect, what it becomes, and what each refuses. */
import {
  at,
  dtypes,
  elementTypes,
  findOp,
  inputNames,
  inputsOf,
  opDefs,
  outputOf,
  printMap,
  resolveSource,
  sourceOp,
  targets,
  type DType,
  type OpDef,
  type OpName,
  type TensorType,
} from "../../ir/index.js";
import { canonicalizeAccess, runPipeline } from "../../passes/index.js";
import {
  program,
  tryProgram,
  tensorTypeOf,
  type ProgramDescription,
  type TypePair,
} from "../../src/api/program.js";
import type { Same, Way } from "./same-operators.js";
import { scatters } from "./scatters.js";

const long = (...shape: readonly number[]): TypePair => ["i64", shape];

export const gathers: readonly Same[] = [
  {
    title: "Rows of a table: 3 of its 5 rows",
    data: ["f32", [5, 4]],
    indices: [long(3)],
    ways: [
      { op: "onnx.gather", written: "Gather(data, indices, axis=0)" },
      {
        op: "directml.gather",
        written: "DML_GATHER_OPERATOR_DESC, Axis 0, IndexDimensions 1",
        attrs: { axis: 0, index_dimensions: 1 },
        indices: [long(1, 3)],
      },
      { op: "pypto.index_select", written: "pypto.index_select(input, 0, index)", attrs: { dim: 0 } },
      { op: "torch.index_select", written: "torch.index_select(input, 0, index)", attrs: { dim: 0 } },
      { op: "torch.embedding", written: "torch.nn.functional.embedding(input, weight)" },
      { op: "tf.gather", written: "tf.gather(params, indices)" },
      { op: "numpy.take", written: "np.take(a, indices, axis=0)", attrs: { axis: 0 } },
      { op: "numpy.index", written: "x[i]", attrs: { subscript: "i0" } },
      { op: "jax.take", written: "jnp.take(a, indices, axis=0)", attrs: { axis: 0 } },
      {
        op: "stablehlo.gather",
        written: "slices of [1, 4] at start indices",
        attrs: {
          offset_dims: [1],
          collapsed_slice_dims: [0],
          start_index_map: [0],
          index_vector_dim: 1,
          slice_sizes: [1, 4],
        },
      },
    ],
  },
  {
    title: "Element by element along the last axis",
    data: ["f32", [3, 4]],
    indices: [long(3, 2)],
    ways: [
      { op: "onnx.gather_elements", written: "GatherElements(data, indices, axis=1)", attrs: { axis: 1 } },
      {
        op: "directml.gather_elements",
        written: "DML_GATHER_ELEMENTS_OPERATOR_DESC, Axis 1",
        attrs: { axis: 1 },
      },
      { op: "pypto.gather", written: "pypto.gather(input, 1, index)", attrs: { dim: 1 } },
      { op: "torch.gather", written: "torch.gather(input, 1, index)", attrs: { dim: 1 } },
      { op: "torch.take_along_dim", written: "torch.take_along_dim(input, indices, 1)", attrs: { dim: 1 } },
      {
        op: "tf.gather",
        written: "tf.gather(params, indices, axis=1, batch_dims=1)",
        attrs: { batch_dims: 1 },
      },
      { op: "numpy.take_along_axis", written: "np.take_along_axis(arr, indices, 1)", attrs: { axis: 1 } },
      { op: "jax.take_along_axis", written: "jnp.take_along_axis(arr, indices, 1)", attrs: { axis: 1 } },
      {
        op: "stablehlo.gather",
        written: "slices of [1, 1], batched over dim 0",
        attrs: {
          collapsed_slice_dims: [1],
          operand_batching_dims: [0],
          start_indices_batching_dims: [0],
          start_index_map: [1],
          index_vector_dim: 2,
          slice_sizes: [1, 1],
        },
      },
    ],
  },
  {
    title: "Rows named by two indices each",
    data: ["f32", [5, 6, 4]],
    indices: [long(3, 2)],
    ways: [
      { op: "onnx.gather_nd", written: "GatherND(data, indices)" },
      {
        op: "directml.gather_nd",
        written: "DML_GATHER_ND_OPERATOR_DESC, IndicesDimensionCount 2",
        attrs: { indices_dimension_count: 2 },
        indices: [long(1, 3, 2)],
      },
      {
        op: "directml.gather_nd1",
        written: "DML_GATHER_ND1_OPERATOR_DESC, IndicesDimensionCount 2",
        attrs: { indices_dimension_count: 2 },
        indices: [long(1, 3, 2)],
      },
      { op: "tf.gather_nd", written: "tf.gather_nd(params, indices)" },
      { op: "numpy.index", written: "x[i, j]", attrs: { subscript: "i0, i1" }, indices: [long(3), long(3)] },
      {
        op: "stablehlo.gather",
        written: "slices of [1, 1, 4]",
        attrs: {
          offset_dims: [1],
          collapsed_slice_dims: [0, 1],
          start_index_map: [0, 1],
          index_vector_dim: 1,
          slice_sizes: [1, 1, 4],
        },
      },
    ],
  },
  {
    title: "With views and windows",
    data: ["f32", [5, 6, 4]],
    indices: [long(3)],
    ways: [
      {
        op: "numpy.index",
        written: "x[i, :, j], i of 2 by 1, j of 3",
        attrs: { subscript: "i0, :, i1" },
        indices: [long(2, 1), long(3)],
      },
      { op: "numpy.index", written: "x[i, ::-2, 1:3]", attrs: { subscript: "i0, ::-2, 1:3" } },
      { op: "numpy.take", written: "np.take(a, indices), flat" },
      {
        op: "numpy.take_along_axis",
        written: "np.take_along_axis(arr, indices, 0), indices of [3, 1, 1]",
        attrs: { axis: 0 },
        indices: [long(3, 1, 1)],
      },
      {
        op: "stablehlo.gather",
        written: "windows of 2 rows",
        attrs: { offset_dims: [1, 2, 3], start_index_map: [0], index_vector_dim: 1, slice_sizes: [2, 6, 4] },
      },
    ],
  },
  {
    title: "Rows of a quantized table: 32 numbers of 4 bits each, in blocks of 16",
    data: ["u8", [5, 16]],
    indices: [long(3), ["f16", [5, 2]]],
    ways: [
      {
        op: "onnx.gather_block_quantized",
        written: "com.microsoft.GatherBlockQuantized(data, indices, scales, block_size=16)",
        attrs: { block_size: 16 },
      },
    ],
  },
  {
    title: "Rows of a table in bags: the 7 named ones, from 3 offsets on",
    data: ["f32", [5, 4]],
    indices: [long(7), long(3)],
    ways: [
      {
        op: "torch.embedding_bag",
        written: "torch.nn.functional.embedding_bag(input, weight, offsets)",
      },
      {
        op: "torch.embedding_bag",
        written: "F.embedding_bag(input, weight, mode='sum', per_sample_weights=w), input and w of 3 by 2",
        attrs: { mode: "sum" },
        indices: [long(3, 2), ["f32", [3, 2]]],
      },
    ],
  },
  {
    title: "A mixture of experts: each of 3 tokens is the weighted sum of 2 of 5 rows",
    data: ["f16", [5, 4]],
    indices: [
      ["i32", [3, 2]],
      ["f32", [3, 2]],
    ],
    ways: [{ op: "moe.combine", written: "out[t] = sum over k of x[inverse[t, k]] * weights[t, k]" }],
  },
  {
    title: "Through a table of pages",
    data: ["f32", [23, 8]],
    indices: [
      ["i32", [1, 16]],
      ["i32", [1, 4]],
    ],
    ways: [
      {
        op: "pypto.gather_in_ub",
        written: "pypto.gather_in_ub(param, indices, block_table, 4, -2)",
        attrs: { block_size: 4 },
      },
    ],
  },
];

/** Returns the program of a way. */
export function describe({ op, attrs = {}, data, indices }: Way, same: Same): ProgramDescription {
  const [first, ...others] = (indices ?? same.indices).map(tensorTypeOf);
  if (first === undefined) throw new Error(`${op} has no indices`);
  const type = tensorTypeOf(data ?? same.data);
  // DirectML's tensors share a number of dims.
  return { op, attrs, data: type, indices: first, others };
}

const cell = (text: string): string => text.replaceAll("|", "\\|");

function rowOf(way: Way, same: Same): string {
  const func = program(describe(way, same));
  const { func: access } = runPipeline(func, [canonicalizeAccess], targets.cpu);
  const found = resolveSource(sourceOp(func));
  if (access.level !== "access" || !found.ok) throw new Error(`${way.op} has no access map`);
  const types = (list: readonly { readonly type: TensorType }[]) => list.map(({ type }) => type);
  const map = printMap(access.map, {
    names: inputsOf(access).map(({ name }) => name),
    inputs: types(inputsOf(access)),
    output: outputOf(access).type.shape,
  });
  const { negative, oob } = found.resolved;
  const count = negative === "from-end" ? "from the end" : "out of range";
  const { fill } = access.map;
  const bits = fill === undefined ? "" : `, which fills 0x${BigInt(fill).toString(16)}`;
  return `| \`${way.op}\` | \`${cell(way.written)}\` | \`${cell(map)}\` | ${count} | ${oob}${bits} |`;
}

/** Names of the inputs of scatters that name elements. */
const isIndexName = /^ind|^i0|_ind/;

/** True if an input is the one that names elements, or is first behind the data. */
export const isIndex = (name: string, k: number, { writes, values = [] }: OpDef): boolean =>
  writes === undefined ? k === 1 : isIndexName.test(name) && !values.includes(name);

/** True if an input has elements that are moved: the data, and what a scatter writes. */
export const isData = (name: string, k: number, { writes, values = [] }: OpDef): boolean =>
  values.includes(name) ? writes !== undefined : k === 0 && !isIndexName.test(name);

/** Returns a program with another type of some of its inputs. */
export function retyped(
  is: ProgramDescription,
  chosen: (name: string, k: number, def: OpDef) => boolean,
  dtype: DType,
): ProgramDescription {
  const def = findOp(is.op);
  if (def === undefined) throw new Error(`no operator ${is.op}`);
  const types = [is.data, is.indices, ...(is.others ?? [])];
  const names = inputNames(def, types);
  const [data, indices, ...others] = types.map((type, k) =>
    chosen(at(names, k), k, def) ? { ...type, dtype } : type,
  );
  if (data === undefined || indices === undefined) throw new Error(`${is.op} has no indices`);
  return { ...is, data, indices, others };
}

/** What the dialects differ in, tried on each operator's program above. */
const trials: readonly {
  readonly what: string;
  readonly change: (is: ProgramDescription) => ProgramDescription;
}[] = [
  { what: "indices i32", change: (is) => retyped(is, isIndex, "i32") },
  { what: "indices u32", change: (is) => retyped(is, isIndex, "u32") },
  { what: "indices f32", change: (is) => retyped(is, isIndex, "f32") },
  { what: "data bf16", change: (is) => retyped(is, isData, "bf16") },
  { what: "data string", change: (is) => retyped(is, isData, "string") },
  { what: "a scalar as data", change: (is) => ({ ...is, data: { ...is.data, shape: [] } }) },
  {
    what: "empty data",
    change: (is) => ({ ...is, data: { ...is.data, shape: is.data.shape.map(() => 0) } }),
  },
  {
    what: "the last dim, as -1",
    change: (is) => {
      const name = ["axis", "dim"].find((known) => opDefs.find(({ name }) => name === is.op)?.attrs[known]);
      return name === undefined ? is : { ...is, attrs: { ...is.attrs, [name]: -1 } };
    },
  },
];

function refusalsOf(op: OpName): string[] {
  for (const same of [...gathers, ...scatters]) {
    const way = same.ways.find((known) => known.op === op);
    if (way === undefined) continue;
    const base = describe(way, same);
    return trials.flatMap(({ what, change }) => {
      const result = tryProgram(change(base));
      const [first] = result.ok ? [] : result.diagnostics;
      return first === undefined ? [] : [`| ${what} | ${first.code} | ${cell(first.message)} |`];
    });
  }
  throw new Error(`the page has no gather of ${op}`);
}

/** What a type is called where programs, models and arrays come from. */
function typeRow(dtype: DType): string {
  const { bits, class: kind, npy, onnx, mlir, jax, array } = elementTypes[dtype];
  const numpy = typeof npy === "string" ? `\`${npy}\`` : `none: bits as \`${elementTypes[npy.as].npy}\``;
  const named = (text: string | undefined): string => (text === undefined ? "none" : `\`${text}\``);
  const names = [numpy, onnx === undefined ? "none" : `\`${onnx[1]}\` (${onnx[0]})`, named(mlir), named(jax)];
  return `| \`${dtype}\` | ${bits} | ${names.join(" | ")} | \`${kind === "string" ? "string[]" : array.name}\` |`;
}

/** Returns the lines of the operators that do one thing. */
const tableOf = (same: Same): readonly string[] => [
  `${same.level ?? "##"} ${same.title}`,
  "",
  "| Operator | In the framework | Access map | Negative indices | Bad index, by default |",
  "| --- | --- | --- | --- | --- |",
  ...same.ways.map((way) => rowOf(way, same)),
  "",
];

/** Markdown. */
export function dialectsPage(): string {
  const lines = [
    "# The same gather in each dialect",
    "",
    "Which operators of each framework tilec takes, and the access map that each becomes. `npm run docs:dialects` generates this page from the definitions; a test compares.",
    "In an access map `d0, d1, …` are the output's dims, `%data` is what is gathered from, and the coordinates say where an element comes",
    "from. `in n` is the bound of an index where it is not the extent. [support.md](support.md) has every type on every backend.",
    "",
  ];
  for (const same of gathers) lines.push(...tableOf(same));
  lines.push(
    "## Scatters",
    "",
    "What these write is a copy of their first input, or with `in place` that input itself. In their maps `->` leads to the element that a point",
    "writes; points are taken in row-major order of the domain, and the last of those that name one element stays.",
    "",
    ...scatters.flatMap(tableOf),
  );
  lines.push(
    "## Element types",
    "",
    "What each framework calls a type: NumPy in `.npy` files, ONNX in `TensorProto.DataType` (name and number), StableHLO in MLIR. The last column",
    "is the array that inputs and outputs are in JavaScript; f16 and bf16 are there as their bits.",
    "",
    "| Type | Bits | NumPy | ONNX | StableHLO | jax | JavaScript |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...dtypes.map(typeRow),
    "",
    "## What each refuses",
    "",
    "Each was tried on the operator's first program above; what is not here is taken.",
    "",
  );
  for (const { name } of opDefs) {
    lines.push(
      `### ${name}`,
      "",
      "| Given | Code | It says |",
      "| --- | --- | --- |",
      ...refusalsOf(name as OpName),
      "",
    );
  }
  return `${lines.join("\n").trimEnd()}\n`;
}
