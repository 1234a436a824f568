/**
 * The scatter of a PTO-ISA kernel, decided before any text. Its points are taken one after another: words in
 * UB by the scalar unit, rows that go to global memory by a TSTORE each, and all others through slots.
 */
import { isMove, isOrderFree, isRead, type AccessMap } from "../../ir/access.js";
import { addressOf } from "../../ir/addressing.js";
import { defined } from "../../ir/defined.js";
import { CompileError, error } from "../../ir/diagnostic.js";
import { inputsOf, operandNamed, outputOf, isInPlace, type TileFunc } from "../../ir/func.js";
import { rangesOf } from "../../ir/intervals/intervals.js";
import type { Ranges } from "../../ir/intervals/range.js";
import { constant, dimsOf, equalLinear, isDim, type Linear } from "../../ir/linear.js";
import { mayReject, mayReport, type IndexRule } from "../../ir/policy.js";
import { statementsOf, type Located } from "../../ir/task/index.js";
import { printStmtHead } from "../../ir/text/print.js";
import { rowSlots, type RowSlot, type SlotName } from "../../ir/tiling/scatter-slots.js";
import { firstTable, ubStrides, ubEnd, type Region, type ScatterStmt, type UbBuffer } from "../../ir/tile.js";
import {
  at,
  alignUp,
  byteAligned,
  bytesOf,
  isInteger,
  strides,
  type DType,
  type Shape,
} from "../../ir/types.js";
import { isValueType, readsIn, typeOf } from "../../ir/values/expression.js";
import { evaluator, valuePlan } from "../../ir/values/index.js";
import { combinationAnswer, computesValues, type ElementCondition } from "../ascend-answer.js";
import { indexSteps, type IndexStep } from "../index-walk.js";
import { maxSizesOf } from "../plan/gather.js";

/**
 * Value that a point writes: an element that is read from `region`, or a constant with the unsigned bits
 * `bits`.
 */
export type PtoValue =
  | { readonly kind: "read"; readonly region: Region; readonly address: Linear }
  | { readonly kind: "constant"; readonly bits: bigint };

/**
 * Path of points to the output. `words`: the scalar unit writes the words of a tile. `stores`: a TSTORE moves
 * a row from the updates to global memory. `slots`: a row or an element is made in slots.
 */
export type PtoPath = "words" | "stores" | "slots";

/** Returns the C++ identifier of a slot. */
const slotIdentifier = (name: SlotName): string => `${name.replace("wideOperand", "wide_operand")}_ub`;

/**
 * Plan of the scatter of a PTO-ISA kernel. Addresses are in elements of the tensor or buffer that contains
 * each region.
 */
export interface PtoScatter {
  readonly stmt: ScatterStmt;
  readonly ranges: Ranges;
  readonly indexSteps: readonly IndexStep[];
  /** Rules of the index operands that have a policy, in their order. */
  readonly rules: readonly IndexRule[];
  /** Operands and buffers that hold index values. */
  readonly indexBuffers: ReadonlySet<string>;
  /** The input of each table that an index operand reads. */
  readonly regions: readonly (Region | undefined)[];
  /** Maximum of each size of a tile of points. */
  readonly maxSizes: Shape;
  readonly written: Linear;
  readonly value: PtoValue;
  /** True if the written region is in UB. */
  readonly inUb: boolean;
  readonly path: PtoPath;
  /** First dim of the rows that are written at once; the number of dims for single elements. */
  readonly rowDim: number;
  /** Buffers behind those of the program, by their use; empty unless the path is `slots`. */
  readonly slots: ReadonlyMap<SlotName, UbBuffer>;
  /** Conditions on elements under which combinations of floats have the stated bits. */
  readonly assumes: readonly ElementCondition[];
  /** True if the order of points can be seen. */
  readonly isOrdered: boolean;
  /** True if an index out of range is reported. */
  readonly reports: boolean;
  /** True if all index values are looked at before the first write. */
  readonly isChecked: boolean;
}

/**
 * Returns the plan of the scatter in a tile program; undefined if there is no scatter. Throws a CompileError
 * (TC505) that names the part of the scatter that PTO-ISA kernels do not support.
 */
