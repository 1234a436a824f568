/** Tiles of one row in the unified buffer (UB), each of the same number of elements. */
import type { UbBuffer } from "../../ir/tile.js";
import { alignUp } from "../../ir/types.js";
import { fixed, type Extent, type PtoContext, type TileShape } from "./context.js";
import type { Word } from "./words.js";

/** Declares tiles of one row. `columns`: words of the row. */
export class RowTiles {
  /** Tiles of whole buffers, by buffer and word. */
  private readonly tiles = new Map<string, string>();

  constructor(
    private readonly context: PtoContext,
    private readonly columns: Extent,
  ) {}

  /** Returns the shape of a row. A row takes whole blocks of memory. */
  shape(word: Word): TileShape {
    const { columns } = this;
    const width = alignUp(columns.max * word.bytes, this.context.plan.target.blockBytes) / word.bytes;
    return { word, rows: 1, columns: width, valid: [fixed(1), columns] };
  }

  /** Emits the declaration of a row at a byte address, and returns the name of the tile. */
  declare(address: string, word: Word): string {
    const tile = this.context.fresh("row");
    this.context.tile(tile, "Row", this.shape(word), address);
    return tile;
  }

  /** Returns the name of the tile of a buffer that is one row. The first call emits the declaration. */
  of(buffer: UbBuffer, word: Word): string {
    const key = `${buffer.name} ${word.name}`;
    const tile = this.tiles.get(key) ?? this.declare(this.context.address(buffer), word);
    this.tiles.set(key, tile);
    return tile;
  }
}
