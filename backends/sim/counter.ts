/** Counts what one operand moves between global memory and the core, burst by burst. */
import type { OperandReport } from "../report.js";

export class Counter {
  /** Of packed elements, a fraction as well. */
  private moved = 0;
  transfers = 0;
  private bursts = 0;
  private shortest = Infinity;
  private longest = 0;
  /** Bytes of the bursts, none counted as shorter than the target's burst. */
  private granted = 0;
  /** Bursts by the power of two that bounds their size. */
  private readonly bySize = new Map<number, number>();

  /** `leastBytes`: a shorter burst takes as long as one of this size. */
  constructor(private readonly leastBytes: number) {}

  /** Whole bytes. */
  get bytes(): number {
    return Math.ceil(this.moved);
  }

  /** `moved`: bytes; the last of them may be half of one, where elements share bytes. */
  burst(moved: number, times = 1): void {
    if (moved === 0) return;
    const bytes = Math.ceil(moved);
    this.moved += moved * times;
    this.bursts += times;
    this.shortest = Math.min(this.shortest, bytes);
    this.longest = Math.max(this.longest, bytes);
    this.granted += Math.max(bytes, this.leastBytes) * times;
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
      burstEfficiency: this.granted === 0 ? 1 : bytes / this.granted,
    };
  }
}

/** What one access of a statement touches in one tensor, as bursts of what lies together. */
export class BurstRun {
  private bytes = 0;
  private behind = -1;

  constructor(private readonly counter: Counter) {}

  /** More bytes: they lengthen the burst that ends where they begin. */
  add(address: number, bytes: number): void {
    if (address === this.behind) {
      this.bytes += bytes;
    } else {
      this.end();
      this.bytes = bytes;
    }
    this.behind = address + bytes;
  }

  end(): void {
    this.counter.burst(this.bytes);
    this.bytes = 0;
    this.behind = -1;
  }
}
