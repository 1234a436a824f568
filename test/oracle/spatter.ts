/**
 * Spatter's gather and scatter by its own words: the README of hpcgarage/spatter on patterns, and the loops of its serial kernels. Nothing of tilec is
 * imported.
 */

/** A configuration as a file has it. */
export interface SpatterConfig {
  readonly kernel?: string;
  readonly pattern: string | readonly number[];
  readonly "pattern-size"?: number;
  readonly delta?: number;
  readonly count?: number;
  readonly wrap?: number;
  readonly boundary?: number;
}

/** The pattern, and the delta if the pattern says one. */
function spelledOut(pattern: string): { readonly list: number[]; readonly delta?: number } {
  const [kind = "", a = "", b = "", c = ""] = pattern.split(":");
  if (kind === "UNIFORM") {
    const list: number[] = [];
    for (let k = 0; k < Number(a); k++) list.push(k * Number(b));
    if (c === "") return { list };
    return { list, delta: c === "NR" ? Number(a) * Number(b) : Number(c) };
  }
  if (kind === "MS1") {
    const locations = b.split(",").map(Number);
    const gaps = c.split(",").map(Number);
    const list: number[] = [];
    let last = -1;
    for (let k = 0; k < Number(a); k++) {
      const gap = locations.indexOf(k);
      last += gap === -1 ? 1 : gaps.length === 1 ? gaps[0]! : gaps[gap]!;
      list.push(last);
    }
    return { list };
  }
  if (kind === "LAPLACIAN") {
    // Every point of the stencil's branches around a centre, in ascending order, from 0.
    const offsets = [0];
    for (let d = 0; d < Number(a); d++)
      for (let k = 1; k <= Number(b); k++) offsets.push(k * Number(c) ** d, -k * Number(c) ** d);
    offsets.sort((x, y) => x - y);
    return { list: offsets.map((offset) => offset - offsets[0]!), delta: 1 };
  }
  return { list: pattern.split(",").map(Number) };
}

/** The indices of one gather, and how far the next one is. */
export function patternOf(config: SpatterConfig): {
  readonly list: readonly number[];
  readonly delta: number;
} {
  const { pattern, delta: stated = 8 } = config;
  const { list, delta = stated } =
    typeof pattern === "string" ? spelledOut(pattern) : { list: [...pattern], delta: stated };
  const cut = config["pattern-size"] === undefined ? list : list.slice(0, config["pattern-size"]);
  const { boundary } = config;
  return { list: boundary === undefined ? cut : cut.map((index) => index % boundary), delta };
}

/** How many elements the sparse array has. */
export function sparseSize(config: SpatterConfig): number {
  const { list, delta } = patternOf(config);
  return Math.max(...list) + delta * ((config.count ?? 1024) - 1) + 1;
}

/** The dense array after every gather; places that none writes are left out. */
export function gathered(config: SpatterConfig, sparse: Float64Array): Float64Array {
  const { list, delta } = patternOf(config);
  const { count = 1024, wrap = 1 } = config;
  const dense = new Float64Array(list.length * Math.min(wrap, count));
  for (let i = 0; i < count; i++)
    for (let j = 0; j < list.length; j++) dense[j + list.length * (i % wrap)] = sparse[list[j]! + delta * i]!;
  return dense;
}

/** The sparse array after every scatter, one after another, onto what it held. */
export function scattered(
  config: SpatterConfig,
  sparse: Float64Array,
  dense: readonly Float64Array[],
): Float64Array {
  const { list, delta } = patternOf(config);
  const { count = 1024, wrap = 1 } = config;
  const written = sparse.slice();
  for (let i = 0; i < count; i++)
    list.forEach((index, j) => (written[index + delta * i] = dense[i % wrap]![j]!));
  return written;
}