export function planScatter(
  func: TileFunc,
  buffers: ReadonlyMap<string, UbBuffer>,
  blockBytes: number,
): PtoScatter | undefined {
  const [located, ...others] = statementsOf(func).filter(
    (one): one is Located<ScatterStmt> => one.stmt.op === "scatter",
  );
  if (located === undefined) return undefined;
  const { stmt, loops } = located;
  if (others.length > 0) refuse(stmt, "several scatters");
  const { map } = stmt;
  const inputs = inputsOf(func);
  const { dtype } = outputOf(func).type;
  const regionOf = regionsOf(stmt, inputs.length);
  const addressIn = addressesIn(func, stmt, buffers);
  const regions = map.indices.map(({ value }) => (isRead(value) ? regionOf(value.table) : undefined));
  const forms = map.indices.map(({ value }, k) => {
    const region = regions[k];
    return isRead(value) && region !== undefined ? addressIn(value.at, region) : (value as Linear);
  });
  const steps = indexSteps(map, forms, func.operands);
  const strange = strangeIn(map, steps) ?? unevenFill(func, dtype);
  if (strange !== undefined) refuse(stmt, strange.what, strange.hint);
  const value = valueOf(map, inputs, dtype, (table, coords): PtoValue | undefined => {
    const region = regionOf(table);
    return region && { kind: "read", region, address: addressIn(coords, region) };
  });
  if (value === undefined) return refuse(stmt, "a scatter of a value that is computed", computesValues);
  const indexTables = map.indices.flatMap(({ value: of }) => (isRead(of) ? [of.table] : []));
  if (map.reads.some(({ table }) => indexTables.includes(table)))
    refuse(stmt, "an input that holds index values and values");
  const answer = combinationAnswer(map, inputs, dtype);
  if (answer?.ok === false) return refuse(stmt, answer.refused, computesValues);
  const inUb = buffers.has(stmt.to.buffer);
  const maxSizes = maxSizesOf(stmt.sizes, loops);
  const { path, rowDim } = pathOf(map, dtype, inUb, rowDimOf(map, steps, value, buffers));
  const isSet = map.write.combine === "set";
  const columns = maxSizes[rowDim];
  const slots = path === "slots" ? rowSlots({ dtype, isSet, inUb, ...defined({ columns }) }, blockBytes) : [];
  const names = indexTables.flatMap((table) => [at(inputs, table).name, regionOf(table)?.buffer ?? ""]);
  return {
    stmt,
    ranges: rangesOf(
      map,
      inputs.map(({ type }) => type),
      maxSizes,
      { loops },
    ),
    indexSteps: steps,
    rules: steps.flatMap(({ rule }) => rule ?? []),
    indexBuffers: new Set(names),
    regions,
    maxSizes,
    written: addressIn(map.write.at, stmt.to),
    value,
    inUb,
    path,
    rowDim,
    slots: placedSlots(slots, buffers, blockBytes),
    assumes: answer?.assumes ?? [],
    isOrdered: !isOrderFree(map.write, dtype),
    reports: mayReport(map),
    isChecked: isInPlace(func) && mayReport(map) && mayReject(map),
  };
}

/** Throws the CompileError (TC505) for a part of a scatter that PTO-ISA kernels do not support. */
function refuse(stmt: ScatterStmt, what: string, hint = "run it on reference, sim or webgpu"): never {
  throw new CompileError([
    error("TC505", `a kernel for PTO-ISA has no form for ${what}`, {
      span: stmt.span,
      notes: [printStmtHead(stmt)],
      hint,
    }),
  ]);
}

/** Returns a function from a table of a scatter to its region; undefined for a table without a region. */
function regionsOf(stmt: ScatterStmt, inputs: number): (table: number) => Region | undefined {
  const first = firstTable(stmt, inputs);
  return (table) => (table < first ? undefined : at(stmt.from, table - first));
}

/**
 * Returns a function from coordinates in a region of a scatter to the address. The function throws a
 * CompileError (TC505) for a region that starts inside a tile.
 */
function addressesIn(
  func: TileFunc,
  stmt: ScatterStmt,
  buffers: ReadonlyMap<string, UbBuffer>,
): (coords: readonly Linear[], region: Region) => Linear {
  return (coords, { buffer, offsets }) => {
    const declared = buffers.get(buffer);
    if (declared !== undefined && !offsets.every((offset) => equalLinear(offset, constant(0))))
      refuse(stmt, `a region of %${buffer} that starts inside its tile`, "write it as lower-to-tile does");
    const shape = operandNamed(func, buffer)?.type.shape ?? [];
    return addressOf(coords, {
      offsets,
      strides: declared === undefined ? strides(shape) : ubStrides(declared),
    });
  };
}

/**
 * Part of a scatter that PTO-ISA kernels do not support: a phrase for the error, and a remedy if there is
 * one.
 */
interface Strange {
  readonly what: string;
  readonly hint?: string;
}

/** Returns the first fill of a program that no repeated word makes; undefined if there is none. */
function unevenFill(func: TileFunc, dtype: DType): Strange | undefined {
  const width = 8 * bytesOf(byteAligned(dtype));
  for (const { stmt } of statementsOf(func))
    if (stmt.op === "fill" && fillWord(stmt.bits, width) === undefined)
      return { what: `a fill of ${dtype} with ${stmt.bits}, whose words differ` };
  return undefined;
}

