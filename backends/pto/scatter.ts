/**
 * A scatter point by point: in UB by the scalar unit, which moves words or combines integers, in global
 * memory by a TSTORE for each row.
 *
 * Stores of one pipe begin in the order of the program. Where two of them may meet in one element, a barrier
 * of MTE3 stands between them, so that the later one stays.
 */
import { add, constant, scale, type Linear } from "../../ir/linear.js";
import type { Combine } from "../../ir/access.js";
import { outputOf } from "../../ir/func.js";
import type { FillStmt } from "../../ir/tile.js";
import { isInPlace } from "../scatter-map.js";
import { assertNever, bitsOf, InternalError, invariant, isSigned, strides } from "../../ir/types.js";
import { fixed, type PtoContext } from "./context.js";
import type { Coordinate } from "./forms.js";
import { overDims, readerOf } from "./gather-rows.js";
import { emitIndexSteps, type Reader } from "./indices.js";
import { fillWord, type PtoScatter } from "./scatter-plan.js";
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
  const write = isCheck ? undefined : inUb ? elementWriter(context, scatter) : rowWriter(context, scatter);
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
  if (!inUb || isCheck) context.wait("S", "MTE3");
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

type PointWriter = (dims: readonly Coordinate[], indices: readonly string[]) => void;

/**
 * Returns a function that emits the code by which the scalar unit writes the value of one point to a tile.
 */
function elementWriter(context: PtoContext, scatter: PtoScatter): PointWriter {
  const { plan, out } = context;
  const { stmt, value, written } = scatter;
  const { dtype } = outputOf(plan.func).type;
  const buffer = plan.buffers.get(stmt.to.buffer);
  invariant(buffer !== undefined, "the written tile is in UB");
  const word = plan.words(stmt.to.buffer);
  const tile = context.bufferTile(buffer, stmt.to.sizes);
  const read = value.kind === "read" ? readerOf(context, value.region) : undefined;
  const wordBits = 8 * word.bytes;
  return (dims, indices) => {
    for (let k = 0; k < word.each; k++) {
      const wordOf = (element: Linear): string =>
        context.form(add(scale(element, word.each), constant(k)), dims, indices);
      const taken =
        value.kind === "read" && read !== undefined
          ? read(wordOf(value.address))
          : value.kind === "constant"
            ? wordText(value.bits >> BigInt(k * wordBits), word)
            : "";
      const place = wordOf(written);
      const { combine } = stmt.map.write;
      if (combine === "set") {
        out.line(`${tile}.SetValue(${place}, ${taken});`);
        continue;
      }
      const type = `${isSigned(dtype) ? "" : "u"}int${bitsOf(dtype)}_t`;
      out.line(`const uint32_t place = ${place};`);
      out.line(`const ${type} element = (${type})${tile}.GetValue(place);`);
      out.line(`const ${type} value = (${type})${taken};`);
      out.line(`${tile}.SetValue(place, (${word.name})(${combinedText(combine)}));`);
    }
  };
}

/** Returns the C++ expression that combines the integers `element` and `value`; sums and products wrap. */
function combinedText(combine: Exclude<Combine, "set">): string {
  switch (combine) {
    case "add":
      return "(uint32_t)element + (uint32_t)value";
    case "mul":
      return "(uint32_t)element * (uint32_t)value";
    case "min":
      return "value < element ? value : element";
    case "max":
      return "value > element ? value : element";
    default:
      return assertNever(combine);
  }
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
  const rows = buffer.shape.slice(0, -1).reduce((product, extent) => product * extent, 1);
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

/** Returns bits as a C++ literal of a word. */
const wordText = (bits: bigint, { name, bytes }: { readonly name: string; readonly bytes: number }): string =>
  `(${name})${String(BigInt.asIntN(8 * bytes, bits)).replace("-2147483648", "(-2147483647 - 1)")}`;
