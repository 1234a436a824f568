/**
 * Rows that one index names: fetched from global memory by MGATHER or TLOAD, or copied within UB by TMOV.
 *
 * TMOV takes two tiles that are declared with the same rows and columns (hw-native-sys/pto-isa 3186c381,
 * include/pto/npu/a2a3/TMov.hpp:140): a row of the output has the pitch of a row of the data, since both hold
 * the same box.
 */
import type { Coordinate } from "./forms.js";
import { rowDim } from "../../ir/access.js";
import { loopForm, type Linear } from "../../ir/linear.js";
import { inputOf } from "../../ir/func.js";
import type { Region, UbBuffer } from "../../ir/tile.js";
import { alignUp, at, elementCount, invariant, strides, type Shape } from "../../ir/types.js";
import { fixed, type PtoContext, type TileShape } from "./context.js";
import { dataBuffer, outputBuffer, type PtoGather } from "./plan.js";
import { emitIndices, reportsSome, type Reader } from "./indices.js";
import { marksOf } from "./outside.js";
import { clamped, wrappedNegative } from "./steps.js";
import { emitTransfer } from "./transfer.js";
import { i32 } from "./words.js";

/** Dims that loops walk: their sizes, and the maximum of each. */
interface Dims {
  readonly sizes: readonly Linear[];
  readonly shape: Shape;
}

/**
 * Emits nested loops over the first `upTo` dims, with the code of `body` inside. `body`
 * receives the coordinates; coordinates of the remaining dims are 0.
 */
export function overDims(
  context: PtoContext,
  { sizes, shape }: Dims,
  upTo: number,
  body: (dims: readonly Coordinate[]) => void,
): void {
  const extents = sizes.map((size, d) => context.extent(size, at(shape, d)));
  const dims = extents.map(({ fixed: isFixed, max }, d): Coordinate =>
    d >= upTo || (isFixed && max === 1) ? 0 : `d${d}`,
  );
  const loops = dims.flatMap((name, d) =>
    typeof name === "string" ? [{ name, end: at(extents, d).text }] : [],
  );
  context.nest(loops, () => {
    body(dims);
  });
}

/** Emits a gather with the lowering `mgather`: one MGATHER instruction fetches rows from global memory. */
export function emitMgather(context: PtoContext, gather: PtoGather): void {
  const { out, plan } = context;
  const { stmt, addresses } = gather;
  const [data, index] = stmt.from.map(({ buffer }) => buffer);
  invariant(data !== undefined && index !== undefined, "MGATHER reads a table by a list");
  const indices = plan.buffers.get(index);
  invariant(indices !== undefined, "the list is in UB");
  const output = outputBuffer(plan, gather);
  const rule = at(gather.rules, 0);
  const list = context.bufferTile(indices, at(stmt.from, 1).sizes);
  context.switchCopy(output);
  const rows = context.bufferTile(output, stmt.to.sizes);
  const word = plan.words(output.name);
  const columns = context.extent(at(stmt.to.sizes, 1), at(output.shape, 1), word.each);
  const [height = 1, width = 1] = inputOf(plan.func, 0).type.shape;
  const text = `GlobalTensor<${word.name}, Shape<1, 1, 1, ${height}, ${columns.fixed ? columns.text : "DYNAMIC"}>, Stride<1, 1, 1, ${width * word.each}, 1>, Layout::ND>`;
  const type = context.type("GmData", text);
  const table = context.fresh("load");
  const shaped = columns.fixed ? "" : `, ${type}::Shape((int64_t)${columns.text})`;
  out.line(`${type} ${table}(${plan.names.buffer(data)}${context.more(loopForm(addresses.data))}${shaped});`);
  // Both take a list of `int32_t` in one row, and a tile of words of 1 to 4 bytes (pto-isa
  // include/pto/npu/a2a3/MGather.hpp:410, 413, 463). The table's inner extent is the tile's valid columns
  // (include/pto/npu/a5/MGather.hpp:516): both are fixed or neither. MGATHER waits for V and MTE3 and not for
  // MTE2, which loaded the indices (pto-isa include/pto/npu/a2a3/MGather.hpp:129).
  context.wait("MTE2", "V");
  let picked = list;
  if (plan.added.has("addresses")) {
    picked = context.fresh("row");
    context.tile(picked, "Index", context.bufferShape(indices, at(stmt.from, 1).sizes), "addresses_ub");
    const normal =
      rule.wrapNegativeBy === undefined ? [] : wrappedNegative(rule.wrapNegativeBy, picked, picked, list);
    const clamps = marksOf(rule) === "clamped";
    context.vector(...normal, ...(clamps ? clamped(rule, picked, normal.length > 0 ? picked : list) : []));
  }
  const outside = rule.outside === "none" ? "Zero" : "Undefined";
  const onV = plan.target.isa === "a5";
  // There it is an instruction of V (pto-isa include/pto/npu/a5/MGather.hpp:178), with no wait of its own.
  if (onV && picked !== list) context.barrier();
  out.line(`MGATHER<Coalesce::Row, GatherOOB::${outside}>(${rows}, ${table}, ${picked});`);
  // What waits for MTE2 waits for the rows, then.
  if (onV) context.wait("V", "MTE2");
}

