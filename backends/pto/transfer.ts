/**
 * A box between global memory and UB: TLOAD or TSTORE.
 *
 * One instruction packs at most four dims of rows, the outermost of which alone may be short; dims that lie
 * together in both memories are one; further dims are loops. A piece of more rows than the target moves at
 * once is cut, and each piece is a tile of exactly its rows: a tile's padding is written too.
 *
 * Header of A2 and A3 (hw-native-sys/pto-isa 3186c381, include/pto/common/arch/memory/tload_common.hpp):
 * fewer than 4096 rows (47) and bursts (52), words of 1 to 8 bytes (303), as many valid columns as the
 * innermost extent has (48), as many valid rows as the others multiply to (50). Stores there the same
 * (include/pto/npu/a2a3/TStore.hpp:244); on A5 rows of whole blocks (include/pto/npu/a5/TStore.hpp:178).
 */
import type { Coordinate } from "./forms.js";
import { isConstant, scale, type Linear } from "../../ir/linear.js";
import type { UbBuffer } from "../../ir/tile.js";
import { at, elementCount, type Shape } from "../../ir/types.js";
import { fixed, product, type PtoContext, type Extent } from "./context.js";

/**
 * Transfer of a region between global memory and the unified buffer (UB); the input of {@link emitTransfer}.
 */
export interface Transfer {
  readonly what: "load" | "store";
  /** The operand in global memory. */
  readonly operand: string;
  /** Position of the first element in global memory, in elements. */
  readonly start: Linear;
  /** Elements between neighbours in global memory, by dim of the region. */
  readonly strides: Shape;
  readonly buffer: UbBuffer;
  /** The box in UB: trailing dims of the buffer, and its byte address. */
  readonly shape: Shape;
  readonly address: string;
  readonly sizes: readonly Linear[];
  /** Names of the dims and index operands of `start`. */
  readonly dims?: readonly Coordinate[];
  readonly indices?: readonly string[];
}

interface RowDim {
  readonly size: Extent;
  /** True if the size is always the full extent of the dim in the tile. */
  readonly full: boolean;
  /** Its extent in the tile. */
  readonly rows: number;
  /** Elements between neighbours in global memory. */
  readonly stride: number;
}

const maxDims = 4;

/**
 * Emits the transfer of a region between global memory and the unified buffer (UB). Returns the C++ name of
 * the tile; undefined if the region is empty or takes several instructions.
 */
export function emitTransfer(context: PtoContext, transfer: Transfer): string | undefined {
  const { sizes, shape, strides, buffer } = transfer;
  const word = context.plan.words(buffer.name);
  if (sizes.some((size) => isConstant(size) && size.at === 0)) return undefined;
  const rowDims = foldable(
    shape.slice(0, -1).map((rows, k): RowDim => {
      const size = context.extent(at(sizes, k), rows);
      return { size, full: size.fixed && size.max === rows, rows, stride: at(strides, k) };
    }),
  );
  const taken: RowDim[] = [];
  while (rowDims.length > 0 && taken.length < maxDims && (taken[0]?.full ?? true)) {
    const next = rowDims.pop();
    if (next !== undefined) taken.unshift(next);
    if (elementCount(taken.map(({ rows }) => rows)) > context.plan.target.dmaRows) break;
  }
  const inner = elementCount(taken.map(({ rows }) => rows));
  const last = sizes.length - 1;
  const columns = last < 0 ? fixed(word.each) : context.extent(at(sizes, last), at(shape, last), word.each);
  const emit = (
    loops: readonly { readonly name: string; readonly by: RowDim; readonly rows: number }[],
  ): string | undefined => {
    const offset = loops.map(({ name, by }) => ` + ${name} * ${by.stride * word.each}`).join("");
    const shift = loops.map(({ name, rows }) => ` + ${name} * ${rows * buffer.rowBytes}`).join("");
    return emitPieces(context, transfer, taken, columns, { offset, shift });
  };
  if (rowDims.length === 0) return emit([]);
  const loops = rowDims.map((by, k) => ({
    name: `i${k}`,
    by,
    rows: inner * elementCount(rowDims.slice(k + 1).map(({ rows }) => rows)),
  }));
  context.nest(
    loops.map(({ name, by }) => ({ name, end: by.size.text })),
    () => void emit(loops),
  );
  return undefined;
}

/**
 * Returns the row dims of a transfer, outermost first, without dims of a single row. Neighbouring dims that
 * are contiguous in global memory and in the tile are merged.
 */
function foldable(dims: readonly RowDim[]): RowDim[] {
  const result: RowDim[] = [];
  for (const dim of dims) {
    if (dim.rows === 1 && dim.full) continue;
    const outer = result[result.length - 1];
    if (outer !== undefined && dim.full && outer.stride === dim.stride * dim.rows) {
      const size = product([outer.size, dim.size]);
      result[result.length - 1] = {
        size,
        full: outer.full,
        rows: outer.rows * dim.rows,
        stride: dim.stride,
      };
    } else result.push(dim);
  }
  return result;
}

