/**
 * The gather operators as their specifications state them, on plain arrays. Imports nothing of the compiler, so that a
 * mistake in the access map, the tiler or a backend cannot hide here.
 */
export type Policy = "error" | "clamp" | "zero" | "wrap";

export interface OracleGather {
  readonly op: "gather" | "gather_elements" | "gather_nd";
  readonly axis: number;
  readonly batchDims: number;
  readonly dataShape: readonly number[];
  readonly indexShape: readonly number[];
  readonly fromEnd: boolean;
  readonly policy: Policy;
}

/** `null` is an element of zero bits; `badPosition` the first index out of range under `error`. */
export interface OracleResult<T> {
  readonly shape: readonly number[];
  readonly elements: readonly (T | null)[];
  readonly badPosition?: number;
}

const size = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

function flatten(coords: readonly number[], shape: readonly number[]): number {
  let position = 0;
  for (let k = 0; k < shape.length; k++) position = position * shape[k]! + coords[k]!;
  return position;
}

function unflatten(position: number, shape: readonly number[]): number[] {
  const coords: number[] = [];
  for (let k = shape.length - 1; k >= 0; k--) {
    coords.unshift(position % shape[k]!);
    position = Math.floor(position / shape[k]!);
  }
  return coords;
}

export function oracle<T>(
  gather: OracleGather,
  data: readonly T[],
  indices: readonly bigint[],
): OracleResult<T> {
  const { op, axis, batchDims, dataShape, indexShape } = gather;
  const tuple = indexShape[indexShape.length - 1] ?? 0;
  const shape =
    op === "gather"
      ? [...dataShape.slice(0, axis), ...indexShape, ...dataShape.slice(axis + 1)]
      : op === "gather_elements"
        ? [...indexShape]
        : [...indexShape.slice(0, -1), ...dataShape.slice(batchDims + tuple)];
  let bad = Infinity;

  const pick = (position: number, extent: number): number | null => {
    const value = indices[position]!;
    const n = BigInt(extent);
    if (value >= 0n && value < n) return Number(value);
    if (gather.fromEnd && value < 0n && value >= -n) return Number(value + n);
    if (gather.policy === "clamp") return value < 0n ? 0 : extent - 1;
    if (gather.policy === "wrap") return Number(((value % n) + n) % n);
    if (gather.policy === "error") bad = Math.min(bad, position);
    return null;
  };

  const elements = Array.from({ length: size(shape) }, (_, k): T | null => {
    const out = unflatten(k, shape);
    let source: (number | null)[];
    if (op === "gather") {
      const at = flatten(out.slice(axis, axis + indexShape.length), indexShape);
      source = [...out.slice(0, axis), pick(at, dataShape[axis]!), ...out.slice(axis + indexShape.length)];
    } else if (op === "gather_elements") {
      source = [...out];
      source[axis] = pick(flatten(out, indexShape), dataShape[axis]!);
    } else {
      const start = flatten([...out.slice(0, indexShape.length - 1), 0], indexShape);
      const picked = Array.from({ length: tuple }, (_, c) => pick(start + c, dataShape[batchDims + c]!));
      source = [...out.slice(0, batchDims), ...picked, ...out.slice(indexShape.length - 1)];
    }
    if (source.includes(null)) return null;
    return data[flatten(source as number[], dataShape)]!;
  });
  // As ONNX Runtime does: Gather looks at every index of an output without elements too, GatherND at none.
  if (elements.length === 0 && op === "gather") indices.forEach((_, k) => pick(k, dataShape[axis]!));
  return bad === Infinity ? { shape, elements } : { shape, elements, badPosition: bad };
}
