/**
 * Estimated cycles of a scatter under a schedule, from the work of one whole task: its statements wait for
 * each other, one by one.
 */
import { cutBy } from "../access.js";
import { outputOf, outputPlace } from "../func.js";
import { targetFacts, type Target } from "../target.js";
import { ubStrides } from "../tile.js";
import { meanTrips } from "../tiling/loops.js";
import type { ScatterTile } from "../tiling/scatter-tile.js";
import type { ScatterTiling } from "../tiling/scatter-tiling.js";
import type { Tiling } from "../tiling/tiling.js";
import { at, elementCount } from "../types.js";
import { cyclesOfWork } from "./price.js";
import { scatterWork, type ScatterSetting } from "./scatter-work.js";
import { hitsOf, memoryCycles, transferWork } from "./statement.js";
import { latencyOf } from "./terms.js";
import type { Work, WorkPipe } from "./work.js";

/**
 * Returns the properties of a scatter's schedule from which the work (instruction and byte counts) is
 * computed.
 */
export const settingOf = ({ scatter, tiles, isLoaded }: ScatterTiling): ScatterSetting => ({
  func: scatter,
  map: scatter.map,
  writesGm: !isLoaded,
  readsGm: (table) => !tiles.some(({ operand }) => operand === table),
});

/** Returns the estimated cycles of a scatter under a schedule, for ranking schedules. */
export function scatterEstimate(tiling: Tiling, scattering: ScatterTiling): number {
  const { schedule, target, traffic, tile } = tiling;
  const { scatter, loops, tiles, copies, isLoaded } = scattering;
  const { map, operands } = scatter;
  const cores = Math.max(1, Math.min(schedule.cores, traffic.tasks));
  const bytes = traffic.operands.map((operand) => operand.bytes);
  const hits = hitsOf(bytes, operands, target);
  const cyclesOf = (work: Work, pipe: WorkPipe, operand: number): number =>
    cyclesOfWork(work, pipe, target, cores, at(hits, operand));
  const transferred = (entry: ScatterTile, pipe: "MTE2" | "MTE3"): number => {
    const { type } = at(operands, entry.operand);
    const inTile = ubStrides({ dtype: type.dtype, shape: entry.shape, rowBytes: entry.rowBytes });
    return cyclesOf(transferWork({ type, inTile }, entry.shape, target), pipe, entry.operand);
  };
  const serial = loops.filter(({ mode }) => mode === "serial");
  const trips = (some: typeof serial): number =>
    some.reduce((product, loop) => product * meanTrips(loop, tiling), 1);
  const loads = tiles
    .filter(({ operand }) => at(operands, operand).role !== "output")
    .reduce((sum, entry) => {
      const cut = cutBy(map, entry.operand);
      const last = serial.findLastIndex(({ dim }) => cut.has(dim));
      return sum + trips(serial.slice(0, last + 1)) * transferred(entry, "MTE2");
    }, 0);
  const pipe = isLoaded ? "S" : "MTE3";
  const waits = waitsOf(target);
  const chunks = trips(serial);
  const points =
    chunks *
    (cyclesOf(scatterWork(settingOf(scattering), tile, target), pipe, outputPlace(scatter)) +
      waits("MTE2") +
      waits(pipe));
  const stored = tiles
    .filter(({ operand }) => at(operands, operand).role === "output")
    .reduce(
      (sum, entry) =>
        sum + transferred(entry, "MTE2") + transferred(entry, "MTE3") + waits("MTE2") + waits("MTE3"),
      0,
    );
  const elements = elementCount(outputOf(scatter).type.shape) / Math.max(1, traffic.tasks);
  const copied = copies.reduce((sum, region) => {
    const regions = Math.ceil(elements / Math.max(1, elementCount(region.shape)));
    return (
      sum +
      regions * (transferred(region, "MTE2") + transferred(region, "MTE3") + waits("MTE2") + waits("MTE3"))
    );
  }, 0);
  const task = loads + points + stored + copied;
  const share = bytes.map((all) => all / cores);
  const alone = Math.ceil(traffic.tasks / cores) * task;
  return Math.max(alone, memoryCycles(share, operands, target, cores, 1)) + traffic.tasks * target.taskCycles;
}

/** Returns the cycles until who waits for a pipe goes on. */
const waitsOf =
  (target: Target) =>
  (pipe: "MTE2" | "MTE3" | "S"): number =>
    targetFacts[target.kind].dmaEngine ? target.syncCycles + latencyOf(pipe, target) : 0;
