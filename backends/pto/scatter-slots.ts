/**
 * Points of a scatter that pass through slots, buffers of one row behind those of the program.
 *
 * - A single element that goes to global memory: the scalar unit puts it into a slot, and a TSTORE moves it.
 *   MSCATTER stores single elements by the scalar unit, through a cache that it does not flush
 *   (hw-native-sys/pto-isa 3186c381, docs/isa/MSCATTER.md).
 * - A combination in global memory: a TLOAD brings the row to a slot, and a TSTORE takes it back. No two
 *   tasks write one element, and no document states the bits of the atomic addition of a TSTORE.
 * - A combination of floats: one vector instruction on the row, for f16 and bf16 on copies in f32. A single
 *   element is a row of one in slots, since a tile begins at a block.
 */
import { outputOf, type Operand } from "../../ir/func.js";
import type { Pipe, UbBuffer } from "../../ir/tile.js";
import type { SlotName } from "../../ir/tiling/scatter-slots.js";
import { at, invariant, isInteger } from "../../ir/types.js";
import type { Combination } from "../../ir/values/combine.js";
import { isValueType } from "../../ir/values/expression.js";
import { isFloatValue, type FloatValueType } from "../../ir/values/index.js";
import { castChain, tileForms, type Conversion } from "../../ir/values/vector-steps.js";
import { fixed, type Extent, type PtoContext } from "./context.js";
import type { Coordinate, NamedPoint } from "./forms.js";
import type { PtoScatter } from "./scatter-plan.js";
import { emitWord, valueWords, type PointWriter } from "./scatter-words.js";
import { emitTransfer } from "./transfer.js";
import { conversionText, dataWord, float, numberWord, type Word } from "./words.js";
import { RowTiles } from "./row-tiles.js";

/** Returns a function that emits the write of one row or element through slots. */
export function slotWriter(context: PtoContext, scatter: PtoScatter): PointWriter {
  const writer = new SlotWriter(context, scatter);
  return (dims, indices) => {
    writer.emit({ dims, indices });
  };
}

class SlotWriter {
  private readonly isSingle: boolean;
  private readonly output: Operand;
  /** Words that elements move as. */
  private readonly word: Word;
  /** Words of a row. */
  private readonly columns: Extent;
  private readonly valueOf: ReturnType<typeof valueWords>;
  private readonly rows: RowTiles;

  constructor(
    private readonly context: PtoContext,
    private readonly scatter: PtoScatter,
  ) {
    const { stmt, rowDim, maxSizes } = scatter;
    this.output = outputOf(context.plan.func);
    this.word = dataWord(this.output.type.dtype, false);
    this.isSingle = rowDim === stmt.sizes.length;
    this.columns = this.isSingle
      ? fixed(this.word.each)
      : context.extent(at(stmt.sizes, rowDim), at(maxSizes, rowDim));
    this.rows = new RowTiles(context, this.columns);
    this.valueOf = valueWords(context, scatter, this.word);
  }

  emit(point: NamedPoint): void {
    const { scatter, context } = this;
    const { combine } = scatter.stmt.map.write;
    const { dtype } = this.output.type;
    if (combine === "set") {
      context.wait("MTE3", "S");
      this.putValue("element", point);
      this.store("S", point);
      return;
    }
    if (isInteger(dtype)) {
      this.load("S", point);
      this.combineWords(combine, point);
      this.store("S", point);
      return;
    }
    invariant(isValueType(dtype) && isFloatValue(dtype), "numbers are combined");
    if (!scatter.inUb) {
      this.load("V", point);
      this.combineRow(combine, dtype, point);
      this.store("V", point);
    } else if (this.isSingle) {
      const slot = this.slotTile("element", this.word);
      const tile = this.writtenTile();
      const place = context.form(scatter.written, point.dims, point.indices);
      context.out.line(`${slot}.SetValue(0, ${tile}.GetValue(${place}));`);
      this.combineRow(combine, dtype, point);
      context.wait("V", "S");
      context.out.line(`${tile}.SetValue(${place}, ${slot}.GetValue(0));`);
    } else this.combineRow(combine, dtype, point);
  }

  private slot(name: SlotName): UbBuffer {
    const slot = this.scatter.slots.get(name);
    invariant(slot !== undefined, `slot ${name} is planned`);
    return slot;
  }

  /** Returns the tile of a slot as words. */
  private slotTile(name: SlotName, word: Word): string {
    return this.rows.of(this.slot(name), word);
  }

  private writtenBuffer(): UbBuffer {
    const buffer = this.context.plan.buffers.get(this.scatter.stmt.to.buffer);
    invariant(buffer !== undefined, "the written tile is in UB");
    return buffer;
  }

