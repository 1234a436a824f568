/** Figures of a kernel's cost and data movement, and the limits that they exceed. */
import { clockVersion, cyclesOf, keyOf, ubBuffers, ubBytes } from "../../ir/index.js";
import { indexInputs } from "../../backends/index.js";
import { countedReport } from "../../backends/sim/index.js";
import { kernelRoofline } from "../explain/kernel-roofline.js";
import type { Kernel } from "../api/compile.js";
import { randomValue } from "./random.js";

/** Upper limits on a kernel's data movement, peak memory use and cycles. An absent limit is not checked. */
export interface Limits {
  /** Bytes between global memory and the cores. */
  readonly bytes?: number;
  /** Ratio of the bytes between global memory and the cores to the bytes that every schedule must move. */
  readonly ratio?: number;
  /** Highest byte of the unified buffer in use. */
  readonly ubPeak?: number;
  readonly cycles?: number;
  /** Version of the cost model that gave `cycles`. */
  readonly clock?: number;
}

/**
 * Limit that a kernel exceeds, with a message that gives the excess and the components of the exceeded value.
 */
export interface Excess {
  readonly limit: "bytes" | "ratio" | "ubPeak" | "cycles";
  readonly message: string;
}

/**
 * Figures of a kernel that {@link Limits} can bound. `bytes`: bytes moved to and from global memory. `ratio`:
 * `bytes` divided by the bytes that every schedule must move. `ubPeak`: highest byte in use of the unified
 * buffer (UB), of `ubBudget` available bytes. `cycles`: estimated cycles.
 */
export interface Measured {
  readonly bytes: number;
  readonly ratio: number;
  readonly ubPeak: number;
  readonly ubBudget: number;
  readonly cycles: number;
  /** Components of each figure, in words. */
  readonly texts: Readonly<Record<Excess["limit"], string>>;
}

/**
 * Returns the values of a kernel that {@link Limits} can bound: bytes, peak memory use and cycles. The bytes
 * are counted in a simulation with random index values.
 */
export function measured(kernel: Pick<Kernel, "tile" | "target" | "access">): Measured {
  const { tile, target } = kernel;
  const inputs = Object.fromEntries(
    indexInputs(tile).map((operand) => [keyOf(operand), randomValue(operand, tile, 1)]),
  );
  const { operands, bytesRead, bytesWritten, compulsoryBytes, reloadFactor, ubPeak, ubBudget } =
    countedReport({ tile, target }, inputs);
  const clock = cyclesOf(tile, target);
  const { cycles, why } = clock;
  const roofline = kernelRoofline(kernel, clock);
  const each = Object.entries(operands).map(([operand, { bytes: bytes }]) => `${operand} ${bytes} B`);
  const movement = `${each.join(", ")}; any schedule moves ${compulsoryBytes} B`;
  const buffers = [...ubBuffers(tile).values()].map(
    (buffer) => `%${buffer.name} ${(buffer.addresses ?? []).length} x ${ubBytes(buffer)} B`,
  );
  return {
    bytes: bytesRead + bytesWritten,
    ratio: reloadFactor,
    ubPeak,
    ubBudget,
    cycles,
    texts: {
      bytes: movement,
      ratio: movement,
      ubPeak: buffers.length === 0 ? "no buffer" : buffers.join(", "),
      cycles: `${why.replace(" is busy ", " is busy longest, ")}${roofline === undefined ? "" : `; ${roofline}`}`,
    },
  };
}

/**
 * Returns the limits that a kernel exceeds, in the order bytes, ratio, ubPeak, cycles. If `exactly` is true,
 * returns every limit that differs from the kernel's value. `name` is the kernel's name for messages.
 */
export function excesses(
  name: string,
  figures: Measured,
  limits: Limits,
  { exactly = false }: { readonly exactly?: boolean } = {},
): Excess[] {
  const { texts } = figures;
  const apart = (value: number, limit: number, unit: string): string =>
    `${value}${unit}, ${Math.abs(value - limit)}${unit} ${value > limit ? "more" : "less"} than ${limit}${unit}`;
  const misses = (limit: Excess["limit"]): boolean => {
    const [value, allowed] = [figures[limit], limits[limit]];
    return allowed !== undefined && (value > allowed || (exactly && value !== allowed));
  };
  const say = (limit: Excess["limit"], message: string): Excess[] =>
    misses(limit) ? [{ limit, message: `@${name} ${message}; ${texts[limit]}` }] : [];
  const { bytes = 0, ratio = 0, ubPeak = 0, cycles = 0, clock = clockVersion } = limits;
  const inCycles =
    clock === clockVersion
      ? `takes ${apart(figures.cycles, cycles, "")} cycles`
      : `is pinned under clock ${clock}, and this is clock ${clockVersion}: ${cycles} cycles of the one do not compare with ${figures.cycles} of the other`;
  return [
    ...say("bytes", `moves ${apart(figures.bytes, bytes, " B")}`),
    ...say("ratio", `moves ${figures.ratio.toFixed(3)} times what any schedule moves, more than ${ratio}`),
    ...say("ubPeak", `takes ${apart(figures.ubPeak, ubPeak, " B")} of the unified buffer`),
    ...say("cycles", inCycles),
  ];
}
