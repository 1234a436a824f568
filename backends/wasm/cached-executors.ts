/**
 * Executors that calls share: the memory of a kernel, whose pages the first call pays for, serves the next
 * one. It goes with its kernel, and makes room when idle memories together exceed a bound: the last that did,
 * if it is small, serves the next new kernel.
 */
import type { TileFunc } from "../../ir/func.js";
import { BoundedCache } from "../cache.js";
import { FastExecutor } from "./executor.js";

/**
 * A memory reserves address space far beyond its bytes: it counts as so many at least. One of no more is
 * small.
 */
const leastCost = 2 ** 25;

/**
 * Holder of a kernel's idle executor. The target of a WeakRef stays alive until the caller's event loop
 * yields. This object is small, and whoever takes the executor out empties it. A WeakRef to the kernel itself
 * would keep the kernel and its memory alive.
 */
interface Place {
  executor: FastExecutor | undefined;
}

/** A kernel's key in the order of idle memories, and the place of its own. */
interface Entry {
  readonly key: object;
  place: Place | undefined;
}

interface Kept {
  readonly place: WeakRef<Place>;
  readonly bytes: number;
}

/**
 * Pool of idle fast executors, by tile program. A call reuses the memory of an earlier call of the same
 * program. Executors are evicted when the idle memories exceed a limit in bytes.
 */
export class KeptExecutors {
  /** A weak map, so that an idle memory does not keep its program alive. */
  private readonly entries = new WeakMap<TileFunc, Entry>();
  private readonly order: BoundedCache<object, Kept>;
  /** Small executor that was evicted; its memory can be reused for another program. */
  private spare: FastExecutor | undefined;
  private readonly collected = new FinalizationRegistry<object>((key) => {
    this.order.take(key);
  });

  /** `limit`: bytes that idle executors may hold together. */
  constructor(limit: number) {
    this.order = new BoundedCache({
      limit,
      costOf: ({ bytes }) => Math.max(leastCost, bytes),
      dispose: ({ place }) => {
        const evicted = emptied(place.deref());
        if (evicted !== undefined && evicted.memoryBytes <= leastCost) this.spare = evicted;
      },
    });
  }

  /**
   * Returns the program's executor, the caller's alone until it is given back. Throws a CompileError (TC502).
   */
  take(tile: TileFunc): FastExecutor {
    const entry = this.entries.get(tile);
    const idle = emptied(entry?.place);
    if (entry === undefined || idle === undefined) {
      const { spare } = this;
      this.spare = undefined;
      return FastExecutor.reusing(tile, spare);
    }
    this.order.take(entry.key);
    return idle;
  }

  giveBack(tile: TileFunc, executor: FastExecutor): void {
    const entry = this.entryOf(tile);
    const { key } = entry;
    // One of a run beside it may have come back first.
    this.order.take(key);
    emptied(entry.place);
    const place: Place = { executor };
    entry.place = place;
    const { memoryBytes, untouchedBytes } = executor;
    this.order.set(key, { place: new WeakRef(place), bytes: memoryBytes - untouchedBytes });
  }

  private entryOf(tile: TileFunc): Entry {
    const existing = this.entries.get(tile);
    if (existing !== undefined) return existing;
    const entry: Entry = { key: {}, place: undefined };
    this.entries.set(tile, entry);
    this.collected.register(tile, entry.key);
    return entry;
  }
}

/** Returns the executor of a place and empties the place; undefined if there is none. */
function emptied(place: Place | undefined): FastExecutor | undefined {
  const executor = place?.executor;
  if (place !== undefined) place.executor = undefined;
  return executor;
}

/**
 * Pool of idle executors for the one-thread calls of `simulate`, `run` and the fast backend, with at most 512
 * MiB of idle memory.
 */
export const keptExecutors = new KeptExecutors(2 ** 29);
