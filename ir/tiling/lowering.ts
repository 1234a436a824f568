/**
 * Which instructions a gather becomes on its target, decided once: the footprint, the clock and a code generator read
 * the same answer.
 *
 * On Ascend, after PTO-ISA's instructions (TGATHER, TMOV, MGATHER, TLOAD, GetValue and SetValue):
 *
 *   flat        data in UB: index values to addresses by vector instructions, one TGATHER for a run of rows (flat.ts)
 *   row-copy    data in UB: for each row a scalar index and a copy of blocks
 *   mgather     data in gm: MGATHER fetches rows of a table
 *   row-fetch   data in gm: for each row a scalar index and a load
 *   scalar      anything else: element by element on the scalar unit
 *
 * What a class adds to UB takes what the program's buffers leave free. Among the classes for which that is enough, the one with the
 * fewest cycles is taken: `row-copy`, `row-fetch` and `scalar` add nothing, so a tile that fits its footprint always has a lowering.
 *
 * `direct` is every gather of a target that is no Ascend core: its lanes, or its one core, read and write in place.
 */
import { gatheredTable, indexed, policyOf, type AccessMap } from "../access.js";
import { sitesOf, soleAtom, type Linear } from "../linear.js";
import { targetFacts, type Target } from "../target.js";
import { ubStrides, type Pipe } from "../tile.js";
import { alignUp, at, bytesOf, elementCount } from "../types.js";
import { flatProgram } from "./flat.js";
import type { Footprint } from "./footprint.js";
import type { GatherClass } from "../schedule.js";
import type {
  GatherLowering,
  Held,
  Instructions,
  LostClass,
  LoweringFacts,
  Steps,
} from "./gather-lowering.js";
import { cyclesOfWork, gatherWork, workOfSteps } from "./gather-work.js";
import type { Loop } from "./loops.js";
import { isPlain, plainSites, type PlainSite } from "./plain.js";
import type { TiledGather } from "./tiled.js";

export { hasPtoForm } from "./plain.js";

export type { GatherLowering, LoweringFacts, Steps } from "./gather-lowering.js";

const noSteps: Steps = { scalar: 0, tile: 0 };
const nothing = {
  adds: [],
  steps: noSteps,
  once: { scalars: 0, steps: 0, stepRepeats: 0 },
  waits: 0,
} as const;

const direct: GatherLowering = { ...nothing, class: "direct", cycles: 0, lost: [] };

/** The lowering of a gather under a schedule. */
export function loweringOf(
  tiling: TiledGather & {
    readonly loops: readonly Loop[];
    readonly footprint: Pick<Footprint, "parts" | "planned">;
  },
): GatherLowering {
  const { gather, schedule, target, tile, extents, operands, loops, footprint } = tiling;
  if (!targetFacts[target.kind].vectorUnit) return direct;
  const looped = new Set(loops.map((loop) => loop.dim));
  const ragged = tile.flatMap((entry, d) => {
    const view = Math.min(at(schedule.view, d), at(extents, d));
    return looped.has(d) && (view % entry !== 0 || at(extents, d) % entry !== 0) ? [d] : [];
  });
  const innermost = loops.at(-1);
  const held = operands.map(({ operand: { type }, tile: shape, inUb }): Held => {
    if (!inUb) return { type };
    const rowBytes = alignUp((shape.at(-1) ?? 1) * bytesOf(type.dtype), target.blockBytes);
    return { type, inTile: ubStrides({ dtype: type.dtype, shape, rowBytes }) };
  });
  const scratch = footprint.parts.reduce(
    (sum, { part, padded, buffers }) => sum + (part === "scratch" ? padded * buffers : 0),
    0,
  );
  return lowerGather(
    {
      map: gather.map,
      inputs: held.slice(0, -1),
      output: at(held, held.length - 1),
      tile,
      ragged: new Set(ragged),
      // A load leaves the serial loops that its operand does not follow.
      freshIndices: operands
        .slice(1, -1)
        .every(({ inUb, follows }) => inUb && (innermost?.mode !== "serial" || follows.has(innermost.dim))),
      spareBytes: schedule.ubBytes - footprint.planned + scratch,
      ...(schedule.lowering === undefined ? {} : { asked: schedule.lowering }),
    },
    target,
  );
}

/** A class with its instructions, or why the gather does not have it. */
type Way = Instructions | Extract<LostClass, { readonly reason: string }>;

const lacks = (kind: GatherClass, reason: string, room = false): Way => ({ class: kind, reason, room });

/** The class of a gather on a target, which footprint, clock and code generation read. */
export function lowerGather(gather: LoweringFacts, target: Target): GatherLowering {
  if (!targetFacts[target.kind].vectorUnit) return direct;
  const ways = waysOf(gather, target).map((way) =>
    "reason" in way ? way : { ...way, cycles: cyclesOf(way, gather, target) },
  );
  const found = ways.flatMap((way) => ("reason" in way ? [] : [way]));
  const chosen =
    found.find((way) => way.class === gather.asked) ??
    found.reduce((best, way) => (way.cycles < best.cycles ? way : best));
  const lost = ways.flatMap((way): LostClass[] => {
    if (way === chosen) return [];
    return "reason" in way ? [way] : [{ class: way.class, cycles: way.cycles }];
  });
  return { ...chosen, lost };
}

const cyclesOf = (way: Instructions, gather: LoweringFacts, target: Target): number =>
  cyclesOfWork(
    gatherWork({ ...gather, lowering: way }, gather.tile, target),
    pipeOfGather(gather),
    target,
    1,
  );

const inGm = ({ inputs }: LoweringFacts): boolean => at(inputs, gatheredTable).inTile === undefined;

const pipeOfGather = (gather: LoweringFacts): Pipe => (inGm(gather) ? "MTE2" : "V");

