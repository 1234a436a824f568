/**
 * Scatters by their definition: points in row-major order of the domain, one after another, each element a whole number of bits. Knows
 * nothing of tilec.
 */
import { bitsOf, type Arithmetic, type Node, type Type } from "./values.js";

export type ElementType = Type | "i64" | "f64" | "bool";
export type WritePolicy = "error" | "skip" | "clamp" | "wrap";
export type ReadPolicy = "error" | "fill" | "clamp" | "wrap";

/** An index value: an element of an index tensor under a policy. */
export interface IndexValue {
  readonly name: string;
  readonly table: {
    readonly name: string;
    readonly dtype: "i32" | "i64";
    readonly values: readonly bigint[];
  };
  /** Dims of the domain by which the tensor is read. */
  readonly dims: readonly number[];
  readonly policy: WritePolicy | ReadPolicy;
  readonly extent: number;
  readonly fromEnd: boolean;
  readonly excluded?: number;
}

/** A coordinate of the written element. */
export type Coordinate =
  | { readonly kind: "dim"; readonly dim: number; readonly by: number; readonly plus: number }
  | {
      readonly kind: "index";
      readonly index: string;
      readonly by: number;
      readonly part: "all" | "div" | "mod";
    };

export interface OracleScatter {
  readonly type: ElementType;
  readonly domain: readonly number[];
  readonly shape: readonly number[];
  /** In the order of the text; those of `reads` are needed by the value alone. */
  readonly indices: readonly IndexValue[];
  readonly written: readonly Coordinate[];
  /** The update is read at the domain's dims, but along `dim` at an index value, where one is named. */
  readonly update: {
    readonly shape: readonly number[];
    readonly bits: readonly bigint[];
    readonly along?: { readonly dim: number; readonly index: string };
  };
  readonly combine: "set" | "add" | "mul" | "min" | "max";
  readonly duplicates?: "last" | "unique" | "error";
  /** Bits of each element of the base, or of all of them. */
  readonly base: readonly bigint[] | bigint;
  readonly inout: boolean;
  readonly fill: bigint;
}

export type Outcome =
  | { readonly kind: "bits"; readonly bits: readonly bigint[] }
  | { readonly kind: "index"; readonly point: readonly number[] }
  | { readonly kind: "duplicate"; readonly point: readonly number[]; readonly earlier: readonly number[] };

function* points(extents: readonly number[]): Generator<number[]> {
  const count = extents.reduce((product, extent) => product * extent, 1);
  for (let k = 0; k < count; k++) {
    const point: number[] = [];
    let rest = k;
    for (const extent of extents.toReversed()) {
      point.unshift(rest % extent);
      rest = Math.floor(rest / extent);
    }
    yield point;
  }
}

const position = (coords: readonly number[], extents: readonly number[]): number =>
  coords.reduce((sum, coord, k) => sum * extents[k]! + coord, 0);

/** One step of a combination, rounded once to the type. */
function combined(how: "add" | "mul" | "min" | "max", type: Type, element: bigint, value: bigint): bigint {
  const wide: Arithmetic =
    type === "f32" || type === "f16" || type === "bf16" ? "f32" : type === "u32" ? "u32" : "i32";
  const side = (name: string): Node => {
    const read: Node = { kind: "read", name, type };
    return type === wide ? read : { kind: "cast", type: wide, of: read };
  };
  const step: Node = { kind: how, type: wide, of: [side("element"), side("value")] };
  return bitsOf(type === wide ? step : { kind: "cast", type, of: step }, (name) =>
    name === "element" ? element : value,
  );
}

/** Value that a point writes, and its place: undefined if it writes nothing. */
function pointOf(
  scatter: OracleScatter,
  point: readonly number[],
): "bad" | undefined | { readonly element: number; readonly value: bigint } {
  const values = new Map<string, number>();
  const writes = new Set(scatter.written.flatMap((coord) => (coord.kind === "index" ? [coord.index] : [])));
  let fills = false;
  for (const { name, table, dims, policy, extent, fromEnd, excluded } of scatter.indices) {
    const extents = dims.map((d) => scatter.domain[d]!);
    let value =
      table.values[
        position(
          dims.map((d) => point[d]!),
          extents,
        )
      ]!;
    if (fromEnd && value < 0n) value += BigInt(extent);
    const n = BigInt(extent);
    let element: number | undefined = value >= 0n && value < n ? Number(value) : undefined;
    if (element === undefined) {
      if (policy === "error") return "bad";
      if (policy === "clamp" && extent > 0) element = value < 0n ? 0 : extent - 1;
      if (policy === "wrap" && extent > 0) element = Number(((value % n) + n) % n);
    }
    if (element === excluded) element = undefined;
    if (element !== undefined) values.set(name, element);
    else if (writes.has(name)) return undefined;
    else fills = true;
  }
  const coords = scatter.written.map((coord) => {
    if (coord.kind === "dim") return coord.by * point[coord.dim]! + coord.plus;
    const value = values.get(coord.index)!;
    return coord.part === "all"
      ? coord.by * value
      : coord.part === "div"
        ? Math.floor(value / coord.by)
        : value % coord.by;
  });
  const { along, shape, bits } = scatter.update;
  if (fills) return { element: position(coords, scatter.shape), value: scatter.fill };
  const from = point.map((coord, d) => (along?.dim === d ? values.get(along.index)! : coord));
  return { element: position(coords, scatter.shape), value: bits[position(from, shape)]! };
}

