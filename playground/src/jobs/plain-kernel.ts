/** The kernel that most people would write: one invocation an output element, nothing staged, nothing tiled. */
import {
  at,
  bytesOf,
  elementCount,
  inputOf,
  isPlain,
  outputOf,
  plainSites,
  strides,
  type AccessFunc,
  type Linear,
  type PlainSite,
} from "../../../ir/index.js";

export interface PlainKernel {
  readonly code: string;
  readonly workgroups: readonly [number, number];
}

const lanes = 256;
const mostAlong = 65535;

/** Undefined for what it would not be plain to write: elements that are no whole words, or maps beyond reads and dims. */
export function plainKernel(gather: AccessFunc): PlainKernel | undefined {
  const output = outputOf(gather).type;
  const words = bytesOf(output.dtype) / 4;
  const elements = elementCount(output.shape);
  if (!Number.isInteger(words) || !isPlain(gather.map) || elements === 0) return undefined;
  const groups = Math.ceil(elements / lanes);
  const across = Math.min(groups, mostAlong);
  const { map } = gather;
  const own = plainSites(map);
  const tables = Math.max(...own.map(({ value }) => value.table), 0);
  const bindings = Array.from(
    { length: tables + 1 },
    (_, k) => `@group(0) @binding(${k}) var<storage, read> t${k}: array<u32>;`,
  );
  const dims = strides(output.shape).map(
    (by, d) => `  let d${d} = i32(i / ${by}u % ${at(output.shape, d)}u);`,
  );
  const sites = own.map((site, k) => siteCode(gather, site, k));
  const from = addressCode(map.results, strides(inputOf(gather, 0).type.shape));
  const moves = Array.from(
    { length: words },
    (_, w) => `  result[${words}u * i + ${w}u] = t0[${words}u * source + ${w}u];`,
  );
  return {
    code: `${bindings.join("\n")}
@group(0) @binding(${tables + 1}) var<storage, read_write> result: array<u32>;
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

/** An index that nothing takes reads element 0: a plain kernel checks nothing. */
function siteCode(gather: AccessFunc, { value, fromEnd, below }: PlainSite, k: number): string {
  const { dtype, shape } = inputOf(gather, value.table).type;
  const position = `u32(${addressCode(value.at, strides(shape))})`;
  const word = bytesOf(dtype) === 8 ? `2u * ${position}` : position;
  const read = `bitcast<i32>(t${value.table}[${word}])`;
  const counted = fromEnd === undefined ? `v${k}` : `select(v${k}, v${k} + ${fromEnd}, v${k} < 0)`;
  return `  let v${k} = ${read};\n  let s${k} = clamp(${counted}, 0, ${Math.max(0, below - 1)});`;
}

const addressCode = (coords: readonly Linear[], by: readonly number[]): string =>
  coords.length === 0 ? "0" : coords.map((coord, k) => `(${linearCode(coord)}) * ${at(by, k)}`).join(" + ");

const linearCode = ({ at: constant, terms }: Linear): string =>
  [
    String(constant),
    ...terms.map(
      ({ by, of }) => `${by} * ${of.kind === "dim" ? `d${of.dim}` : of.kind === "site" ? `s${of.site}` : ""}`,
    ),
  ].join(" + ");
