/** Random gathers of StableHLO that keep its constraints, and start indices in and out of range. */
import fc from "fast-check";
import type { OracleStablehloGather } from "../oracle/stablehlo.js";

export interface RandomStablehlo {
  readonly gather: OracleStablehloGather;
  readonly startIndices: readonly bigint[];
}

type Role = "batching" | "collapsed" | "offset";

const size = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

interface Dim {
  readonly extent: number;
  readonly role: Role;
  readonly slice: number;
  readonly started: boolean;
}

const operandDim: fc.Arbitrary<Dim> = fc
  .record({
    extent: fc.integer({ min: 1, max: 4 }),
    role: fc.constantFrom<Role>("batching", "collapsed", "offset", "offset"),
    slice: fc.integer({ min: 0, max: 4 }),
    started: fc.boolean(),
  })
  .map(({ extent, role, slice, started }) => ({
    extent,
    role,
    slice: role === "offset" ? Math.min(slice, extent) : 1,
    started: started && role !== "batching",
  }));

/** The numbers below `count` in an order that `keys` choose. */
const shuffled = (count: number, keys: readonly number[]): number[] =>
  Array.from({ length: count }, (_, k) => k).sort((a, b) => keys[a]! - keys[b]! || a - b);

export const randomStablehlo: fc.Arbitrary<RandomStablehlo> = fc
  .record({
    dims: fc.array(operandDim, { minLength: 1, maxLength: 4 }),
    extra: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }),
    keys: fc.array(fc.nat(1000), { minLength: 24, maxLength: 24 }),
    bare: fc.boolean(),
    values: fc.array(fc.bigInt(-7n, 7n), { minLength: 1, maxLength: 40 }),
  })
  .map(({ dims, extra, keys, bare, values }) => {
    const which = (test: (dim: Dim) => boolean): number[] => dims.flatMap((dim, d) => (test(dim) ? [d] : []));
    const batching = which(({ role }) => role === "batching");
    const started = which((dim) => dim.started);
    const offsets = which(({ role }) => role === "offset").length;
    const unordered = [...batching.map((d) => dims[d]!.extent), ...extra];
    const order = shuffled(unordered.length, keys.slice(0, 6));
    const batchShape = order.map((k) => unordered[k]!);
    const indexVectorDim =
      started.length === 1 && bare ? batchShape.length : keys[6]! % (batchShape.length + 1);
    const hasVector = !(started.length === 1 && bare);
    const startIndices = [...batchShape];
    if (hasVector) startIndices.splice(indexVectorDim, 0, started.length);
    const placeOf = (k: number): number => {
      const place = order.indexOf(k);
      return hasVector && place >= indexVectorDim ? place + 1 : place;
    };
    const rank = batchShape.length + offsets;
    const startOrder = shuffled(started.length, keys.slice(7, 12));
    const gather: OracleStablehloGather = {
      operand: dims.map(({ extent }) => extent),
      startIndices,
      offsetDims: shuffled(rank, keys.slice(12, 20))
        .slice(0, offsets)
        .sort((a, b) => a - b),
      collapsedSliceDims: which(({ role }) => role === "collapsed"),
      operandBatchingDims: batching,
      startIndicesBatchingDims: batching.map((_, k) => placeOf(k)),
      startIndexMap: startOrder.map((k) => started[k]!),
      indexVectorDim,
      sliceSizes: dims.map(({ slice }) => slice),
    };
    return {
      gather,
      startIndices: Array.from({ length: size(startIndices) }, (_, k) => values[k % values.length]!),
    };
  });
