/**
 * A tiling: what a gather becomes under a schedule on a target. Made once; the rules, lowering, costs and
 * every report read its parts instead of deriving them again.
 */
import type { AccessFunc } from "../func.js";
import { isScatter } from "../access.js";
import type { Residency, ResolvedSchedule } from "../schedule.js";
import { targetFacts, type Target } from "../target.js";
import { at, elementCount, type Shape } from "../types.js";
import { buffersOf, copiesOf, keptSingle, streamedOperands } from "./copies.js";
import { footprintOf, ubCapacity, withAdded, type Footprint } from "./footprint.js";
import { tiledLoops, type Loop } from "./loops.js";
import {
  direct,
  likeliest,
  loweringFacts,
  loweringsOf,
  type GatherLowering,
  type Lowerings,
} from "./lowering.js";
import { dataResidency } from "./residency.js";
import { takenSchedule } from "./taken-schedule.js";
import { scatterFootprint } from "./scatter-footprint.js";
import { tiledTables, tileScatter, type ScatterTiling } from "./scatter-tiling.js";
import { scatterTraffic } from "./scatter-traffic.js";
import { entryLimits, tiledOperands, type TiledGather, type TiledOperand } from "./tiled.js";
import { trafficOf, type Traffic } from "./traffic.js";

/** Parts of a tiling that are derived when they are first read; undefined before. */
interface Derived {
  cut: Shape | undefined;
  operands: readonly TiledOperand[] | undefined;
  need: Footprint | undefined;
  loops: readonly Loop[] | undefined;
  lowerings: Lowerings | undefined;
  lowering: GatherLowering | undefined;
  traffic: Traffic | undefined;
  scatter: ScatterTiling | undefined;
  /** Lowering of the gather in its program, once it is known. */
  done: GatherLowering | undefined;
}

/** Returns the parts of a new tiling, all members in one order: a search reads them thousands of times. */
const noneDerived = (): Derived => ({
  cut: undefined,
  operands: undefined,
  need: undefined,
  loops: undefined,
  lowerings: undefined,
  lowering: undefined,
  traffic: undefined,
  scatter: undefined,
  done: undefined,
});

/**
 * Result of applying a schedule to a gather or scatter on a target: tiles, loops, footprint, traffic and
 * lowerings.
 */
export class Tiling implements TiledGather {
  readonly extents: Shape;
  readonly tile: Shape;
  readonly reductionTile: number;
  /** Residency of the data. */
  readonly residency: Residency;
  /** Schedule, whose tile has as many extents as the PyPTO rule profile accepts. */
  readonly schedule: ResolvedSchedule;

  constructor(
    readonly gather: AccessFunc,
    stated: ResolvedSchedule,
    readonly target: Target,
    /** Parts that are known. */
    private readonly derived: Derived = noneDerived(),
    /** Ways to do the gather on the target, by what of a schedule they depend on. */
    private readonly cached = new Map<string, Lowerings>(),
    /** UB that the kernel takes, where the lowering of its program is known. */
    private readonly kernel?: Footprint,
  ) {
    const schedule = takenSchedule(gather, stated);
    const { tile, view } = schedule;
    this.schedule = schedule;
    this.extents = gather.map.domain;
    this.tile = this.extents.map((extent, d) => Math.min(at(tile, d), at(view, d), extent));
    const { max } = gather.map.reduced ?? { max: 0 };
    this.reductionTile = Math.min(tile[this.extents.length] ?? max, max);
    this.residency = dataResidency(gather, schedule);
  }

  get cut(): Shape {
    const { tile, view } = this.schedule;
    return (this.derived.cut ??= entryLimits(this.gather).map((limit, d) =>
      Math.min(at(tile, d), at(view, d), limit),
    ));
  }

  /** Tiling of a scatter; undefined for a gather. */
  get scatter(): ScatterTiling | undefined {
    const { gather, schedule, target, derived } = this;
    if (!isScatter(gather.map)) return undefined;
    return (derived.scatter ??= tileScatter(gather, schedule, target));
  }

  get operands(): readonly TiledOperand[] {
    const { scatter } = this;
    return (this.derived.operands ??= scatter === undefined ? tiledOperands(this) : tiledTables(scatter));
  }

  /** UB that the tile needs, by which it is judged. */
  get need(): Footprint {
    const { scatter } = this;
    return (this.derived.need ??= scatter === undefined ? footprintOf(this) : scatterFootprint(scatter));
  }