/**
 * Returns the path of the points of a scatter, and the first dim of the rows that are written at once.
 * `shared`: first dim of the rows that updates and output have in common.
 */
function pathOf(
  { domain, write }: AccessMap,
  dtype: DType,
  inUb: boolean,
  shared: number,
): Pick<PtoScatter, "path" | "rowDim"> {
  const rank = domain.length;
  const isSet = write.combine === "set";
  if (inUb && (isSet || isInteger(dtype))) return { path: "words", rowDim: rank };
  if (isSet && shared < rank) return { path: "stores", rowDim: shared };
  // Slots hold innermost rows.
  return { path: "slots", rowDim: Math.max(shared, rank - 1) };
}

/** Returns the first part of a scatter that PTO-ISA kernels do not support; undefined if there is none. */
function strangeIn({ write, reduced }: AccessMap, steps: readonly IndexStep[]): Strange | undefined {
  if (reduced !== undefined) return { what: "a scatter of sums" };
  if (write.duplicates === "error")
    return {
      what: "duplicates = error, which needs an owner for each element",
      hint: "duplicates = last, or unique where the caller promises it",
    };
  if (steps.some(({ isOfValue }) => isOfValue === true))
    return { what: "an index value that only the written value needs" };
  return undefined;
}

/** Returns slots as buffers behind those of the program. `blockBytes`: alignment of tiles. */
function placedSlots(
  slots: readonly RowSlot[],
  buffers: ReadonlyMap<string, UbBuffer>,
  blockBytes: number,
): ReadonlyMap<SlotName, UbBuffer> {
  let next = alignUp(ubEnd(buffers.values()), blockBytes);
  return new Map(
    slots.map(({ name, dtype, columns, bytes }) => {
      const place = { shape: [columns], rowBytes: bytes, buffers: 1, addresses: [next] } as const;
      next += bytes;
      // No name of a program begins like this.
      return [name, { name: slotIdentifier(name), dtype, ...place }];
    }),
  );
}

/**
 * Returns the value that a point writes: an element of the output's type that is read, or a constant.
 * Undefined for any other value. `read`: returns the read of an element.
 */
function valueOf(
  { value, reads }: AccessMap,
  inputs: readonly { readonly type: { readonly dtype: DType } }[],
  dtype: DType,
  read: (table: number, coords: readonly Linear[]) => PtoValue | undefined,
): PtoValue | undefined {
  const types = reads.map(({ table }) => at(inputs, table).type.dtype);
  if (isMove({ value })) {
    const [only] = reads;
    return only && types[0] === dtype ? read(only.table, only.at) : undefined;
  }
  if (readsIn(value).length > 0 || !isValueType(dtype) || typeOf(value, types) !== dtype) return undefined;
  return { kind: "constant", bits: BigInt(evaluator(valuePlan(value, types)).element(() => 0)) };
}

/**
 * Returns the first domain dim of the rows that one store writes. A row spans the innermost dims that updates
 * and output have in common and that no index value depends on. Returns the number of domain dims if there
 * are no rows.
 */
function rowDimOf(
  map: AccessMap,
  steps: readonly IndexStep[],
  value: PtoValue,
  buffers: ReadonlyMap<string, UbBuffer>,
): number {
  const rank = map.domain.length;
  const [read] = map.reads;
  if (value.kind !== "read" || read === undefined || !buffers.has(value.region.buffer)) return rank;
  const indexed = new Set(steps.flatMap(({ form }) => dimsOf(form)));
  let rowDim = rank;
  while (rowDim > 0) {
    const d = rowDim - 1;
    const isShared = [map.write.at, read.at].every((coords) => {
      const coord = coords[coords.length - rank + d];
      const others = coords.filter((_, k) => k !== coords.length - rank + d);
      return coord !== undefined && isDim(coord, d) && !others.some((other) => dimsOf(other).includes(d));
    });
    if (!isShared || indexed.has(d)) break;
    rowDim = d;
  }
  return rowDim;
}

/**
 * Returns the 32-bit word that fills memory with copies of an element if the word is repeated; undefined if
 * there is no such word. `bits`: the element's bits as an integer in text. `width`: number of bits of the
 * element.
 */
export function fillWord(bits: string, width: number): bigint | undefined {
  const element = BigInt.asUintN(width, BigInt(bits));
  let word = BigInt.asUintN(32, element);
  for (let at = width; at < 32; at *= 2) word |= word << BigInt(at);
  for (let at = 32; at < width; at += 32)
    if (BigInt.asUintN(32, element >> BigInt(at)) !== word) return undefined;
  return word;
}
