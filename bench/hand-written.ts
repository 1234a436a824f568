/**
 * Kernels as one would write them by hand for a workload: 16 bytes of output, or four elements of it, for
 * each invocation.
 */
import { count, type Workload } from "./workloads.js";

/**
 * Returns the hand-written WGSL of a workload and the number of invocations to launch. A negative index
 * counts from the end. Indices are assumed to be in range.
 */
export function handWritten(w: Workload): readonly [code: string, invocations: number] {
  const columns = w.data[w.data.length - 1] ?? 1;
  const inRows = w.op === "gather_nd" || (w.op === "gather" && w.axis < w.data.length - 1);
  const invocations = count(w.output) / 4;
  const groups = Math.ceil(invocations / 256);
  const across = Math.ceil(groups / Math.ceil(groups / 65535)) * 256;
  const [data, out] = inRows
    ? ["vec4u", "vec4u"]
    : ["u32", ({ f32: "vec4u", f16: "vec2u", i8: "u32", u8: "u32" } as const)[w.dtype]];
  const code = `@group(0) @binding(0) var<storage, read> data: array<${data}>;
@group(0) @binding(1) var<storage, read> indices: array<${inRows ? "u32" : "vec4u"}>;
@group(0) @binding(2) var<storage, read_write> output: array<${out}>;
fn wrap(index: u32, extent: u32) -> u32 { return select(index, index + extent, index >= 0x80000000u); }
fn wrap4(index: vec4u, extent: u32) -> vec4u { return select(index, index + extent, index >= vec4u(0x80000000u)); }
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.y * ${across}u + id.x;
  if (i >= ${invocations}u) { return; }
${inRows ? rowBody(w, columns / 4) : elementBody(w, columns)}
}
`;
  return [code, invocations];
}

function rowBody(w: Workload, vectors: number): string {
  const row = w.op === "gather_nd" ? tupleRow(w) : `wrap(indices[r], ${w.data[0] ?? 1}u)`;
  return `  let r = i / ${vectors}u;
  output[i] = data[${row} * ${vectors}u + i % ${vectors}u];`;
}

const tupleRow = ({ data: [rows = 1, columns = 1] }: Workload): string =>
  `(wrap(indices[2u * r], ${rows}u) * ${columns}u + wrap(indices[2u * r + 1u], ${columns}u))`;

/**
 * Returns the WGSL body of the hand-written kernel for a workload that gathers single elements. Each
 * invocation writes four elements of the output. `columns` is the last extent of the data.
 */
function elementBody(w: Workload, columns: number): string {
  const extent = w.data[w.axis] ?? 1;
  const inner = count(w.data.slice(w.axis + 1));
  const last = inner === 1;
  const width = w.output[w.output.length - 1] ?? 1;
  const index =
    w.op === "gather"
      ? `indices[i % ${width / 4}u]`
      : w.indexType === "i64"
        ? "vec4u(indices[2u * i].xz, indices[2u * i + 1u].xz)"
        : "indices[i]";
  // Of four neighbours, the row of the data where the axis is innermost, else the slab and the column.
  const base = last
    ? `vec4u(i / ${width / 4}u * ${columns}u) + at`
    : `vec4u(i / ${(extent * inner) / 4}u * ${extent * inner}u + i % ${inner / 4}u * 4u) + at * ${inner}u + vec4u(0u, 1u, 2u, 3u)`;
  return `  let at = wrap4(${index}, ${extent}u);
  let s = ${base};
${store[w.dtype]}`;
}

const words = (log: number): string =>
  `vec4u(${["x", "y", "z", "w"].map((part) => `data[s.${part} >> ${log}u]`).join(", ")})`;

const bytes = `  let e = (${words(2)} >> ((s & vec4u(3u)) << vec4u(3u))) & vec4u(0xffu);
  output[i] = e.x | (e.y << 8u) | (e.z << 16u) | (e.w << 24u);`;

const store: Readonly<Record<Workload["dtype"], string>> = {
  f32: `  output[i] = ${words(0).replaceAll(" >> 0u", "")};`,
  f16: `  let e = (${words(1)} >> ((s & vec4u(1u)) << vec4u(4u))) & vec4u(0xffffu);
  output[i] = e.xz | (e.yw << vec2u(16u));`,
  i8: bytes,
  u8: bytes,
};