  /**
   * UB that the kernel takes, of a tiling whose lowering is `decided`; what the tile needs of another one.
   */
  get footprint(): Footprint {
    return this.kernel ?? this.need;
  }

  /** Outermost first; loops with one trip are left out. */
  get loops(): readonly Loop[] {
    return (this.derived.loops ??= this.scatter?.loops ?? tiledLoops(this));
  }

  /** Lowerings that the gather can have. */
  get lowerings(): Lowerings {
    return (this.derived.lowerings ??= this.cachedLowerings());
  }

  /** Likely lowering of the gather; the clock of its program decides. */
  get lowering(): GatherLowering {
    return (this.derived.lowering ??= likeliest(this));
  }

  get traffic(): Traffic {
    const { scatter } = this;
    return (this.derived.traffic ??= scatter === undefined ? trafficOf(this) : scatterTraffic(scatter));
  }

  /**
   * Returns the same with the lowering of its program, which its footprint then counts; itself where the tile
   * does not fit. `decide`: asked for once for all tilings of one gather and schedule.
   */
  decided(decide: () => GatherLowering): Tiling {
    const { need, derived } = this;
    if (this.kernel !== undefined || need.planned > ubCapacity(this)) return this;
    const { gather, schedule, target, cached } = this;
    // The program of an output without elements takes nothing.
    if (this.scatter === undefined && elementCount(this.extents) === 0)
      return new Tiling(gather, schedule, target, derived, cached, withAdded({ ...need, parts: [] }, []));
    const lowering = (derived.done ??= decide());
    const kernel = withAdded(need, lowering.adds);
    return new Tiling(gather, schedule, target, { ...derived, lowering }, cached, kernel);
  }

  /** Returns the same gather on the same target under another schedule. */
  with(changes: Partial<ResolvedSchedule>): Tiling {
    const onlyCopies = "buffers" in changes && Object.keys(changes).length === 1;
    const derived = noneDerived();
    if (onlyCopies) [derived.operands, derived.loops] = [this.operands, this.loops];
    return new Tiling(this.gather, { ...this.schedule, ...changes }, this.target, derived, this.cached);
  }

  /**
   * Returns a gather under the same schedule; with what is known of this one where its tensors and its map
   * are those of it.
   */
  of(gather: AccessFunc): Tiling {
    const { map, operands, sharedDims } = this.gather;
    const same = gather.map === map && gather.operands === operands && gather.sharedDims === sharedDims;
    return new Tiling(gather, this.schedule, this.target, same ? this.derived : noneDerived());
  }

  /**
   * Returns the lowerings from a cache. The schedules of a search share few keys: one for each tile and each
   * number of bytes that its copies leave free.
   */
  private cachedLowerings(): Lowerings {
    if (!targetFacts[this.target.kind].vectorUnit || this.scatter !== undefined) return direct;
    const facts = loweringFacts(this);
    const residency = this.operands.map(({ inUb }) => Number(inUb)).join("");
    const { tile, ragged, freshIndices, spareBytes, requested } = facts;
    const key = `${tile.join()} ${residency} ${[...ragged].join()} ${freshIndices} ${spareBytes} ${requested}`;
    const lowerings = this.cached.get(key) ?? loweringsOf(facts, this.target);
    this.cached.set(key, lowerings);
    return lowerings;
  }
}

/** Cache of the latest tiling in one pipeline, for passes that request the same tiling repeatedly. */
export class Tilings {
  private latest: Tiling | undefined;

  constructor(private readonly target: Target) {}

  /** Returns the tiling of a gather under a schedule on the pipeline's target. */
  of(gather: AccessFunc, schedule: ResolvedSchedule): Tiling {
    const { latest, target } = this;
    const tiling = latest?.schedule === schedule && latest.target === target ? latest : undefined;
    if (tiling?.gather === gather) return tiling;
    return (this.latest = tiling?.of(gather) ?? new Tiling(gather, schedule, target));
  }

  /** Stores the tiling that a pass chose, together with the results that it cached. */
  remember(tiling: Tiling): void {
    this.latest = tiling;
  }
}

/**
 * Returns a tiling without impossible requests for double buffering. Returns the same object if all requests
 * are possible.
 */
export function honoured(tiling: Tiling): Tiling {
  if (keptSingle(tiling).length === 0) return tiling;
  const doubled = streamedOperands(tiling).filter((operand) => copiesOf(tiling, operand) === 2);
  return tiling.with({ buffers: buffersOf(tiling, doubled) });
}