/** The elements of the output, or the first point that ends the run. */
export function outcomeOf(scatter: OracleScatter): Outcome {
  const { base, shape, type, combine } = scatter;
  const count = shape.reduce((product, extent) => product * extent, 1);
  const bits = typeof base === "bigint" ? Array.from({ length: count }, () => base) : [...base];
  const owners = new Map<number, readonly number[]>();
  let duplicate: Extract<Outcome, { kind: "duplicate" }> | undefined;
  const steps: { readonly element: number; readonly value: bigint }[] = [];
  for (const point of points(scatter.domain)) {
    const step = pointOf(scatter, point);
    if (step === "bad") return { kind: "index", point };
    if (step === undefined) continue;
    const earlier = owners.get(step.element);
    if (earlier === undefined) owners.set(step.element, point);
    else duplicate ??= { kind: "duplicate", point, earlier };
    steps.push(step);
  }
  const trapped = scatter.duplicates === "error" || scatter.duplicates === "unique";
  if (trapped && duplicate !== undefined) return duplicate;
  for (const { element, value } of steps)
    bits[element] = combine === "set" ? value : combined(combine, type as Type, bits[element]!, value);
  return { kind: "bits", bits };
}

/** True if a tile takes points of one element in another order than the domain has them, where that can be seen. */
export function breaksOrder(
  { domain, written, combine, duplicates, type }: OracleScatter,
  tile: readonly number[],
): boolean {
  // Without points there is no order.
  if (domain.includes(0)) return false;
  const isFree =
    duplicates === "unique" ||
    combine === "min" ||
    combine === "max" ||
    (combine !== "set" && /^[iu]/.test(type));
  if (isFree) return false;
  const separates = new Set(written.flatMap((coord) => (coord.kind === "dim" ? [coord.dim] : [])));
  const carrying = domain.map((_, d) => d).filter((d) => !separates.has(d));
  return carrying.some(
    (d) =>
      tile[d]! < domain[d]! &&
      carrying.some((outer) => outer < d && Math.min(tile[outer]!, domain[outer]!) > 1),
  );
}

const typeText = (shape: readonly number[], type: string): string => [...shape, type].join("x");

/** The program as text. */
export function textOf(scatter: OracleScatter): string {
  const { type, domain, shape, indices, written, update, base, inout } = scatter;
  const params = [
    ...(typeof base === "bigint" ? [] : [`%x: ${inout ? "inout " : ""}tensor<${typeText(shape, type)}>`]),
    ...indices.map(
      ({ table, dims }) =>
        `%${table.name}: tensor<${typeText(
          dims.map((d) => domain[d]!),
          table.dtype,
        )}>`,
    ),
    `%u: tensor<${typeText(update.shape, type)}>`,
  ];
  const names = params.map((param) => /^%\w+/.exec(param)![0]);
  const lets = indices.map(({ name, table, dims, policy, extent, fromEnd, excluded }) => {
    const read = `%${table.name}[${dims.map((d) => `d${d}`).join(", ")}]`;
    const counted = fromEnd ? `from_end(${read})` : read;
    return `let ${name} = ${policy}(${counted} in ${extent}${excluded === undefined ? "" : ` but ${excluded}`})`;
  });
  const coords = written.map((coord) =>
    coord.kind === "dim"
      ? `${coord.by} * d${coord.dim} + ${coord.plus}`
      : coord.part === "all"
        ? `${coord.by} * ${coord.index}`
        : `${coord.index} ${coord.part} ${coord.by}`,
  );
  const read = domain.map((_, d) => (update.along?.dim === d ? update.along.index : `d${d}`));
  const entries = [
    "oob = error",
    ...(scatter.fill === 0n || !indices.some(({ policy }) => policy === "fill")
      ? []
      : [`fill = ${scatter.fill}`]),
    ...(typeof base === "bigint" ? [`base = fill ${base}`] : []),
    ...(scatter.combine === "set" ? [] : [`combine = ${scatter.combine}`]),
    ...(scatter.duplicates === undefined ? [] : [`duplicates = ${scatter.duplicates}`]),
  ];
  return (
    `func @f(${params.join(", ")}) -> tensor<${typeText(shape, type)}> {\n` +
    `  %y = access.scatter ${names.join(", ")} (${domain.map((extent, d) => `d${d} < ${extent}`).join(", ")}) ` +
    `${lets.join(" ")} -> (${coords.join(", ")}) yield %u[${read.join(", ")}] {${entries.join(", ")}}\n  return %y\n}\n`
  );
}
