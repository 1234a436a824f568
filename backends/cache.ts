/**
 * Options of a {@link BoundedCache}: the limit on the total cost of its values, the cost of one value, and a
 * function that frees a value.
 */
export interface CacheOptions<Value> {
  /** Largest total cost of the values. */
  readonly limit: number;
  /** Returns the cost of a value, in the unit of `limit`. Default 1: the limit is then a number of values. */
  readonly costOf?: (value: Value) => number;
  /** Frees a value that was evicted, replaced or cleared; not called for a value that a caller took out. */
  readonly dispose?: (value: Value) => void;
}

interface Entry<Value> {
  readonly value: Value;
  readonly cost: number;
}

/** Cache that evicts the least recently used values when the total cost exceeds a limit. */
export class BoundedCache<Key, Value> {
  /** Least recently used first: a Map keeps the order in which keys were added. */
  private readonly entries = new Map<Key, Entry<Value>>();
  private cost = 0;

  constructor(private readonly options: CacheOptions<Value>) {}

  /** The values it holds. */
  get size(): number {
    return this.entries.size;
  }

  /** Returns the value of a key, which counts as used and stays in the cache; undefined if there is none. */
  get(key: Key): Value | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.value;
  }

  /** Hands a value over. One that alone costs more than the limit is disposed of at once. */
  set(key: Key, value: Value): void {
    this.drop(key);
    const cost = this.options.costOf?.(value) ?? 1;
    this.entries.set(key, { value, cost });
    this.cost += cost;
    for (const oldest of this.entries.keys()) {
      if (this.cost <= this.options.limit) return;
      this.drop(oldest);
    }
  }

  /**
   * Removes the value of a key and returns it; undefined if there is none. The cache does not free the value;
   * `set` puts it back.
   */
  take(key: Key): Value | undefined {
    return this.remove(key)?.value;
  }

  clear(): void {
    for (const key of this.entries.keys()) this.drop(key);
  }

  private drop(key: Key): void {
    const entry = this.remove(key);
    if (entry !== undefined) this.options.dispose?.(entry.value);
  }

  private remove(key: Key): Entry<Value> | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    this.entries.delete(key);
    this.cost -= entry.cost;
    return entry;
  }
}