/**
 * Emits a transfer as one or more instructions, each with at most as many rows as the target moves at once.
 * Returns the C++ name of the tile; undefined if there are several instructions.
 */
function emitPieces(
  context: PtoContext,
  transfer: Transfer,
  taken: readonly RowDim[],
  columns: Extent,
  loops: { readonly offset: string; readonly shift: string },
): string | undefined {
  const { target } = context.plan;
  const [outer, ...rest] = taken;
  const each = elementCount(rest.map(({ rows }) => rows));
  const rows = outer?.rows ?? 1;
  const piece = Math.max(1, Math.floor(target.dmaRows / each));
  if (rows <= piece) {
    return emitPiece(context, transfer, taken, columns, { ...loops, rows, valid: outer?.size ?? fixed(1) });
  }
  for (let start = 0; start < rows; start += piece) {
    const count = Math.min(piece, rows - start);
    const size = outer?.size ?? fixed(1);
    const from = {
      offset: `${loops.offset}${start === 0 ? "" : ` + ${start * (outer?.stride ?? 0) * context.plan.words(transfer.buffer.name).each}`}`,
      shift: `${loops.shift}${start === 0 ? "" : ` + ${start * each * transfer.buffer.rowBytes}`}`,
      rows: count,
    };
    if (size.fixed) {
      const valid = Math.min(count, size.max - start);
      if (valid > 0) emitPiece(context, transfer, taken, columns, { ...from, valid: fixed(valid) });
      continue;
    }
    const left = start === 0 ? size.text : `${size.text} - ${start}`;
    const valid = { text: `${left} < ${count} ? ${left} : ${count}`, max: count, fixed: false };
    if (start === 0) emitPiece(context, transfer, taken, columns, { ...from, valid });
    else {
      context.scope(`if (${size.text} > ${start})`, () => {
        emitPiece(context, transfer, taken, columns, { ...from, valid });
      });
    }
  }
  return undefined;
}

interface Piece {
  /**
   * Offset from the region's first word in global memory (`offset`, in words) and from its first byte in UB
   * (`shift`, in bytes).
   */
  readonly offset: string;
  readonly shift: string;
  /** Rows along the outermost dim that one instruction moves. */
  readonly rows: number;
  readonly valid: Extent;
}

/** Emits one TLOAD or TSTORE instruction, and returns the C++ name of the tile. */
function emitPiece(
  context: PtoContext,
  transfer: Transfer,
  taken: readonly RowDim[],
  columns: Extent,
  { offset, shift, rows, valid }: Piece,
): string {
  const { out, plan } = context;
  const { buffer, operand, start, what } = transfer;
  const word = plan.words(buffer.name);
  const inner = taken.slice(1).map(({ size }) => size);
  const extents = [...(taken.length === 0 ? [] : [valid]), ...inner, columns];
  const steps = [...taken.map(({ stride }) => stride * word.each), 1];
  const padded = [...Array.from({ length: 5 - extents.length }, () => fixed(1)), ...extents];
  const shape = padded.map((extent) => (extent.fixed ? extent.text : "DYNAMIC")).join(", ");
  const strides = [...Array.from({ length: 5 - steps.length }, () => 1), ...steps].join(", ");
  const name = context.nameOf(buffer);
  const text = `GlobalTensor<${word.name}, Shape<${shape}>, Stride<${strides}>, Layout::ND>`;
  const type = context.type(`Gm${context.nameOf({ name: operand })}`, text);
  const dynamic = padded.filter((extent) => !extent.fixed);
  const given = dynamic.map(
    ({ text: text }) => `(int64_t)${/^[\w]+(?: \* \d+)?$/.test(text) ? text : `(${text})`}`,
  );
  const gm = context.fresh(what);
  const from = context.more(scale(start, word.each), transfer.dims ?? [], transfer.indices ?? []);
  const shaped = given.length === 0 ? "" : `, ${type}::Shape(${given.join(", ")})`;
  out.line(`${type} ${gm}(${plan.names.buffer(operand)}${from}${offset}${shaped});`);
  const existing = what === "store" ? context.tileOf(buffer.name) : undefined;
  const elements = rows * elementCount(taken.slice(1).map((dim) => dim.rows));
  const tile =
    existing !== undefined && elements === elementCount(buffer.shape.slice(0, -1))
      ? existing
      : context.fresh("tile");
  if (tile !== existing) {
    const valids = product([valid, ...inner]);
    const shapeOf = {
      word,
      rows: elements,
      columns: buffer.rowBytes / word.bytes,
      valid: [valids, columns] as const,
    };
    context.tile(tile, name, shapeOf, `${transfer.address}${shift}`);
  }
  out.line(what === "load" ? `TLOAD(${tile}, ${gm});` : `TSTORE(${gm}, ${tile});`);
  return tile;
}