/** The classes of a gather's residency, with what they make of it. */
function waysOf(gather: LoweringFacts, target: Target): readonly Way[] {
  // No index names an element of data that has none: each is looked at, and reads as its policy says.
  if (elementCount(at(gather.inputs, gatheredTable).type.shape) === 0) return [scalar(gather)];
  if (inGm(gather)) {
    return [
      isTable(gather, target)
        ? mgather(gather, target)
        : lacks("mgather", "the gather takes no rows of a table by a list of i32 indices"),
      isRows(gather) ? rowFetch(gather) : lacks("row-fetch", "no index names whole rows"),
      scalar(gather),
    ];
  }
  return [
    flat(gather, target),
    isRows(gather) ? rowCopy() : lacks("row-copy", "no index names whole rows"),
    scalar(gather),
  ];
}

function flat(gather: LoweringFacts, target: Target): Way {
  const program = flatProgram(gather, target);
  if ("reason" in program) return { class: "flat", ...program };
  const { seeds, steps: first } = program.setup;
  const { steps, stepRepeats } = workOfSteps([...first, ...program.close], target);
  return {
    ...nothing,
    class: "flat",
    adds: program.adds,
    once: {
      scalars: seeds.reduce((sum, { values }) => sum + values.length, 0),
      steps,
      stepRepeats,
    },
    // The program has 64-bit index values on the scalar pipe: V takes over from it, and back.
    waits: hasWideIndices(gather) ? 2 : 0,
    flat: program,
  };
}

/** The one site of a map that has no other and picks along one dim of the data. */
function onlySite(map: AccessMap): PlainSite | undefined {
  if (!isPlain(map)) return undefined;
  const sites = plainSites(map);
  const { results } = map;
  const picking = results.filter((coord) => sitesOf(coord).length > 0);
  const [only] = picking;
  return sites.length === 1 && picking.length === 1 && only !== undefined && soleAtom(only)?.kind === "site"
    ? sites[0]
    : undefined;
}

const isDim = (coord: Linear | undefined, dim: number): boolean => {
  const only = coord === undefined ? undefined : soleAtom(coord);
  return only?.kind === "dim" && only.dim === dim;
};

const hasIndicesOf = ({ inputs }: LoweringFacts, dtype: string): boolean =>
  inputs.slice(gatheredTable + 1).every(({ type }) => type.dtype === dtype);

/** Whole rows of data's last dim: no index follows the output's last dim. */
function isRows({ map }: LoweringFacts): boolean {
  const inner = map.outRank - 1;
  return inner >= 0 && !indexed(map).has(inner) && isDim(map.results[map.results.length - 1], inner);
}

/** MGATHER: rows of a table of rank 2 by a list of 32-bit indices. */
function isTable(gather: LoweringFacts, target: Target): boolean {
  const { map, inputs, tile } = gather;
  const data = at(inputs, gatheredTable).type;
  const site = onlySite(map);
  // The 950's header takes a table's rows to be as long as those that are fetched (pto-isa include/pto/npu/a5/MGather.hpp:127).
  const whole = target.isa !== "a5" || tile[1] === data.shape[1];
  return (
    whole &&
    data.shape.length === 2 &&
    site !== undefined &&
    isRows(gather) &&
    inputs.length === 2 &&
    site.value.at.length === 1 &&
    isDim(site.value.at[0], 0) &&
    hasIndicesOf(gather, "i32") &&
    bytesOf(data.dtype) <= 4 &&
    (site.keep === "clamp" || site.keep === "zero" || site.keep === "unchecked")
  );
}

const countsFromEnd = (map: AccessMap): boolean => map.sites.some((site) => site.fromEnd !== undefined);

/** i + n for a negative i: mins, maxs, muls, add. */
const fromEnd: Steps = { scalar: 3, tile: 1 };
const clamp: Steps = { scalar: 2, tile: 0 };

const sum = (a: Steps, b: Steps): Steps => ({ scalar: a.scalar + b.scalar, tile: a.tile + b.tile });

const hasWideIndices = ({ inputs }: LoweringFacts): boolean =>
  inputs.slice(gatheredTable + 1).some(({ type }) => bytesOf(type.dtype) === 8);

/** The scalar unit reads the indices and V copies, whichever of them the program has wait: to the other one and back. */
const rowCopy = (): Instructions => ({ ...nothing, class: "row-copy", waits: 2 });

/** 64-bit indices of a tile in UB are on the scalar pipe already; otherwise there and back. */
const scalar = (gather: LoweringFacts): Instructions => ({
  ...nothing,
  class: "scalar",
  waits: !inGm(gather) && hasWideIndices(gather) ? 0 : 2,
});

function mgather({ map, tile }: LoweringFacts, target: Target): Way {
  // MGATHER's own `zero` takes a negative index for a large one, which is outside as well.
  const steps = sum(countsFromEnd(map) ? fromEnd : noSteps, policyOf(map) === "clamp" ? clamp : noSteps);
  const changed = steps.scalar + steps.tile > 0;
  const bytes = alignUp((tile[0] ?? 1) * 4, target.blockBytes);
  return {
    ...nothing,
    class: "mgather",
    adds: changed ? [{ name: "addresses", bytes }] : [],
    steps,
    // MGATHER waits for V, and V for the load of the indices. On the 950 it runs on V itself, and MTE2 waits for it.
    waits: target.isa === "a5" ? 2 : 1,
  };
}

/** MTE2 and MTE3 to the scalar unit and V, and both back to MTE2. */
const rowFetch = ({ map }: LoweringFacts): Instructions => ({
  ...nothing,
  class: "row-fetch",
  waits: map.sites.some(({ keep }) => keep === "zero" || keep === "error") ? 5 : 4,
});
