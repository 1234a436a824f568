/**
 * Addresses in the order they are touched, as runs that lie together: what bursts are made of. A sequence
 * that repeats at other addresses is counted once and multiplied.
 */
import type { Counter } from "./counter.js";

/**
 * Counter of the contiguous ranges in a sequence of accessed addresses, by length in elements. `repeat`:
 * multiplies the counts, for a sequence that repeats at shifted addresses.
 */
export class Runs {
  private start = 0;
  private end = 0;
  /** Length of the first run, once it is closed. */
  private head = 0;
  private closed = false;
  /** Length of the last run, which may still grow; 0: nothing was touched. */
  private tail = 0;
  /** The runs between them: how many of each length. */
  private inner: Map<number, number> | undefined;
  /** Runs of one length in a row, not yet in `inner`. */
  private pendingLength = 0;
  private pendingCount = 0;

  /** Appends elements [address, address + length) to the runs. */
  add(address: number, length: number): void {
    if (this.tail > 0 && address === this.end) {
      this.tail += length;
    } else {
      if (this.tail === 0) this.start = address;
      else if (this.closed) this.count(this.tail, 1);
      else {
        this.closed = true;
        this.head = this.tail;
      }
      this.tail = length;
    }
    this.end = address + length;
  }

  /** Repeats all runs so far `times` times, each time `shift` further. */
  repeat(times: number, shift: number): void {
    if (this.tail === 0 || times === 1) return;
    const { head, tail } = this;
    const joined = this.start + shift === this.end;
    this.end += (times - 1) * shift;
    if (!this.closed) {
      if (joined) this.tail = tail * times;
      else {
        this.closed = true;
        this.head = tail;
        this.count(tail, times - 2);
      }
      return;
    }
    this.settle();
    for (const [length, count] of this.inner ?? []) this.inner?.set(length, count * times);
    if (joined) this.count(tail + head, times - 1);
    else {
      this.count(tail, times - 1);
      this.count(head, times - 1);
    }
  }

  /** Reports each run as a burst, `times` times. `elementBytes`: bytes of an element. */
  report(counter: Counter, elementBytes: number, times: number): void {
    if (this.tail === 0) return;
    this.settle();
    if (this.closed) counter.burst(this.head * elementBytes, times);
    for (const [length, count] of this.inner ?? []) counter.burst(length * elementBytes, count * times);
    counter.burst(this.tail * elementBytes, times);
  }

  private count(length: number, count: number): void {
    if (length !== this.pendingLength) {
      this.settle();
      this.pendingLength = length;
    }
    this.pendingCount += count;
  }

  private settle(): void {
    const { pendingLength, pendingCount } = this;
    if (pendingCount === 0) return;
    const inner = (this.inner ??= new Map<number, number>());
    inner.set(pendingLength, (inner.get(pendingLength) ?? 0) + pendingCount);
    this.pendingCount = 0;
  }
}