/**
 * Emits a gather with the lowering `row-fetch`: a TLOAD from global memory for each row that index values
 * select.
 */
export function emitRowFetch(context: PtoContext, gather: PtoGather): void {
  const { out, plan } = context;
  const { stmt, addresses, rules } = gather;
  const output = outputBuffer(plan, gather);
  const first = rowDim(stmt.map);
  const data = at(stmt.from, 0).buffer;
  const misses = rules.some((rule) => rule.outside !== "nearest" && rule.outside !== "promised");
  context.wait("MTE2", "S");
  context.wait("MTE3", "S");
  if (misses) context.wait("MTE3", "V");
  const indices = indexReaders(context, gather);
  context.switchCopy(output);
  const tensor = inputOf(plan.func, 0).type.shape;
  const sizes = stmt.to.sizes.slice(first);
  const shape = output.shape.slice(first);
  overDims(context, { sizes: stmt.to.sizes, shape: output.shape }, first, (dims) => {
    const indexValues = emitIndices(context, gather, indices, dims);
    const address = context.within(output, addresses.output, dims);
    const fetch = (): void => {
      emitTransfer(context, {
        what: "load",
        operand: data,
        start: addresses.data,
        strides: strides(tensor).slice(tensor.length - sizes.length),
        buffer: output,
        shape,
        address,
        sizes: sizes,
        dims,
        indices: indexValues,
      });
    };
    if (!misses) {
      fetch();
      return;
    }
    context.scope("if (inside)", fetch);
    context.scope("else", () => {
      const rows = elementCount(shape.slice(0, -1));
      emitZeros(context, { bytes: output.rowBytes, rows }, address);
      if (gather.reports && !reportsSome(gather)) out.line("bad = true;");
    });
  });
  context.wait("V", "MTE2");
  context.wait("S", "MTE2");
}

/**
 * Emits a gather with the lowering `row-copy`: a TMOV within the unified buffer (UB) for each row that index
 * values select.
 */
export function emitRowCopy(context: PtoContext, gather: PtoGather): void {
  const { out, plan } = context;
  const { stmt, addresses, rules, pipe } = gather;
  const data = dataBuffer(plan, gather);
  invariant(data !== undefined, "rows are copied within UB");
  const output = outputBuffer(plan, gather);
  const word = plan.words(output.name);
  const last = stmt.to.sizes.length - 1;
  const [before, after] = pipe === "S" ? (["S", "V"] as const) : (["V", "S"] as const);
  context.wait(before, after);
  const indices = indexReaders(context, gather);
  context.switchCopy(output);
  const columns = context.extent(at(stmt.to.sizes, last), at(output.shape, last), word.each);
  const row = ({ rowBytes }: UbBuffer): TileShape => ({
    word,
    rows: 1,
    columns: rowBytes / word.bytes,
    valid: [fixed(1), columns],
  });
  overDims(context, { sizes: stmt.to.sizes, shape: output.shape }, last, (dims) => {
    const indexValues = emitIndices(context, gather, indices, dims);
    const to = context.within(output, addresses.output, dims);
    const copy = (): void => {
      const [target, from] = [context.fresh("row"), context.fresh("row")];
      context.tile(target, "OutputRow", row(output), to);
      context.tile(from, "DataRow", row(data), context.within(data, addresses.data, dims, indexValues));
      out.line(`TMOV(${target}, ${from});`);
    };
    if (rules.every((rule) => rule.outside === "nearest" || rule.outside === "promised")) {
      copy();
      return;
    }
    context.scope("if (inside)", copy);
    context.scope("else", () => {
      emitZeros(context, { bytes: output.rowBytes, rows: 1 }, to);
      if (gather.reports && !reportsSome(gather)) out.line("bad = true;");
    });
  });
  context.wait(after, before);
}

/**
 * Emits an instruction that writes zeros to `rows` rows of `bytes` bytes in the unified buffer (UB),
 * including padding.
 */
function emitZeros(
  context: PtoContext,
  { bytes, rows }: { bytes: number; rows: number },
  address: string,
): void {
  const zero = context.fresh("row");
  const columns = alignUp(bytes, i32.bytes) / i32.bytes;
  const shape: TileShape = { word: i32, rows, columns, valid: [fixed(rows), fixed(columns)] };
  context.tile(zero, "Zeros", shape, address);
  context.out.line(`TEXPANDS(${zero}, (int32_t)0);`);
}

/**
 * Returns one function for each input after the data. A function returns the C++ expression for an index
 * value at a position of the input.
 */
export const indexReaders = (context: PtoContext, { stmt }: PtoGather): readonly Reader[] =>
  stmt.from.slice(1).map((region) => readerOf(context, region));

/**
 * Returns a function for the C++ expression of a word at a position in a region's memory: a tile in the
 * unified buffer (UB), or global memory.
 */
export function readerOf(context: PtoContext, { buffer, sizes }: Region): Reader {
  const declared = context.plan.buffers.get(buffer);
  if (declared === undefined) return (place) => `${context.plan.names.buffer(buffer)}[${place}]`;
  const tile = context.bufferTile(declared, sizes);
  return (place) => `${tile}.GetValue(${place})`;
}
