/**
 * The footprint: bytes of unified buffer, part by part, that one tile needs, and that its kernel takes.
 *
 * The need of a tile is counted as PyPTO's code counts (decision D6): every operand tile in UB with its
 * innermost rows padded to the target's block, times its copies, plus the hidden scratch of a vector gather.
 * The budget rule `spec` counts the written rule's sum of tiles alone. What the kernel takes has, in place of
 * that scratch, what its own lowering adds.
 */
import { gatheredTable, gatherDims, rowElements } from "../access.js";
import { inputsOf, keyOf, type Operand } from "../func.js";
import { profileOf } from "../profile.js";
import type { BudgetRule, Copies } from "../schedule.js";
import { targetFacts, type Target } from "../target.js";
import { alignUp, at, bytesFor, elementCount, meanBytes, type DType, type Shape } from "../types.js";
import { copiesOf } from "./copies.js";
import type { Added } from "./flat-program.js";
import type { Loop } from "./loops.js";
import { hasPtoForm } from "./plain.js";
import { countsResultAlone } from "./residency.js";
import { sumsOf, temporariesOf, type Temporary } from "./temporaries.js";
import type { TiledGather, TiledOperand } from "./tiled.js";

/**
 * Use of a part of the unified buffer (UB). `operand`: tile of an operand, by operand position from 0.
 * `scratch`: scratch memory of PyPTO's vector gather. `added`: buffer that the lowering adds. `result`: row
 * of intermediate results. `sum`: partial result of a reduction.
 */
export type FootprintUse = { readonly operand: number } | "scratch" | "added" | "result" | "sum";

/**
 * Part of the unified buffer (UB) that a tile needs, such as the tile of one operand, with the size in bytes.
 */
export interface FootprintEntry {
  /**
   * Name of the part in messages: an operand's key (`keyOf`), `scratch`, a buffer that the lowering adds
   * (`addresses`), or a temporary tile (`value 1`).
   */
  readonly part: string;
  readonly use: FootprintUse;
  readonly dtype: DType;
  /** Extents of the tile in elements. */
  readonly tile: Shape;
  /** Bytes of the elements alone. */
  readonly bytes: number;
  /** Bytes of an innermost row as it lies in UB. */
  readonly rowBytes: number;
  /** Bytes with each innermost row padded to `rowBytes`. */
  readonly padded: number;
  readonly buffers: Copies;
  /** Bytes that count against the budget under the rule. */
  readonly counted: number;
}

/** Bytes of the unified buffer (UB) that a tile or a kernel needs: the parts, the total and the budget. */
export interface Footprint {
  readonly parts: readonly FootprintEntry[];
  /**
   * Tiles that stay in global memory, on machines that gather in place, but count under the budget rule
   * `spec`.
   */
  readonly written: readonly FootprintEntry[];
  /** Sum of the bytes of `parts` and `written` that count under `rule`. */
  readonly bytes: number;
  /** Bytes that the address plan takes, whatever the rule counts. Padding and second buffers are included. */
  readonly planned: number;
  readonly budget: number;
  readonly rule: BudgetRule;
}

/**
 * Returns the bytes of a footprint as a sum in which each part has its name: `4096 (data) + 32 (indices)`. A
 * footprint without parts gives `0`.
 */
export const sumText = ({ parts, written }: Pick<Footprint, "parts" | "written">): string =>
  [...parts, ...written].map(({ part, counted }) => `${counted} (${part})`).join(" + ") || "0";

/** Returns the number of innermost rows of a tile. */
const rowsOf = (shape: Shape): number => elementCount(shape.slice(0, -1));

/** Returns the bytes of one innermost row of a tile in UB; a row without elements still takes a block. */
export const ubRowBytes = (shape: Shape, dtype: DType, block: number): number =>
  alignUp(bytesFor(Math.max(1, shape[shape.length - 1] ?? 1), dtype), block);

/**
 * Rows that are a multiple of so many bytes apart share a quarter of the sets of a cache of 64 sets of
 * 64-byte lines, or fewer.
 */
const setsBytes = 1024;

/**
 * Returns the size in bytes, with padding, of an innermost row of an operand's tile in the unified buffer
 * (UB).
 */
export function operandRowBytes(
  { gather, target, tile: output }: TiledGather,
  { operand, tile }: TiledOperand,
): number {
  const { dtype } = operand.type;
  const bytes = ubRowBytes(tile, dtype, target.blockBytes);
  const { map } = gather;
  const crossed =
    operand.role === "data" && rowsOf(tile) > 1 && gatherDims(map).some((k) => k < tile.length - 1);
  if (!crossed) return bytes;
  const shared = targetFacts[target.kind].sharedByRows;
  switch (shared) {
    case "nothing":
      return bytes;
    case "banks": {
      // An odd number of banks, or of wider elements.
      const bank = Math.max(4, meanBytes(dtype));
      return bytes % (2 * bank) === 0 ? bytes + bank : bytes;
    }
    case "cache-sets": {
      const fetched = bytesFor(rowElements(map, output, operand.type.shape), dtype);
      return fetched < target.burstBytes && bytes % setsBytes === 0 ? bytes + target.burstBytes : bytes;
    }
  }
}

/**
 * Returns the extents of the scratch of one vector gather: two index rows, each a whole number of blocks
 * (decision D6 in docs/specifications.md).
 */
