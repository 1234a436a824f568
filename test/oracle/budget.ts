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

export type JudgedBuffers = 1 | 2 | { readonly [operand in keyof Tiles]?: 1 | 2 };

/** Two copies of a tile that is only a part of all that the gather takes of its operand; what is all of it stays in place. */
function copies(operand: keyof Tiles, tiles: Tiles, all: Tiles, buffers: JudgedBuffers): 1 | 2 {
  const asked = typeof buffers === "number" ? buffers : (buffers[operand] ?? 1);
  return tiles[operand].some((entry, k) => entry < all[operand][k]!) ? asked : 1;
}

/**
 * Bytes on Ascend for a full load: three padded tiles, twice those that are a part of `all` when double buffered, and the
 * vector gather's scratch.
 */
export function fullLoadBytes(
  tiles: Tiles,
  all: Tiles,
  elementBytes: number,
  indexBytes: number,
  buffers: JudgedBuffers,
): number {
  const last = tiles.indices.length === 0 ? 1 : tiles.indices[tiles.indices.length - 1]!;
  const data = padded(tiles.data, elementBytes) * copies("data", tiles, all, buffers);
  const empty = tiles.output.includes(0);
  return (
    data +
    rowFetchBytes(tiles, all, elementBytes, indexBytes, buffers) +
    (empty ? 0 : 2 * blocks(last * indexBytes))
  );
}

/** Rows from global memory: index and result tiles alone. */
export const rowFetchBytes = (
  tiles: Tiles,
  all: Tiles,
  elementBytes: number,
  indexBytes: number,
  buffers: JudgedBuffers,
): number =>
  padded(tiles.indices, indexBytes) * copies("indices", tiles, all, buffers) +
  padded(tiles.output, elementBytes) * copies("output", tiles, all, buffers);

/** PyPTO's index_select: data and indices stay in global memory, and the result alone counts. */
export const resultBytes = (tiles: Tiles, all: Tiles, elementBytes: number, buffers: JudgedBuffers): number =>
  padded(tiles.output, elementBytes) * copies("output", tiles, all, buffers);

/** Tiles of 1, of 2 and of the whole along each dim but the pinned ones: the least of them takes as few bytes as any. */
export const leastTiles = (output: readonly number[], pinned: ReadonlyMap<number, number>): number[][] =>
  output.reduce<number[][]>(
    (tiles, extent, d) =>
      tiles.flatMap((tile) => {
        const pin = pinned.get(d);
        return (pin === undefined ? [1, 2, extent] : [pin]).map((entry) => [...tile, entry]);
      }),
    [[]],
  );

/**
 * pypto.gather's rules along the gather dim of gather_elements: rule 3 holds the view to the longer of input and index, and rule 4 as the
 * specification has it the tile to the view. Without a view, it is the longer of the two, and a longer tile counts as that.
 */
export const fullLoadHolds = (
  profile: JudgedSchedule["profile"],
  view: number | undefined,
  tile: number,
  input: number,
  index: number,
): boolean => {
  const longer = Math.max(input, index);
  if (profile === "head") return true;
  if (view === undefined) return profile === "pages" || tile >= longer;
  return view >= longer && (profile === "pages" || tile === view);
};

/** What the rules depend on, for any gather: shapes in elements, element sizes in bytes. */
export interface JudgedGather {
  readonly op: "gather" | "gather_elements" | "gather_nd";
  readonly axis: number;
  readonly batchDims: number;
  readonly dataShape: readonly number[];
  readonly indexShape: readonly number[];
  readonly elementBytes: number;
  readonly indexBytes: number;
  /** PyPTO cuts the data by the tile where the index ends earlier, and judges a stated tile on every chip. */
  readonly pypto?: boolean;
}

export interface JudgedSchedule {
  readonly tile: readonly number[];
  /** Absent: the view covers everything. */
  readonly view?: readonly number[] | undefined;
  readonly profile: "strict" | "pages" | "head";
  /** `result`: rows from global memory, where the program leaves open what of the indices is in UB. */
  readonly residency: "ub" | "gm" | "result";
  readonly buffers: JudgedBuffers;
}

export const judgedOutput = (g: JudgedGather): number[] => {
  const { dataShape: data, indexShape: index } = g;
  if (g.op === "gather") return [...data.slice(0, g.axis), ...index, ...data.slice(g.axis + 1)];
  if (g.op === "gather_elements") return [...index];
  return [...index.slice(0, -1), ...data.slice(g.batchDims + index[index.length - 1]!)];
};

