/** A call that reads the caller's arrays where they are: the rows of its plan's walk, moved as they come. */
import { gatheredTable } from "../../ir/access.js";
import { inputOf, outputBytes } from "../../ir/func.js";
import { outOfRange } from "../../ir/policy.js";
import { emptyOutputSteps } from "../empty-output.js";
import { drained } from "../long-run.js";
import { inputTensor, unitsAt, type Bytes, type HostInputs } from "../memory.js";
import { indexOutOfRange } from "../resolved-indices.js";
import { type Block, blockRows } from "./block.js";
import { moveRows, type RowArray } from "./move-rows.js";
import { gatherWalkOf, type DirectPlan } from "./plan.js";
import type { RowVisitor } from "./walk.js";

/**
 * Gathers part of the output into `output`: elements `from` to `to` (exclusive) along the outermost dim.
 * Throws a RunError (TC601) for the first output element with an index out of range.
 */
export function runDirect(
  plan: DirectPlan,
  inputs: HostInputs,
  output: Uint8Array,
  from = 0,
  to = plan.sizes[0] ?? 1,
): void {
  const { gather, sizes, tile } = plan;
  if (sizes.includes(0)) {
    drained(emptyOutputSteps(tile, inputs));
    return;
  }
  const { bytes, beyond } = inputTensor(inputs, inputOf(tile, gatheredTable));
  const data = beyond ?? bytes;
  const unit = unitFor(plan, data);
  const walk = gatherWalkOf(plan, unit);
  walk.bind(inputs);
  try {
    const scale = outputBytes(tile) / unit;
    const mover = new Mover(
      plan,
      inputs,
      unitsAt(data, unit),
      unitsAt(output, unit),
      plan.rowElements * scale,
    );
    walk.walk(mover, sizes, gather.addresses.data.at * scale, plan.starts, noLoops, from, to);
  } finally {
    walk.release();
  }
}

const noLoops: ReadonlyMap<string, number> = new Map();

/** Returns the plan's unit, or a smaller one where the caller's array starts between two of them. */
const unitFor = ({ unit }: DirectPlan, { byteOffset }: Bytes): DirectPlan["unit"] =>
  ([8, 4, 2] as const).find((size) => size <= unit && byteOffset % size === 0) ?? 1;

/** Moves rows, and gives those without an element the fill. */
class Mover implements RowVisitor {
  constructor(
    private readonly plan: DirectPlan,
    private readonly inputs: HostInputs,
    private readonly source: RowArray,
    private readonly target: RowArray,
    /** Units of a row. */
    private readonly units: number,
  ) {}

  block(block: Block, from: number, count: number, first: number): void {
    const { source, target, units } = this;
    const { addresses, anyEnded, bad, ended } = block;
    if (bad < blockRows) this.reject(first + bad);
    if (!anyEnded) {
      moveRows(source, target, addresses, from, units, 0, count, first * units);
      return;
    }
    for (let k = 0; k < count;) {
      const value = ended[k];
      let end = k + 1;
      while (end < count && ended[end] === value) end++;
      if (value === 1) this.fill(first + k, end - k);
      else moveRows(source, target, addresses, from, units, k, end, (first + k) * units);
      k = end;
    }
  }

  row(address: number, row: number): void {
    const { source, target, units } = this;
    moveRows(source, target, atBase, address, units, 0, 1, row * units);
  }

  none(first: number, count: number, element: number): void {
    if (element === outOfRange) this.reject(first);
    this.fill(first, count);
  }

  private reject(row: number): never {
    const { inputs, plan } = this;
    const { gather, rowElements, tile } = plan;
    throw indexOutOfRange({ map: gather.stmt.map, operands: tile.operands, inputs }, row * rowElements);
  }

  /** Writes the fill of rows. Zero bits need no write: the output is new, so it is zero. */
  private fill(first: number, count: number): void {
    const { plan, target, units } = this;
    const { fill } = plan.gather;
    if (fill.every((byte) => byte === 0)) return;
    const bytes = new Uint8Array(target.buffer, target.byteOffset, target.byteLength);
    const [start, end] = [first, first + count].map((row) => row * units * target.BYTES_PER_ELEMENT);
    for (let k = start ?? 0; k < (end ?? 0); k++) bytes[k] = fill[k % fill.length] ?? 0;
  }
}

/** A row by itself. */
const atBase = new Int32Array(1);
