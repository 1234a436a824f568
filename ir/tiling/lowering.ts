/**
 * Lowerings of a gather: the instructions that it can become on its target. The program takes the
 * instructions of the fewest cycles (ir/clock/fastest.ts), and a code generator prints them. An estimate
 * takes those that are likely to have the fewest.
 *
 * On Ascend, after PTO-ISA's instructions (TGATHER, TMOV, MGATHER, TLOAD, GetValue and SetValue):
 *
 *   flat        data in UB: index values to addresses by vector instructions, one TGATHER for a run of rows (flat.ts)
 *   row-copy    data in UB: for each row a scalar index and a copy of blocks
 *   mgather     data in gm: MGATHER fetches rows of a table
 *   row-fetch   data in gm: for each row a scalar index and a load
 *   scalar      anything else: element by element on the scalar unit
 *
 * A class adds buffers to UB in the space that the program's buffers leave free. `row-copy`, `row-fetch` of
 * single rows and `scalar` add nothing, so a tile that fits its footprint always has a lowering. With more
 * free UB, every earlier lowering remains unchanged, so that no program becomes slower.
 *
 * `direct` is every gather of a target that is not an Ascend core: its lanes, or its one core, read and write in place.
 */
import { ofEach } from "../func.js";
import { defined } from "../defined.js";
import { dataCoords, gatheredTable, isMove, rowDim, policyOf, type AccessMap } from "../access.js";
import { isDim, indicesOf, soleAtom } from "../linear.js";
import { targetFacts, type Target } from "../target.js";
import { ubStrides, type Pipe } from "../tile.js";
import { alignUp, at, bitsOf, bytesFor, bytesOf, elementCount, invariant, isPacked } from "../types.js";
import { flatPrograms } from "./flat.js";
import type { FlatProgram } from "./flat-program.js";
import type { Footprint } from "./footprint.js";
import { gatherClasses, type GatherClass } from "../schedule.js";
import type {
  GatherLowering,
  PlacedTensor,
  Instructions,
  LackingClass,
  LostClass,
  LoweringFacts,
  Steps,
  TimedLowering,
  Lowerings,
} from "./gather-lowering.js";
import { gatherWork, readyCycles, workOfSteps } from "./gather-work.js";
import { cyclesOfWork } from "../clock/price.js";
import type { Loop } from "./loops.js";
import { isPlain, plainIndices, type PlainIndex } from "./plain.js";
import type { TiledGather } from "./tiled.js";
import { computedByRow } from "./value-rows.js";

export type { GatherLowering, LoweringFacts, Steps, TimedLowering, Lowerings } from "./gather-lowering.js";

const noSteps: Steps = { scalar: 0, tile: 0 };
const nothing = {
  adds: [],
  steps: noSteps,
  once: { scalars: 0, steps: 0, stepRepeats: 0 },
  waits: 0,
} as const;

const gathers: readonly TimedLowering[] = [{ ...nothing, class: "direct", cycles: 0, setup: 0 }];
/**
 * Possible lowerings (instruction sequences) of a gather on a target that is not an Ascend core: a single
 * lowering, `direct`, with 0 estimated cycles.
 */
export const direct: Lowerings = { lowerings: gathers, eligible: gathers, further: () => [], lacking: [] };

/**
 * Returns the lowering (instruction sequence) of a gather with the fewest estimated cycles under a schedule.
 * `lost` in the result: the lowering classes that were not chosen.
 */
export function likeliest({
  tile,
  extents,
  schedule,
  lowerings,
}: Pick<TiledGather, "tile" | "extents" | "schedule"> & { readonly lowerings: Lowerings }): GatherLowering {
  const tiles = tile.reduce((count, entry, d) => count * Math.ceil(at(extents, d) / Math.max(1, entry)), 1);
  const [first] = fastestFirst(lowerings.eligible, Math.max(1, tiles / schedule.cores));
  invariant(first !== undefined, "a gather can be done in some way");
  return loweringBy(lowerings, first);
}

/**
 * Returns the properties of a tiled gather that determine the possible lowerings (instruction sequences),
 * such as tensor layouts and free UB bytes.
 */
