/** PyPTO's tiling rules by independent arithmetic: bytes of unified buffer, and the full-load rule. Imports nothing. */
const blocks = (bytes: number): number => Math.floor((bytes + 31) / 32) * 32;

export const padded = (tile: readonly number[], elementBytes: number): number => {
  const last = tile.length === 0 ? 1 : tile[tile.length - 1]!;
  return tile.slice(0, -1).reduce((a, b) => a * b, 1) * blocks(last * elementBytes);
};

export interface Tiles {
  readonly data: readonly number[];
  readonly indices: readonly number[];
  readonly output: readonly number[];
}

/** Bytes on Ascend for a full load: three padded tiles, doubled when double buffered, and the vector gather's scratch. */
export function fullLoadBytes(
  tiles: Tiles,
  elementBytes: number,
  indexBytes: number,
  buffers: 1 | 2,
): number {
  const last = tiles.indices.length === 0 ? 1 : tiles.indices[tiles.indices.length - 1]!;
  const operands =
    padded(tiles.data, elementBytes) + padded(tiles.indices, indexBytes) + padded(tiles.output, elementBytes);
  const empty = tiles.output.includes(0);
  return operands * buffers + (empty ? 0 : 2 * blocks(last * indexBytes));
}

/** Rows from global memory: index and result tiles alone. */
export const rowFetchBytes = (
  tiles: Tiles,
  elementBytes: number,
  indexBytes: number,
  buffers: 1 | 2,
): number => (padded(tiles.indices, indexBytes) + padded(tiles.output, elementBytes)) * buffers;

/** pypto.gather rules 3 and 4, on the gather dim of gather_elements. */
export const strictHolds = (view: number, tile: number, input: number, index: number): boolean =>
  view >= Math.max(input, index) && tile === view;
