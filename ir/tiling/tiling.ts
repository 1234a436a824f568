/**
 * A tiling: what a gather becomes under a schedule on a target. Made once; the rules, lowering, costs and every report read
 * its parts instead of deriving them again.
 */
import { outputOf, type AccessFunc } from "../func.js";
import type { Residency, ResolvedSchedule } from "../schedule.js";
import { targetFacts, type Target } from "../target.js";
import { at, elementCount, type Shape } from "../types.js";
import { buffersOf, copiesOf, keptSingle, streamedOperands } from "./copies.js";
import { footprintOf, ubCapacity, withAdded, type Footprint } from "./footprint.js";
import { tiledLoops, type Loop } from "./loops.js";
import { direct, likeliest, loweringFacts, waysOf, type GatherLowering, type Ways } from "./lowering.js";
import { dataResidency } from "./residency.js";
import { takenSchedule } from "./taken-schedule.js";
import { entryLimits, tiledOperands, type TiledGather, type TiledOperand } from "./tiled.js";
import { trafficOf, type Traffic } from "./traffic.js";

interface Parts {
  operands?: readonly TiledOperand[];
  need?: Footprint;
  loops?: readonly Loop[];
  ways?: Ways;
  lowering?: GatherLowering;
  traffic?: Traffic;
  /** How the gather of its program is done, once that is known. */
  done?: GatherLowering;
}

/** Each part is derived when it is first asked for. */
export class Tiling implements TiledGather {
  readonly extents: Shape;
  readonly tile: Shape;
  readonly cut: Shape;
  readonly terms: number;
  /** Where the data is. */
  readonly residency: Residency;
  /** The schedule, its tile of as many entries as the profile takes. */
  readonly schedule: ResolvedSchedule;

  constructor(
    readonly gather: AccessFunc,
    stated: ResolvedSchedule,
    readonly target: Target,
    /** Parts that are known. */
    private readonly parts: Parts = {},
    /** Ways to do the gather on the target, by what of a schedule they depend on. */
    private readonly known = new Map<string, Ways>(),
    /** UB that the kernel takes, where the lowering of its program is known. */
    private readonly kernel?: Footprint,
  ) {
    const schedule = takenSchedule(gather, stated);
    const { tile, view } = schedule;
    this.schedule = schedule;
    this.extents = outputOf(gather).type.shape;
    this.cut = entryLimits(gather).map((limit, d) => Math.min(at(tile, d), at(view, d), limit));
    this.tile = this.cut.map((entry, d) => Math.min(entry, at(this.extents, d)));
    const { most } = gather.map.reduced ?? { most: 0 };
    this.terms = Math.min(tile[this.extents.length] ?? most, most);
    this.residency = dataResidency(gather, schedule);
  }

  get operands(): readonly TiledOperand[] {
    return (this.parts.operands ??= tiledOperands(this));
  }

  /** UB that the tile needs, by which it is judged. */
  get need(): Footprint {
    return (this.parts.need ??= footprintOf(this));
  }

  /** UB that the kernel takes, of a tiling whose lowering is `decided`; what the tile needs of another one. */
  get footprint(): Footprint {
    return this.kernel ?? this.need;
  }

  /** Outermost first; loops with one trip are left out. */
  get loops(): readonly Loop[] {
    return (this.parts.loops ??= tiledLoops(this));
  }

  /** How the gather can be done. */
  get ways(): Ways {
    return (this.parts.ways ??= this.knownWays());
  }

  /** Which instructions the gather is likely to become: the clock of its program decides. */
  get lowering(): GatherLowering {
    return (this.parts.lowering ??= likeliest(this));
  }

  get traffic(): Traffic {
    return (this.parts.traffic ??= trafficOf(this));
  }

  /**
   * Returns the same with the lowering of its program, which its footprint then counts; itself where the tile does not fit. `found`: asked
   * for once for all tilings of one gather and schedule.
   */
  decided(found: () => GatherLowering): Tiling {
    const { need, parts } = this;
    if (this.kernel !== undefined || need.planned > ubCapacity(this)) return this;
    const { gather, schedule, target, known } = this;
    // The program of an output without elements takes nothing.
    if (elementCount(this.extents) === 0)
      return new Tiling(gather, schedule, target, parts, known, withAdded({ ...need, parts: [] }, []));
    const lowering = (parts.done ??= found());
    const kernel = withAdded(need, lowering.adds);
    return new Tiling(gather, schedule, target, { ...parts, lowering }, known, kernel);
  }

  /** The same gather on the same target under another schedule. */
  with(changes: Partial<ResolvedSchedule>): Tiling {
    const onlyCopies = "buffers" in changes && Object.keys(changes).length === 1;
    const same = onlyCopies ? { operands: this.operands, loops: this.loops } : {};
    return new Tiling(this.gather, { ...this.schedule, ...changes }, this.target, same, this.known);
  }

  /** A gather under the same schedule; with what is known of this one where its tensors and its map are those of it. */
  of(gather: AccessFunc): Tiling {
    const { map, operands, paired } = this.gather;
    const same = gather.map === map && gather.operands === operands && gather.paired === paired;
    return new Tiling(gather, this.schedule, this.target, same ? this.parts : {});
  }

  /** Of many schedules, a search finds few that differ in this: one for each tile, and for the bytes that its copies leave free. */
  private knownWays(): Ways {
    if (!targetFacts[this.target.kind].vectorUnit) return direct;
    const facts = loweringFacts(this);
    const held = this.operands.map(({ inUb }) => Number(inUb)).join("");
    const { tile, ragged, freshIndices, spareBytes, asked } = facts;
    const key = `${tile.join()} ${held} ${[...ragged].join()} ${freshIndices} ${spareBytes} ${asked}`;
    const ways = this.known.get(key) ?? waysOf(facts, this.target);
    this.known.set(key, ways);
    return ways;
  }
}

/**
 * The tilings of one pipeline. Its passes hand a gather and its schedule on, and ask for what they mean one after the other: the
 * latest tiling serves all that ask for the same.
 */
export class Tilings {
  private latest: Tiling | undefined;

  constructor(private readonly target: Target) {}

  /** What a gather means under a schedule on the pipeline's target. */
  of(gather: AccessFunc, schedule: ResolvedSchedule): Tiling {
    const { latest, target } = this;
    const known = latest?.schedule === schedule && latest.target === target ? latest : undefined;
    if (known?.gather === gather) return known;
    return (this.latest = known?.of(gather) ?? new Tiling(gather, schedule, target));
  }

  /** The tiling that a pass chose, with what it found out about it. */
  keep(tiling: Tiling): void {
    this.latest = tiling;
  }
}

/** The same without the second copies that are asked for by name and not kept. */
export function honoured(tiling: Tiling): Tiling {
  if (keptSingle(tiling).length === 0) return tiling;
  const doubled = streamedOperands(tiling).filter((operand) => copiesOf(tiling, operand) === 2);
  return tiling.with({ buffers: buffersOf(tiling, doubled) });
}