export function loweringFacts(
  tiling: TiledGather & {
    readonly loops: readonly Loop[];
    readonly need: Pick<Footprint, "parts" | "planned">;
  },
): LoweringFacts {
  const { gather, schedule, target, tile, extents, operands, loops, need } = tiling;
  const looped = new Set(loops.map((loop) => loop.dim));
  const ragged = tile.flatMap((entry, d) => {
    const view = Math.min(at(schedule.view, d), at(extents, d));
    return looped.has(d) && (view % entry !== 0 || at(extents, d) % entry !== 0) ? [d] : [];
  });
  const innermost = loops.at(-1);
  const tensors = operands.map(({ operand: { type }, tile: shape, inUb }): PlacedTensor => {
    if (!inUb) return { type };
    const rowBytes = alignUp(bytesFor(shape.at(-1) ?? 1, type.dtype), target.blockBytes);
    return { type, inTile: ubStrides({ dtype: type.dtype, shape, rowBytes }) };
  });
  const scratch = need.parts.reduce(
    (sum, { use, padded, buffers }) => sum + (use === "scratch" ? padded * buffers : 0),
    0,
  );
  return {
    map: gather.map,
    ...ofEach(gather, tensors),
    tile,
    ragged: new Set(ragged),
    // A load leaves the serial loops that its operand does not follow.
    freshIndices: ofEach(gather, operands)
      .inputs.slice(gatheredTable + 1)
      .every(({ inUb, dependsOn }) => inUb && (innermost?.mode !== "serial" || dependsOn.has(innermost.dim))),
    spareBytes: schedule.ubBytes - need.planned + scratch,
    ...defined({ requested: schedule.lowering }),
  };
}

/**
 * A class with the ways of it for which there is room, the likeliest first, or why the gather does not have
 * it.
 */
type Option =
  { readonly class: GatherClass; readonly instructions: () => Iterable<Instructions> } | LackingClass;

const lacks = (kind: GatherClass, reason: string): Option => ({ class: kind, reason, room: false });

const only = (instructions: Instructions): Option => ({
  class: instructions.class,
  instructions: () => [instructions],
});

/**
 * Returns the possible lowerings (instruction sequences) of a gather on a target, with the estimated cycles.
 * `lacking` in the result: the impossible lowering classes, with the reasons.
 */
export function loweringsOf(gather: LoweringFacts, target: Target): Lowerings {
  if (!targetFacts[target.kind].vectorUnit) return direct;
  const timed = (instructions: Instructions): TimedLowering => ({
    ...instructions,
    cycles: cyclesOf(instructions, gather, target),
    setup: readyCycles(instructions.once, target).vector,
  });
  const [results, lacking]: [TimedLowering[], LackingClass[]] = [[], []];
  const more: (() => Iterable<Instructions>)[] = [];
  const { requested, spareBytes } = gather;
  for (const option of optionsOf(gather, target)) {
    if ("reason" in option) {
      lacking.push(option);
      continue;
    }
    const [first] = option.instructions();
    if (first !== undefined) {
      results.push(timed(first));
      if (requested === undefined || requested === option.class) more.push(option.instructions);
    } else if (!results.some((lowering) => lowering.class === option.class)) {
      const reason = `needs more than the ${Math.max(0, spareBytes)} B of UB that are left`;
      lacking.push({ class: option.class, reason, room: true });
    }
  }
  const wanted = results.filter((lowering) => lowering.class === requested);
  return {
    lowerings: results,
    eligible: wanted.length > 0 ? wanted : results,
    *further() {
      for (const instructions of more) {
        let first = true;
        for (const option of instructions()) {
          if (!first) yield timed(option);
          first = false;
        }
      }
    },
    lacking,
  };
}

/**
 * Returns the lowerings (instruction sequences) sorted by total cycles, setup included, for a core that
 * gathers `tiles` full tiles.
 */
export const fastestFirst = (lowerings: readonly TimedLowering[], tiles: number): readonly TimedLowering[] =>
  [...lowerings].sort((a, b) => tiles * (a.cycles - b.cycles) + a.setup - b.setup);

/**
 * Returns the chosen lowering (instruction sequence) with a list `lost` of all other lowering classes. `lost`
 * has the cycles for one tile, or the reason why a class is impossible.
 */
export const loweringBy = (lowerings: Lowerings, chosen: TimedLowering): GatherLowering => ({
  ...chosen,
  get lost() {
    return othersThan(chosen, lowerings);
  },
});