function scratchShape(indexTile: Shape, dtype: DType, target: Target): Shape {
  const lanes = Math.max(1, target.blockBytes / meanBytes(dtype));
  return [2, alignUp(indexTile[indexTile.length - 1] ?? 1, lanes)];
}

/**
 * Returns the bytes of the unified buffer (UB) that a tile may take: the schedule's budget `ubBytes`. If the
 * operator's framework leaves the inputs in global memory, some PyPTO rule profiles allow one byte less.
 */
export const ubCapacity = ({ gather, schedule }: Pick<TiledGather, "gather" | "schedule">): number =>
  countsResultAlone(gather) && profileOf(schedule).rowsUnderBudget ? schedule.ubBytes - 1 : schedule.ubBytes;

/** Returns the part of a footprint that a tile takes. `rowBytes`: bytes of an innermost row in UB. */
export function footprintEntry(
  { part, dtype, tile }: Temporary,
  use: FootprintUse,
  rowBytes: number,
  rule: BudgetRule,
  buffers: Copies = 1,
): FootprintEntry {
  const bytes = bytesFor(elementCount(tile), dtype);
  const padded = rowsOf(tile) * rowBytes;
  const counted = rule === "full" ? padded * buffers : bytes;
  return { part, use, dtype, tile, bytes, rowBytes, padded, buffers, counted };
}

/** Returns the footprint with these parts, of a budget and its rule. */
export function footprintWith(
  parts: readonly FootprintEntry[],
  written: readonly FootprintEntry[],
  { rule, budget }: Pick<Footprint, "rule" | "budget">,
): Footprint {
  let [bytes, planned] = [0, 0];
  for (const { counted, padded, buffers } of parts) {
    bytes += counted;
    planned += padded * buffers;
  }
  for (const { counted } of written) bytes += counted;
  return { parts, written, bytes, planned, budget, rule };
}

/**
 * Returns the bytes of the unified buffer (UB) that a tile needs whatever the lowering. PyPTO's scratch
 * memory is included; buffers that a lowering adds are not.
 */
export function footprintOf(tiling: TiledGather & { readonly loops: readonly Loop[] }): Footprint {
  const { gather, operands, schedule, target, tile } = tiling;
  const { budgetRule: rule, ubBytes: budget } = schedule;
  const parts: FootprintEntry[] = [];
  const hold = (resident: Temporary, use: FootprintUse): void => {
    const rowBytes = ubRowBytes(resident.tile, resident.dtype, target.blockBytes);
    parts.push(footprintEntry(resident, use, rowBytes, rule));
  };
  const loads = at(operands, gatheredTable).inUb;
  const { vectorUnit, gathersInPlace } = targetFacts[target.kind];
  const isWritten = ({ role }: Operand): boolean => {
    switch (role) {
      case "data":
        return loads;
      case "indices":
        return loads || !countsResultAlone(gather);
      case "output":
        return true;
    }
  };
  const written: FootprintEntry[] = [];
  for (const [number, tiled] of operands.entries()) {
    const { operand, tile } = tiled;
    const entry = { part: keyOf(operand), dtype: operand.type.dtype, tile };
    const use = { operand: number };
    if (tiled.inUb)
      parts.push(footprintEntry(entry, use, operandRowBytes(tiling, tiled), rule, copiesOf(tiling, tiled)));
    else if (rule === "spec" && gathersInPlace && isWritten(operand))
      written.push(footprintEntry(entry, use, 0, rule));
  }
  const scratched =
    rule === "full" &&
    target.gatherScratch &&
    loads &&
    elementCount(tile) > 0 &&
    hasPtoForm(gather.map, inputsOf(gather).length);
  for (const { operand, tile, inUb } of scratched ? operands : []) {
    const { role, type } = operand;
    if (role !== "indices" || !inUb) continue;
    const { dtype } = type;
    hold({ part: "scratch", dtype, tile: scratchShape(tile, dtype, target) }, "scratch");
  }
  // A tile without elements computes none.
  const carried = tiling.reductionTile < (gather.map.reduced?.max ?? 0);
  if (elementCount(tile) > 0) {
    const inUb = (table: number): boolean => at(operands, table).inUb;
    const results = vectorUnit ? temporariesOf(gather.map, gather.operands, inUb, tile) : [];
    const sums = vectorUnit || carried ? sumsOf(gather.map, gather.operands, tile, carried) : [];
    for (const result of results) hold(result, "result");
    for (const sum of sums) hold(sum, "sum");
  }
  return footprintWith(parts, written, { rule, budget });
}

/**
 * Returns the bytes of the unified buffer (UB) that a kernel takes: the tile's bytes without PyPTO's scratch
 * memory, plus the lowering's buffers `adds`. Under the budget rule `spec`, these buffers do not count
 * towards the total.
 */
export function withAdded({ parts, ...need }: Footprint, adds: readonly Added[]): Footprint {
  const kept = parts.filter(({ use }) => use !== "scratch");
  const added = adds.map(({ name, bytes }): FootprintEntry => {
    const entry = footprintEntry({ part: name, dtype: "u8", tile: [bytes] }, "added", bytes, need.rule);
    return need.rule === "full" ? entry : { ...entry, counted: 0 };
  });
  return { ...need, ...footprintWith([...kept, ...added], need.written, need) };
}
