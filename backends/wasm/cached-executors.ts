/**
 * Executors that calls share: the memory of a kernel, whose pages the first call pays for, serves the next one. It goes with
 * its kernel, and makes room when idle memories together exceed a bound: the last that did, if it is small, serves the next new
 * kernel.
 */
import type { TileFunc } from "../../ir/func.js";
import { BoundedCache } from "../cache.js";
import { FastExecutor } from "./executor.js";

/** A memory reserves address space far beyond its bytes: it counts as so many at least. One of no more is small. */
const leastCost = 2 ** 25;

/**
 * Where a kernel's idle executor lies. What a WeakRef was made of lives until the caller's loop yields: this is small, and is emptied
 * by who takes the executor out, where the kernel itself would stay with its memory.
 */
interface Place {
  executor: FastExecutor | undefined;
}

interface Kept {
  readonly place: WeakRef<Place>;
  readonly bytes: number;
}

export class KeptExecutors {
  private readonly idle = new WeakMap<TileFunc, Place>();
  private readonly keys = new WeakMap<TileFunc, object>();
  private readonly order: BoundedCache<object, Kept>;
  /** It made room, and waits for a kernel without a memory. */
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

  /** The program's executor, the caller's alone until it is given back. Throws a CompileError (TC502). */
  take(tile: TileFunc): FastExecutor {
    const idle = emptied(this.idle.get(tile));
    if (idle === undefined) {
      const { spare } = this;
      this.spare = undefined;
      return FastExecutor.reusing(tile, spare);
    }
    this.order.take(this.keyOf(tile));
    return idle;
  }

  giveBack(tile: TileFunc, executor: FastExecutor): void {
    const key = this.keyOf(tile);
    // One of a run beside it may have come back first.
    this.order.take(key);
    emptied(this.idle.get(tile));
    const place: Place = { executor };
    this.idle.set(tile, place);
    const { memoryBytes, untouchedBytes } = executor;
    this.order.set(key, { place: new WeakRef(place), bytes: memoryBytes - untouchedBytes });
  }

  private keyOf(tile: TileFunc): object {
    const existing = this.keys.get(tile);
    if (existing !== undefined) return existing;
    const key = {};
    this.keys.set(tile, key);
    this.collected.register(tile, key);
    return key;
  }
}

/** What lay there. */
function emptied(place: Place | undefined): FastExecutor | undefined {
  const executor = place?.executor;
  if (place !== undefined) place.executor = undefined;
  return executor;
}

/** Those of `simulate`, `run` and the fast backend on one thread. */
export const keptExecutors = new KeptExecutors(2 ** 29);
