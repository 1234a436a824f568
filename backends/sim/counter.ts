/** Counts what one operand moves between global memory and the core, burst by burst. */
import type { OperandReport } from "../report.js";

/**
 * Counter of the traffic of one operand between global memory and the core: bytes, and bursts (contiguous
 * transfers).
 */
export class Counter {
  /** Bytes, fractional where elements of 4 or 2 bits are packed. */
  private transferred = 0;
  transfers = 0;
  private bursts = 0;
  private shortest = Infinity;
  private longest = 0;
  /** Bytes with each burst rounded up to `leastBytes`: the denominator of burst efficiency. */
  private chargedBytes = 0;
  /** Bursts by the power of two that bounds their size. */
  private readonly bySize = new Map<number, number>();

  /** `leastBytes`: a shorter burst takes as long as one of this size. */
  constructor(private readonly leastBytes: number) {}

  /** Bytes moved, rounded up. */
  get bytes(): number {
    return Math.ceil(this.transferred);
  }

  /** Counts bursts of one length. `length`: bytes, fractional where elements share a byte. */
  burst(length: number, times = 1): void {
    if (length === 0) return;
    const bytes = Math.ceil(length);
    this.transferred += length * times;
    this.bursts += times;
    this.shortest = Math.min(this.shortest, bytes);
    this.longest = Math.max(this.longest, bytes);
    this.chargedBytes += Math.max(bytes, this.leastBytes) * times;
    const bound = 2 ** Math.ceil(Math.log2(bytes));
    this.bySize.set(bound, (this.bySize.get(bound) ?? 0) + times);
  }

  report(compulsory: number): OperandReport {
    const { bytes, transfers, bursts } = this;
    return {
      bytes,
      compulsory,
      transfers,
      bursts,
      shortestBurst: bursts === 0 ? 0 : this.shortest,
      longestBurst: this.longest,
      burstSizes: [...this.bySize].sort(([a], [b]) => a - b).map(([upTo, count]) => ({ upTo, count })),
      burstEfficiency: this.chargedBytes === 0 ? 1 : bytes / this.chargedBytes,
    };
  }
}

/**
 * Builder of bursts (contiguous transfers): joins consecutive byte ranges of one access and counts the
 * bursts.
 */
export class BurstRun {
  private bytes = 0;
  private nextAddress = -1;

  constructor(private readonly counter: Counter) {}

  /**
   * Adds a range of bytes. A range that begins where the last burst ends lengthens this burst; any other
   * begins a new burst.
   */
  add(address: number, bytes: number): void {
    if (address === this.nextAddress) {
      this.bytes += bytes;
    } else {
      this.end();
      this.bytes = bytes;
    }
    this.nextAddress = address + bytes;
  }

  end(): void {
    this.counter.burst(this.bytes);
    this.bytes = 0;
    this.nextAddress = -1;
  }
}
