/**
 * The kernel that most people would write: one invocation an output element, nothing staged, nothing tiled.
 */
import {
  assertNever,
  at,
  bitsOf,
  elementCount,
  inputOf,
  inputsOf,
  InternalError,
  isMove,
  isRead,
  isScatter,
  outputOf,
  printForm,
  printOperand,
  scale,
  strides,
  sumOf,
  type AccessFunc,
  type FormLanguage,
  type Linear,
  type Read,
  type IndexOperand,
  dataCoords,
} from "../../../ir/index.js";

/** WGSL code of a plain (not tiled) kernel, and the number of workgroups to dispatch along x and y. */
export interface PlainKernel {
  readonly code: string;
  readonly workgroups: readonly [number, number];
}

const lanes = 256;
const mostAlong = 65535;

/**
 * Returns a plain (not tiled) WGSL kernel of a gather, for a comparison of times with tilec's kernel. Returns
 * undefined if the program is not a supported gather without arithmetic.
 */
export function plainKernel(gather: AccessFunc): PlainKernel | undefined {
  const { map } = gather;
  const output = outputOf(gather).type;
  const words = bitsOf(output.dtype) / 32;
  const elements = elementCount(output.shape);
  const reads = map.indices.filter(isBoundedRead);
  const inputs = inputsOf(gather);
  const read = new Set([0, ...reads.map(({ value }) => value.table)]);
  const written =
    !isScatter(map) &&
    isMove(map) &&
    Number.isInteger(words) &&
    elements > 0 &&
    reads.length === map.indices.length &&
    reads.every(({ value }) => bitsOf(at(inputs, value.table).type.dtype) >= 32) &&
    inputs.every((_, table) => read.has(table));
  if (!written) return undefined;
  const groups = Math.ceil(elements / lanes);
  const across = Math.min(groups, mostAlong);
  const bindings = inputs.map(
    (_, table) => `@group(0) @binding(${table}) var<storage, read> t${table}: array<u32>;`,
  );
  const dims = strides(output.shape).map(
    (by, d) => `  let d${d} = i32(i / ${by}u % ${at(output.shape, d)}u);`,
  );
  const sites = reads.map((site, k) => siteCode(gather, site, k));
  const from = addressCode(dataCoords(map), strides(inputOf(gather, 0).type.shape));
  const moves = Array.from(
    { length: words },
    (_, w) => `  result[${words}u * i + ${w}u] = t0[${words}u * source + ${w}u];`,
  );
  return {
    code: `${bindings.join("\n")}
@group(0) @binding(${inputs.length}) var<storage, read_write> result: array<u32>;
@compute @workgroup_size(${lanes})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.y * ${across * lanes}u + id.x;
  if (i >= ${elements}u) { return; }
${[...dims, ...sites].join("\n")}
  let source = u32(${from});
${moves.join("\n")}
}
`,
    workgroups: [across, Math.ceil(groups / across)],
  };
}

/** An index value that is read, and held under a number. */
interface BoundedRead extends IndexOperand {
  readonly value: Read;
  readonly extent: number;
}

const isBoundedRead = (site: IndexOperand): site is BoundedRead =>
  isRead(site.value) && site.extent !== undefined;

/**
 * Emits two WGSL statements for index operand `k`. They define `v<k>`, the index value, and `s<k>`, the value
 * clamped to the extent. Negative values are wrapped first if `wrapNegativeBy` is defined.
 */
function siteCode(gather: AccessFunc, { value, wrapNegativeBy, extent }: BoundedRead, k: number): string {
  const { dtype, shape } = inputOf(gather, value.table).type;
  const position = `u32(${addressCode(value.at, strides(shape))})`;
  const word = bitsOf(dtype) === 64 ? `2u * ${position}` : position;
  const read = `bitcast<i32>(t${value.table}[${word}])`;
  const counted =
    wrapNegativeBy === undefined ? `v${k}` : `select(v${k}, v${k} + ${wrapNegativeBy}, v${k} < 0)`;
  return `  let v${k} = ${read};\n  let s${k} = clamp(${counted}, 0, ${Math.max(0, extent - 1)});`;
}

const addressCode = (coords: readonly Linear[], by: readonly number[]): string =>
  printForm(sumOf(coords.map((coord, k) => scale(coord, at(by, k)))), plainForms);

/** Printer of index expressions in i32. A dividend is never negative. */
const plainForms: FormLanguage = {
  literal: String,
  product: (factor, by) => `${factor} * ${by}`,
  amount({ by, of }) {
    switch (of.kind) {
      case "dim":
        return { by, text: `d${of.dim}`, isTight: true };
      case "index":
        return { by, text: `s${of.index}`, isTight: true };
      case "div":
        return { by, text: `${printOperand(of.of, plainForms)} / ${of.by}` };
      case "mod":
        return { by, text: `${printOperand(of.of, plainForms)} % ${of.by}` };
      case "iv":
      case "min":
      case "symbol":
        throw new InternalError(`a map over whole tensors of known sizes has no ${of.kind}`);
      default:
        return assertNever(of);
    }
  },
};