  private writtenTile(): string {
    return this.context.bufferTile(this.writtenBuffer(), this.scatter.stmt.to.sizes);
  }

  /** Emits the words of a point's value into a slot. */
  private putValue(name: "element" | "operand", { dims, indices }: NamedPoint): void {
    const { context, word } = this;
    const tile = this.slotTile(name, word);
    for (let k = 0; k < word.each; k++)
      context.out.line(`${tile}.SetValue(${k}, ${this.valueOf(k, dims, indices)});`);
  }

  /** Emits the load of a row of the output into its slot. `pipe`: pipe that combines the slot. */
  private load(pipe: Pipe, point: NamedPoint): void {
    this.context.wait("MTE3", "MTE2");
    this.transfer("load", point);
    this.context.wait("MTE2", pipe);
  }

  /** Emits the store of a slot to a row of the output. `pipe`: pipe that wrote the slot. */
  private store(pipe: Pipe, point: NamedPoint): void {
    const { context } = this;
    context.wait(pipe, "MTE3");
    // Two rows may meet in one element.
    context.out.line("pipe_barrier(PIPE_MTE3);");
    this.transfer("store", point);
  }

  private transfer(what: "load" | "store", { dims, indices }: NamedPoint): void {
    const { context, scatter, isSingle } = this;
    const slot = this.slot("element");
    emitTransfer(context, {
      what,
      operand: this.output.name,
      start: scatter.written,
      strides: isSingle ? [] : [1],
      buffer: slot,
      shape: isSingle ? [] : slot.shape,
      address: context.address(slot),
      sizes: isSingle ? [] : scatter.stmt.sizes.slice(scatter.rowDim),
      dims,
      indices,
    });
  }

  /** Emits the combination of a row of integers in its slot, word by word. */
  private combineWords(combine: Combination, { dims, indices }: NamedPoint): void {
    const { context, scatter, word, isSingle, columns } = this;
    const tile = this.slotTile("element", word);
    const emit = (place: string, point: readonly Coordinate[]): void => {
      emitWord(context, combine, { tile, place, word }, this.valueOf(0, point, indices));
    };
    if (isSingle) emit("0", dims);
    else
      context.nest([{ name: "column", end: columns.text }], () => {
        emit("column", dims.with(scatter.rowDim, "column"));
      });
  }

  /** Emits the combination of a row of floats, by vector instructions. */
  private combineRow(combine: Combination, dtype: FloatValueType, point: NamedPoint): void {
    const { context, scatter } = this;
    if (scatter.slots.has("operand")) {
      // The row before is done with the slot.
      if (!scatter.inUb) context.wait("V", "S");
      this.putValue("operand", point);
      context.wait("S", "V");
    }
    const word = numberWord(dtype);
    const [element, value] = [this.elementRow(point, word), this.valueRow(point, word)];
    const step = (to: string, of: string): string => `${tileForms[combine]}(${to}, ${to}, ${of})`;
    if (dtype === "f32") {
      context.vectorInOrder(step(element, value));
      return;
    }
    const [wide, operand] = [this.slotTile("wide", float), this.slotTile("wideOperand", float)];
    context.vectorInOrder(conversionText(wide, element, conversion(dtype, "f32")));
    context.vectorInOrder(conversionText(operand, value, conversion(dtype, "f32")));
    context.vectorInOrder(step(wide, operand));
    context.vectorInOrder(conversionText(element, wide, conversion("f32", dtype)));
  }

  /** Returns the tile of the row that is combined: a slot, or a row of the written tile. */
  private elementRow({ dims, indices }: NamedPoint, word: Word): string {
    const { context, scatter } = this;
    if (scatter.slots.has("element")) return this.slotTile("element", word);
    return this.rows.declare(context.within(this.writtenBuffer(), scatter.written, dims, indices), word);
  }

  /** Returns the tile of the row of values: a slot, or a row of the update tile. */
  private valueRow({ dims, indices }: NamedPoint, word: Word): string {
    const { context, scatter } = this;
    const { value } = scatter;
    if (scatter.slots.has("operand")) return this.slotTile("operand", word);
    const buffer = value.kind === "read" ? context.plan.buffers.get(value.region.buffer) : undefined;
    invariant(value.kind === "read" && buffer !== undefined, "rows of values are in UB");
    return this.rows.declare(context.within(buffer, value.address, dims, indices), word);
  }
}

/** Returns the conversion of a float type to another, which is one instruction. */
function conversion(from: FloatValueType, to: FloatValueType): Conversion {
  const [link] = castChain(from, to) ?? [];
  invariant(link !== undefined && !("shift" in link), `${from} is converted to ${to} at once`);
  return link;
}
