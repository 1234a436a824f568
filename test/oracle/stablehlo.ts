/**
 * StableHLO's gather as its specification states it (docs/spec.md, section gather), on plain arrays. Imports nothing of the
 * compiler, so that a mistake in the access map cannot hide here.
 */
export interface OracleStablehloGather {
  readonly operand: readonly number[];
  readonly startIndices: readonly number[];
  readonly offsetDims: readonly number[];
  readonly collapsedSliceDims: readonly number[];
  readonly operandBatchingDims: readonly number[];
  readonly startIndicesBatchingDims: readonly number[];
  readonly startIndexMap: readonly number[];
  readonly indexVectorDim: number;
  readonly sliceSizes: readonly number[];
}

const size = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);
const flatten = (coords: readonly number[], shape: readonly number[]): number =>
  coords.reduce((position, coord, k) => position * shape[k]! + coord, 0);

function* points(shape: readonly number[]): Generator<readonly number[]> {
  for (let position = 0; position < size(shape); position++) {
    let rest = position;
    const coords: number[] = [];
    for (const extent of [...shape].reverse()) {
      coords.unshift(rest % extent);
      rest = Math.floor(rest / extent);
    }
    yield coords;
  }
}

/** The result's shape (C22), and for each element its position in the operand. */
export function oracleStablehlo(
  gather: OracleStablehloGather,
  startIndices: readonly bigint[],
): { readonly shape: readonly number[]; readonly positions: readonly number[] } {
  const rank =
    gather.offsetDims.length + gather.startIndices.filter((_, d) => d !== gather.indexVectorDim).length;
  const axes = Array.from({ length: rank }, (_, d) => d);
  const batchDims = axes.filter((d) => !gather.offsetDims.includes(d));
  const batchSizes = gather.startIndices.filter((_, d) => d !== gather.indexVectorDim);
  const left = (d: number): boolean =>
    gather.collapsedSliceDims.includes(d) || gather.operandBatchingDims.includes(d);
  const offsetSizes = gather.sliceSizes.filter((_, d) => !left(d));
  const shape = axes.map((d) =>
    gather.offsetDims.includes(d)
      ? offsetSizes[gather.offsetDims.indexOf(d)]!
      : batchSizes[batchDims.indexOf(d)]!,
  );
  const positions: number[] = [];
  for (const resultIndex of points(shape)) {
    const batchIndex = batchDims.map((d) => resultIndex[d]!);
    const offsetIndex = gather.offsetDims.map((d) => resultIndex[d]!);
    const startIndex = gather.startIndexMap.map((_, component) => {
      const at = [...batchIndex];
      if (gather.indexVectorDim < gather.startIndices.length) at.splice(gather.indexVectorDim, 0, component);
      return startIndices[flatten(at, gather.startIndices)]!;
    });
    let inside = 0;
    const operandIndex = gather.operand.map((extent, d) => {
      const component = gather.startIndexMap.indexOf(d);
      const most = BigInt(extent - gather.sliceSizes[d]!);
      const start = component === -1 ? 0n : startIndex[component]!;
      const clamped = start < 0n ? 0n : start > most ? most : start;
      const batching = gather.operandBatchingDims.indexOf(d);
      const from = batching === -1 ? undefined : gather.startIndicesBatchingDims[batching]!;
      const batch = from === undefined ? 0 : batchIndex[from - (from < gather.indexVectorDim ? 0 : 1)]!;
      return Number(clamped) + batch + (left(d) ? 0 : offsetIndex[inside++]!);
    });
    positions.push(flatten(operandIndex, gather.operand));
  }
  return { shape, positions };
}