const othersThan = (chosen: TimedLowering, { lowerings, lacking }: Lowerings): readonly LostClass[] =>
  gatherClasses.flatMap((kind): LostClass[] => {
    if (kind === chosen.class) return [];
    const [best] = fastestFirst(
      lowerings.filter((lowering) => lowering.class === kind),
      1,
    );
    if (best !== undefined) return [{ class: kind, cycles: best.cycles, setup: best.setup }];
    return lacking.filter((lack) => lack.class === kind);
  });

const cyclesOf = (lowering: Instructions, gather: LoweringFacts, target: Target): number =>
  cyclesOfWork(
    gatherWork({ ...gather, lowering: lowering }, gather.tile, target),
    pipeOfGather(gather),
    target,
    1,
    0,
  );

const inGm = ({ inputs }: LoweringFacts): boolean => at(inputs, gatheredTable).inTile === undefined;

const pipeOfGather = (gather: LoweringFacts): Pipe => (inGm(gather) ? "MTE2" : "V");

/**
 * Returns the lowering classes (kinds of instruction sequences) for a gather, depending on the memory of the
 * data. An impossible class is listed with the reason.
 */
function optionsOf(gather: LoweringFacts, target: Target): readonly Option[] {
  if (!isMove(gather.map)) return [only(ofValue(gather))];
  // No index names an element of data that has none: each is looked at, and reads as its policy says.
  if (elementCount(at(gather.inputs, gatheredTable).type.shape) === 0) return [only(scalar(gather))];
  if (inGm(gather)) {
    const noMgather = noTable(gather, target);
    return [
      noMgather === undefined ? mgather(gather, target) : lacks("mgather", noMgather),
      ...(isRows(gather)
        ? [only(rowFetch(gather))]
        : [lacks("row-fetch", "an index of this gather selects one element, not a row")]),
      only(scalar(gather)),
    ];
  }
  return [
    flat(gather, target),
    isRows(gather)
      ? only(rowCopy())
      : lacks("row-copy", "an index of this gather selects one element, not a row"),
    only(scalar(gather)),
  ];
}

/**
 * Returns the lowering class `flat`, in which vector instructions compute addresses and TGATHER fetches the
 * elements. Returns the reason if the gather cannot have the class.
 */
function flat(gather: LoweringFacts, target: Target): Option {
  const programs = flatPrograms(gather, target);
  if (typeof programs === "string") return lacks("flat", programs);
  return {
    class: "flat",
    *instructions() {
      for (const program of programs()) {
        yield {
          ...nothing,
          class: "flat",
          adds: program.adds,
          once: onceOf(program, target),
          // The program has 64-bit index values on the scalar pipe: V takes over from it, and back.
          waits: hasWideIndices(gather) ? 2 : 0,
          flat: program,
        };
      }
    },
  };
}

/** Returns the work of a program before a core's first task and after its last. */
function onceOf({ setup, close }: FlatProgram, target: Target): Instructions["once"] {
  const { steps, stepRepeats } = workOfSteps([...setup.steps, ...close], target);
  const scalars = setup.seeds.reduce((sum, { values }) => sum + values.length, 0);
  return { scalars, steps, stepRepeats };
}

/**
 * Returns the index operand of a plain access map ({@link isPlain}) with exactly one index operand. Undefined
 * for any other map, and if the index value is not exactly one whole coordinate of the data.
 */
function onlyIndex(map: AccessMap): PlainIndex | undefined {
  if (!isPlain(map)) return undefined;
  const indices = plainIndices(map);
  const picking = dataCoords(map).filter((coord) => indicesOf(coord).length > 0);
  const [only] = picking;
  return indices.length === 1 &&
    picking.length === 1 &&
    only !== undefined &&
    soleAtom(only)?.kind === "index"
    ? indices[0]
    : undefined;
}

const hasIndicesOf = ({ inputs }: LoweringFacts, dtype: string): boolean =>
  inputs.slice(gatheredTable + 1).every(({ type }) => type.dtype === dtype);

/** True if the gather moves whole rows of the data's last dim: no index depends on the output's last dim. */
const isRows = ({ map }: LoweringFacts): boolean => rowDim(map) < map.domain.length;

/**
 * Returns the reason why the instruction MGATHER cannot perform a gather; undefined if MGATHER can. MGATHER
 * fetches rows of a rank-2 tensor by 32-bit indices.
 */
