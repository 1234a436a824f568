/** One core's unified buffer: poisoned bytes, and which of them were written since the task began. */
import { defined } from "../../ir/defined.js";
import { error, RunError } from "../../ir/diagnostic.js";
import { printStmtHead } from "../../ir/text/print.js";
import { ubBytes, ubEnd, type Pipe, type Stmt, type SyncStmt, type UbBuffer } from "../../ir/tile.js";
import { at, invariant } from "../../ir/types.js";
import { HazardTracker, type HazardAccess, type Race } from "../../ir/verify/hazards.js";
import { allocateArray, fewBytes } from "../memory.js";

/**
 * Byte value that uninitialised memory is filled with. It shows in the report of a wrong program; no program
 * may rely on it.
 */
const poison = 0xa5;
const fourWritten = 0x01010101;

/**
 * Unified buffer (UB) of one simulated core, with a record of the bytes written in the current task. A reset
 * fills all bytes with a poison value.
 */
export class UbArena {
  readonly bytes: Uint8Array;
  private readonly written: Uint8Array;
  /** The marks of `written`, four at a time. */
  private readonly marks: DataView;
  /**
   * Number of the latest write of each buffer, counted from 0. It determines which copy of the buffer is the
   * latest.
   */
  private readonly copies = new Map<string, number>();
  private readonly hazards = new HazardTracker();

  constructor(
    budget: number,
    private readonly buffers: ReadonlyMap<string, UbBuffer>,
  ) {
    for (const buffer of buffers.values()) {
      const { addresses } = buffer;
      invariant(addresses !== undefined, `%${buffer.name} has no address`);
      for (const start of addresses) {
        const end = start + ubBytes(buffer);
        if (end > budget) {
          throw new RunError([
            error(
              "TC603",
              `%${buffer.name} at ${start} ends at ${end}, beyond the unified buffer of ${budget} B`,
            ),
          ]);
        }
      }
    }
    const peak = ubEnd(buffers.values());
    this.bytes = allocateArray(peak, "the unified buffer").fill(poison);
    this.written = allocateArray(peak, "the unified buffer");
    this.marks = new DataView(this.written.buffer);
  }

  /** Begins a task that has a workgroup memory of its own: nothing is initialised, nothing is pending. */
  reset(): void {
    this.bytes.fill(poison);
    this.written.fill(0);
    this.copies.clear();
    this.hazards.reset();
  }

  /** Switches a double buffer to its other copy, for the next writer. */
  switchCopy(name: string): void {
    this.copies.set(name, (this.copies.get(name) ?? -1) + 1);
  }

  /** Returns the byte address of the copy that was written last. */
  address(buffer: UbBuffer): number {
    const copy = Math.max(0, this.copies.get(buffer.name) ?? 0);
    return at(buffer.addresses ?? [], copy % buffer.buffers);
  }

  sync(stmt: SyncStmt): void {
    this.hazards.sync(stmt);
  }

  /** Records the accesses of one statement; traps on a race and on a write over a live buffer. */
  issue(
    stmt: Stmt,
    pipe: Pipe,
    accesses: readonly { readonly buffer: UbBuffer; readonly write: boolean }[],
  ): void {
    const ranges = accesses.map(({ buffer, write }): HazardAccess => {
      const start = this.address(buffer);
      return { name: buffer.name, start, end: start + ubBytes(buffer), write };
    });
    for (const range of ranges.filter((r) => r.write)) {
      const other = ranges.find((r) => r.name !== range.name && r.start < range.end && range.start < r.end);
      if (other !== undefined) {
        throw this.trap(
          "TC605",
          `%${range.name} at ${range.start} overlaps %${other.name} at ${other.start}`,
          stmt,
        );
      }
      this.forgetOverlapped(range);
    }
    const race = this.hazards.issue(pipe, ranges);
    if (race !== undefined) throw this.trap("TC604", describeRace(race), stmt);
  }

  /** Marks the contents of other buffers as unreadable where a write covers their bytes. */
  private forgetOverlapped(range: HazardAccess): void {
    for (const buffer of this.buffers.values()) {
      if (buffer.name === range.name) continue;
      for (const start of buffer.addresses ?? []) {
        const end = start + ubBytes(buffer);
        if (start < range.end && range.start < end) this.written.fill(0, start, end);
      }
    }
  }

  markWritten(start: number, length: number): void {
    if (length > fewBytes) {
      this.written.fill(1, start, start + length);
      return;
    }
    let k = start;
    for (; k + 4 <= start + length; k += 4) this.marks.setUint32(k, fourWritten, true);
    for (; k < start + length; k++) this.written[k] = 1;
  }

  checkWritten(start: number, length: number, name: string, stmt: Stmt): void {
    let k = start;
    while (k + 4 <= start + length && this.marks.getUint32(k, true) === fourWritten) k += 4;
    for (; k < start + length; k++) {
      if (this.written[k] !== 1) {
        throw this.trap("TC602", `byte ${k} of the unified buffer, in %${name}, was never written`, stmt);
      }
    }
  }

  /** Clears the current copy of a buffer before it is written again: until then it holds nothing. */
  clear(buffer: UbBuffer): void {
    const start = this.address(buffer);
    const end = start + ubBytes(buffer);
    this.bytes.fill(poison, start, end);
    this.written.fill(0, start, end);
  }

  trap(code: "TC602" | "TC603" | "TC604" | "TC605" | "TC606", message: string, stmt: Stmt): RunError {
    return new RunError([
      error(code, message, {
        notes: [printStmtHead(stmt)],
        ...defined({ span: stmt.span }),
      }),
    ]);
  }
}

/**
 * Returns the message for a race: the two hardware pipes (instruction queues), and the buffers that the pipes
 * access without a sync in between.
 */
function describeRace({ earlier, later }: Race): string {
  const verb = (write: boolean): string => (write ? "writes" : "reads");
  return (
    `race: ${later.pipe} ${verb(later.write)} %${later.name} while ${earlier.pipe} ` +
    `${verb(earlier.write)} %${earlier.name}; nothing orders them`
  );
}
