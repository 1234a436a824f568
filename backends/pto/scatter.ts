/**
 * A scatter point by point: in UB by the scalar unit, which moves words or combines integers, in global
 * memory by a TSTORE for each row, and through slots (scatter-slots.ts).
 *
 * Stores of one pipe begin in the order of the program. Where two of them may meet in one element, a barrier
 * of MTE3 stands between them, so that the later one stays.
 */
import { add, constant, scale } from "../../ir/linear.js";
import { outputOf, isInPlace } from "../../ir/func.js";
import type { FillStmt } from "../../ir/tile.js";
import { assertNever, elementCount, InternalError, invariant, strides } from "../../ir/types.js";
import { fixed, type PtoContext } from "./context.js";
import type { Coordinate } from "./forms.js";
import { overDims, readerOf } from "./gather-rows.js";
import { emitIndexSteps, type Reader } from "./indices.js";
import { fillWord, type PtoScatter } from "./scatter-plan.js";
import { slotWriter } from "./scatter-slots.js";
import { emitWord, valueWords, type PointWriter } from "./scatter-words.js";
import { emitTransfer } from "./transfer.js";
import { i32 } from "./words.js";

/**
 * Emits a scatter statement. `isCheck`: true to emit only the code that reads the index values and sets `bad`
 * for a rejected value.
 */
export function emitScatter(context: PtoContext, scatter: PtoScatter, isCheck: boolean): void {
  const { stmt, inUb, rowDim } = scatter;
  // In global memory the statement is one of MTE3, and the scalar unit reads its index values.
  if (!inUb || isCheck) context.wait("MTE2", "S");
  const readers = scatter.regions.map((region) => region && readerOf(context, region));
  const write = isCheck ? undefined : writerOf(context, scatter);
  const usesVector = !isCheck && inUb && scatter.path === "slots";
  if (usesVector) context.wait("S", "V");
  // Rows go over copies of the base.
  if (!inUb && !isCheck && !isInPlace(context.plan.func)) context.out.line("pipe_barrier(PIPE_MTE3);");
  overDims(context, { sizes: stmt.sizes, shape: scatter.maxSizes }, rowDim, (dims) => {
    const names = emitPointIndices(context, scatter, readers, dims);
    if (write === undefined) return;
    const mayBeOutside = scatter.rules.some(
      ({ outside, extent, excluded }) =>
        outside === "report" || outside === "none" || extent === 0 || excluded !== undefined,
    );
    if (mayBeOutside) {
      context.scope("if (inside)", () => {
        write(dims, names);
      });
    } else write(dims, names);
  });
  if (usesVector) context.wait("V", "S");
  if (!inUb || isCheck) context.wait("S", "MTE3");
}

/** Returns the function that emits the write of one row or element on the path of a scatter. */
function writerOf(context: PtoContext, scatter: PtoScatter): PointWriter {
  switch (scatter.path) {
    case "words":
      return tileWriter(context, scatter);
    case "stores":
      return rowWriter(context, scatter);
    case "slots":
      return slotWriter(context, scatter);
    default:
      return assertNever(scatter.path);
  }
}

/** Emits the index values of a point, and returns their names. */
function emitPointIndices(
  context: PtoContext,
  scatter: PtoScatter,
  readers: readonly (Reader | undefined)[],
  dims: readonly Coordinate[],
): readonly string[] {
  const names: string[] = [];
  const byTable = new Map(
    scatter.indexSteps.flatMap(({ table, index }) => {
      const reader = readers[index];
      return table === undefined || reader === undefined ? [] : [[table, reader] as const];
    }),
  );
  emitIndexSteps(context, scatter, {
    steps: scatter.indexSteps,
    read(table) {
      const reader = byTable.get(table);
      invariant(reader !== undefined, "an index value has a region");
      return reader;
    },
    dims,
    names,
    inside: "inside",
    marks: scatter.reports,
  });
  return names;
}

/**
 * Returns a function that emits the code by which the scalar unit writes the value of one point to a tile.
 */
function tileWriter(context: PtoContext, scatter: PtoScatter): PointWriter {
  const { plan } = context;
  const { stmt, written } = scatter;
  const buffer = plan.buffers.get(stmt.to.buffer);
  invariant(buffer !== undefined, "the written tile is in UB");
  const word = plan.words(stmt.to.buffer);
  const tile = context.bufferTile(buffer, stmt.to.sizes);
  const valueOf = valueWords(context, scatter, word);
  return (dims, indices) => {
    for (let k = 0; k < word.each; k++) {
      const taken = valueOf(k, dims, indices);
      const place = context.form(add(scale(written, word.each), constant(k)), dims, indices);
      emitWord(context, stmt.map.write.combine, { tile, place, word }, taken);
    }
  };
}

/** Returns a function that emits the store of one row of points to global memory. */
function rowWriter(context: PtoContext, scatter: PtoScatter): PointWriter {
  const { plan, out } = context;
  const { stmt, value, written, rowDim, isOrdered } = scatter;
  invariant(value.kind === "read", "rows are elements as they are");
  const buffer = plan.buffers.get(value.region.buffer);
  invariant(buffer !== undefined, "rows are stored from UB");
  const output = outputOf(plan.func);
  const dims = stmt.sizes.length - rowDim;
  return (point, indices) => {
    if (isOrdered) out.line("pipe_barrier(PIPE_MTE3);");
    emitTransfer(context, {
      what: "store",
      operand: output.name,
      start: written,
      strides: strides(output.type.shape).slice(-dims),
      buffer,
      shape: buffer.shape.slice(-dims),
      address: context.within(buffer, value.address, point),
      sizes: stmt.sizes.slice(rowDim),
      dims: point,
      indices,
    });
  };
}

/** Emits the fill of a tile with the bits of one element, as words of 32 bits. */
export function emitFill(context: PtoContext, stmt: FillStmt): void {
  const buffer = context.plan.buffers.get(stmt.to);
  invariant(buffer !== undefined, "a fill writes a tile");
  const word = wordOfFill(stmt, context);
  const rows = elementCount(buffer.shape.slice(0, -1));
  const columns = buffer.rowBytes / i32.bytes;
  const tile = context.fresh("tile");
  const shape = { word: i32, rows, columns, valid: [fixed(rows), fixed(columns)] as const };
  context.tile(tile, "Fill", shape, context.address(buffer));
  context.out.line(`TEXPANDS(${tile}, (int32_t)${BigInt.asIntN(32, word)});`);
}

/** Returns the word of 32 bits that fills a tile. */
function wordOfFill({ to, bits }: FillStmt, { plan }: PtoContext): bigint {
  const word = fillWord(bits, 8 * plan.words(to).bytes * plan.words(to).each);
  if (word === undefined) throw new InternalError("a fill has a word");
  return word;
}