/** The operand tiles that an output tile needs when every gather dim is whole. */
export function fullLoadTiles(g: JudgedGather, tile: readonly number[], cut = tile): Tiles {
  const { dataShape: data, indexShape: index, axis } = g;
  if (g.op === "gather_elements") {
    const whole = data.map((extent, k) => (k === axis ? extent : Math.min(extent, cut[k]!)));
    return { data: whole, indices: tile, output: tile };
  }
  if (g.op === "gather") {
    const q = index.length;
    const outer = tile.slice(0, axis);
    const inner = tile.slice(axis + q);
    return { data: [...outer, data[axis]!, ...inner], indices: tile.slice(axis, axis + q), output: tile };
  }
  const [b, k, q] = [g.batchDims, index[index.length - 1]!, index.length];
  return {
    data: [...tile.slice(0, b), ...data.slice(b, b + k), ...tile.slice(q - 1)],
    indices: [...tile.slice(0, q - 1), k],
    output: tile,
  };
}

/** Data dims that indices name. */
const named = ({ op, axis, batchDims, indexShape }: JudgedGather): number[] =>
  op === "gather_nd"
    ? indexShape.slice(-1).flatMap((k) => Array.from({ length: k }, (_, n) => batchDims + n))
    : [axis];

/**
 * Bytes of on-chip memory for tensors without empty dims. WebGPU stages the data alone, in 4-byte words, once; where indices
 * name a dim before the last, its rows are an odd number of words apart, or of elements where these are wider. On a cpu, rows of
 * single elements that are a multiple of 1 KiB long lie a cache line of 64 bytes further apart.
 */
export function neededBytes(g: JudgedGather, s: JudgedSchedule, chip: "ascend" | "webgpu" | "cpu"): number {
  const output = judgedOutput(g);
  const tile = output.map((extent, d) => Math.min(extent, s.tile[d]!, s.view?.[d] ?? extent));
  const cut = output.map((_, d) => Math.min(s.tile[d]!, s.view?.[d] ?? Infinity));
  const tiles = fullLoadTiles(g, tile, g.pypto === true ? cut : tile);
  if (chip === "ascend") {
    if (s.residency === "result")
      return resultBytes(tiles, fullLoadTiles(g, output), g.elementBytes, s.buffers);
    const bytes = s.residency === "ub" ? fullLoadBytes : rowFetchBytes;
    return bytes(tiles, fullLoadTiles(g, output), g.elementBytes, g.indexBytes, s.buffers);
  }
  if (s.residency !== "ub") return 0;
  const row = Math.floor((tiles.data[tiles.data.length - 1]! * g.elementBytes + 3) / 4) * 4;
  const rows = tiles.data.slice(0, -1).reduce((a, b) => a * b, 1);
  const word = g.elementBytes > 4 ? g.elementBytes : 4;
  const crossed = rows > 1 && named(g).some((k) => k + 1 < g.dataShape.length);
  if (chip === "cpu")
    return rows * (crossed && g.op === "gather_elements" && row % 1024 === 0 ? row + 64 : row);
  return rows * (crossed && (row / word) % 2 === 0 ? row + word : row);
}

/** The categories of the rules that a schedule breaks; empty when it is legal. */
export function brokenRules(
  g: JudgedGather,
  s: JudgedSchedule,
  chip: "ascend" | "webgpu" | "cpu",
  budget: number,
): string[] {
  // Rows from global memory: an Ascend core fetches whole rows, and gather_elements has none.
  if (s.residency === "gm" && chip === "ascend" && g.op === "gather_elements") return ["residency"];
  const broken: string[] = [];
  if (s.residency === "ub" && g.op === "gather_elements") {
    const [input, index] = [g.dataShape[g.axis]!, g.indexShape[g.axis]!];
    const [tile, view] = [s.tile[g.axis]!, s.view?.[g.axis]];
    if (!fullLoadHolds(s.profile, view, tile, input, index)) broken.push("full-load");
  }
  // PyPTO's pages of operators that take rows want less than the buffer.
  const below = chip === "ascend" && g.pypto === true && g.op === "gather" && s.profile !== "strict";
  const needed = neededBytes(g, s, chip);
  if (below ? needed >= budget : needed > budget) broken.push("ub-budget");
  return broken;
}