function noTable(gather: LoweringFacts, target: Target): string | undefined {
  const { map, inputs, tile } = gather;
  const data = at(inputs, gatheredTable).type;
  const index = onlyIndex(map);
  const rows =
    data.shape.length === 2 &&
    index !== undefined &&
    isRows(gather) &&
    inputs.length === 2 &&
    at(inputs, 1).inTile !== undefined &&
    index.value.at.length === 1 &&
    isDim(index.value.at[0], 0) &&
    hasIndicesOf(gather, "i32");
  if (!rows) return "MGATHER takes rows of a table by a list of i32 indices, which this gather does not have";
  if (isPacked(data.dtype) || bytesOf(data.dtype) > 4)
    return `MGATHER takes elements of 1, 2 and 4 bytes, and ${data.dtype} is none`;
  if (index.outOfRange !== "clamp" && index.outOfRange !== "zero" && index.outOfRange !== "unchecked")
    return `MGATHER has no policy ${index.outOfRange}`;
  // The 950's header takes a table's rows to be as long as those that are fetched (pto-isa
  // include/pto/npu/a5/MGather.hpp:127).
  if (target.isa === "a5" && tile[1] !== data.shape[1])
    return "MGATHER of the 950 fetches whole rows of a table";
  return undefined;
}

const wrapsNegative = (map: AccessMap): boolean =>
  map.indices.some((index) => index.wrapNegativeBy !== undefined);

/** i + n for a negative i: mins, maxs, muls, add. */
const wrapSteps: Steps = { scalar: 3, tile: 1 };
const clamp: Steps = { scalar: 2, tile: 0 };

const sum = (a: Steps, b: Steps): Steps => ({ scalar: a.scalar + b.scalar, tile: a.tile + b.tile });

const hasWideIndices = ({ inputs }: LoweringFacts): boolean =>
  inputs.slice(gatheredTable + 1).some(({ type }) => bitsOf(type.dtype) === 64);

/**
 * Returns the instructions of a row copy: the scalar unit reads the indices, and V copies. Whichever of them
 * the program waits for, there are two waits: to the other unit and back.
 */
const rowCopy = (): Instructions => ({ ...nothing, class: "row-copy", waits: 2 });

/**
 * Returns the instructions of a gather on the scalar unit. 64-bit indices of a tile in UB are on the scalar
 * pipe already; otherwise there are two waits, there and back.
 */
const scalar = (gather: LoweringFacts): Instructions => ({
  ...nothing,
  class: "scalar",
  waits: !inGm(gather) && hasWideIndices(gather) ? 0 : 2,
});

/**
 * Returns the lowering class `mgather`, in which the instruction MGATHER follows steps that wrap or clamp the
 * index values. The class has no instruction sequence if the changed index values exceed the free unified
 * buffer (UB).
 */
function mgather({ map, tile, spareBytes }: LoweringFacts, target: Target): Option {
  // MGATHER's own `zero` takes a negative index for a large one, which is outside as well.
  const steps = sum(wrapsNegative(map) ? wrapSteps : noSteps, policyOf(map) === "clamp" ? clamp : noSteps);
  const changed = steps.scalar + steps.tile > 0;
  const bytes = changed ? alignUp((tile[0] ?? 1) * 4, target.blockBytes) : 0;
  const instructions: Instructions = {
    ...nothing,
    class: "mgather",
    adds: changed ? [{ name: "addresses", bytes }] : [],
    steps,
    // MGATHER waits for V, and V for the load of the indices. On the 950 it runs on V itself, and MTE2 waits
    // for it.
    waits: target.isa === "a5" ? 2 : 1,
  };
  return { class: "mgather", instructions: () => (bytes <= spareBytes ? [instructions] : []) };
}

/**
 * Returns the only instructions of a computed value, in the class by which its rows arrive. Its instructions
 * and waits are counted row by row.
 */
const ofValue = (gather: LoweringFacts): Instructions => ({
  ...nothing,
  class: !computedByRow(gather.map) ? "scalar" : inGm(gather) ? "row-fetch" : "row-copy",
});

/** Returns the instructions of a gather that fetches rows one by one. */
const rowFetch = ({ map }: LoweringFacts): Instructions => ({
  ...nothing,
  class: "row-fetch",
  // MTE2 and MTE3 to the scalar unit and V, and both back to MTE2.
  waits: map.indices.some(({ outOfRange }) => outOfRange === "zero" || outOfRange === "error") ? 5 : 4,
});
