/**
 * Every rule's verdict on a program and its schedule, legal or not, with the numbers and the source of the
 * rule.
 */
import {
  defined,
  outputOf,
  anyLegal,
  bufferBytes,
  CompileError,
  inputsOf,
  isLongerTile,
  judge,
  judgedTile,
  at,
  inputOf,
  largestGatherDims,
  nearestLegal,
  dynamicSymbols,
  otherRemedies,
  printMap,
  statedOrSmallest,
  programLowerBound,
  ratesOf,
  refusals,
  rules as ruleSet,
  sameShape,
  sizeVerdicts,
  rooflineOf,
  targetFacts,
  throwIfErrors,
  smallestRefusal,
  type SmallestRefusal,
  whyNone,
  type AccessFunc,
  type Diagnostic,
  type Footprint,
  type Func,
  type GatherLowering,
  type MachineRates,
  type ResolvedSchedule,
  type Shape,
  type SizeVerdict,
  type Roofline,
  type Sym,
  type Target,
  type Tiling,
  type Traffic,
  type RuleVerdict,
} from "../../ir/index.js";
import {
  clockOf,
  decided,
  defaultPipeline,
  isDefaultPipeline,
  residenciesOf,
  spokenOf,
  remedies,
} from "../../passes/index.js";
import { cyclesRange, type CyclesRange } from "./cycles-range.js";
import { programAtMaxSizes } from "./program-at-max-sizes.js";
import { programAnswer, type AscendAnswer } from "../../backends/ascend-answer.js";
import { gatheredTable } from "../../ir/access.js";
import { accessOf } from "./access.js";
import { frameworkWords, type FrameworkWords } from "./framework-words.js";
import { pagesVerdict, type ProfileVerdict } from "./pages-verdict.js";
import { compareSchedules, type ComparedSchedules, type Comparison } from "./comparison.js";
import { runFigures, tilingOfRun } from "./custom-pipeline.js";
import { performanceHints, reversedOrder, type Reversed } from "./hints.js";
import { slowerResidency } from "./slower-residency.js";
import { checkCompile, resolveTargetOf, compileTiled, type CompileOptions, type Kernel } from "./compile.js";

/**
 * Proof that no tile of a program is legal, with remedies: the largest data that would fit, and legal
 * schedules under other profiles or residencies. `arithmetic`: the proof as text.
 */
export interface Infeasible {
  readonly arithmetic: string;
  /** First rule that the smallest tile breaks. */
  readonly refusal?: SmallestRefusal;
  /**
   * Type of the data with gather dim `dim` cut to the largest legal extent. Absent for a scatter, for dynamic
   * sizes, and if several gather dims or none have a legal extent. Absent also if the output would be longer
   * along the dim.
   */
  readonly shorterData?: { readonly dim: number; readonly type: string };
  /**
   * The largest extent of each dim alone that would fit: of gather dims, or of dims of the output that an
   * index names.
   */
  readonly largestGatherDims: readonly { readonly dim: number; readonly largest: number }[];
  /** Kind of these dims: gathered from, or stored to. */
  readonly dims: "gather" | "stored";
  /** Schedules that the compiler would choose under another profile or residency. */
  readonly waysOut: readonly {
    readonly schedule: ResolvedSchedule;
    readonly flags: string;
    readonly cycles: number;
  }[];
  /** Hint where there is no way out. */
  readonly otherwise: string;
}

/**
 * Result of {@link explain}: the verdict of every rule on a program and its schedule, with traffic, estimated
 * cycles and UB bytes.
 */
export interface Explanation extends Roofline {
  readonly name: string;
  readonly target: string;
  readonly schedule: ResolvedSchedule;
  readonly map: string;
  /** Names of the passes that ran, in order. Absent for the built-in pipeline. */
  readonly passes?: readonly string[];
  readonly legal: boolean;
  /**
   * The tile that is judged, where an entry that is stated covers less than it says: each clipped to its
   * extent or its view.
   */
  readonly judgedTile?: Shape;
  /** The verdict of PyPTO's pages, where the profile is `strict`. */
  readonly pages?: ProfileVerdict;
  readonly rules: readonly RuleVerdict[];
  /** UB footprint of the kernel; for a refused schedule, the least that its tile needs. */
  readonly footprint: Footprint;
  /** The symbols that are open; cycles and traffic are at their most. */
  readonly symbols: readonly Sym[];
  /** Up to which size of each symbol the schedule fits UB; empty for a program of numbers. */
  readonly sizes: readonly SizeVerdict[];
  /** The tile in the words of the framework that sets it by a call of its own. */
  readonly framework?: FrameworkWords;
  /** The nearest legal schedules, the largest tile first; the schedule itself when it is legal. */
  readonly nearest: readonly ResolvedSchedule[];
  /**
   * Proof that no tile is legal under the profile and residency, with ways out; absent if some tile is legal.
   */
  readonly infeasible?: Infeasible;
  readonly traffic: Traffic;
  readonly cycles: number;
  /** Absent where a cycle of the target is no known time. */
  readonly machine?: MachineRates;
  /**
   * On an Ascend core: the instructions of the gather, for one whole tile and before the first, and those
   * that it does not become.
   */
  readonly lowering?: Pick<GatherLowering, "class" | "cycles" | "setup" | "adds" | "lost">;
  /**
   * Conditions under which the Ascend text of a computed value, or of a scatter that combines floats, gives
   * the bits, or the step that it has none for.
   */
  readonly ascend?: AscendAnswer;
  /** The same tile with the loops the other way round, when that moves another number of bytes. */
  readonly reversed?: Reversed;
  /**
   * The cycles at the ends of figures' ranges, where these change them by more than a tenth; derived when it
   * is first read.
   */
  readonly cyclesRange: CyclesRange | undefined;
  /**
   * The schedule beside others, derived when it is first read; undefined for one that is refused, and with
   * passes of the user's.
   */
  readonly comparison: Comparison | undefined;
  /** Derived when they are first read, because hints compare schedules. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Returns the verdict of every rule on a program and its schedule, with traffic, estimated cycles and UB
 * bytes. Throws a CompileError for invalid options, for a tile program, and if the program breaks a dialect
 * rule. Throws a CompileError also for schedule entries of invalid shape or value (TC302, TC303) and for an
 * invalid access map (TC201).
 */
export function explain(program: Func, options: CompileOptions = {}): Explanation {
  throwIfErrors(checkCompile(program, options));
  const target = resolveTargetOf(program, options);
  const { access, kernel, tiling, diagnostics } = judgedProgram(program, options, target);
  const { passes = defaultPipeline } = options;
  const custom = !isDefaultPipeline(passes);
  const bound = bufferBytes(access, target);
  const rules = [...judge(tiling), ...bound].map((verdict) => ({ ...verdict }));
  // No schedule makes a buffer smaller.
  const unbound = bound.find(({ pass }) => !pass);
  const legal = rules.every((rule) => rule.pass);
  const figures = kernel !== undefined && custom ? runFigures(kernel, tiling) : undefined;
  const { clock, traffic } = figures ?? { clock: clockOf(tiling), traffic: tiling.traffic };
  // Other schedules are judged as the built-in pipeline makes them.
  const compares = legal && !custom;
  const requested = custom ? undefined : accessOf(program, options);
  const given = compares ? requested : undefined;
  const pages =
    requested === undefined
      ? undefined
      : pagesVerdict(program, options, { access: requested, target, legal });
  const nearest = legal ? [tiling] : unbound === undefined ? nearestLegal(tiling) : [];
  let comparison: ComparedSchedules | undefined;
  let advice: readonly Diagnostic[] | undefined;
  let range: { readonly of: CyclesRange | undefined } | undefined;
  const compared = (of: AccessFunc): ComparedSchedules => (comparison ??= compareSchedules(of, tiling));
  return {
    name: access.name,
    target: target.name,
    schedule: tiling.schedule,
    map: printMap(access.map, {
      names: inputsOf(access).map((input) => input.name),
      inputs: inputsOf(access).map((input) => input.type),
      output: outputOf(access).type.shape,
    }),
    ...(custom ? { passes: passes.map((pass) => pass.name) } : {}),
    legal,
    ...defined({ judgedTile: clippedTile(requested, tiling), pages }),
    rules,
    footprint: tiling.footprint,
    symbols: dynamicSymbols(access),
    sizes: sizeVerdicts(tiling),
    ...(access.framework === undefined
      ? {}
      : { framework: frameworkWords(access.framework, tiling, nearest[0], requested?.schedule) }),
    nearest: nearest.map((near) => near.schedule),
    ...defined({ infeasible: unbound === undefined ? infeasible(tiling) : unboundBuffer(unbound) }),
    traffic,
    cycles: clock.cycles,
    ...rooflineOf({ traffic, target }, clock, programLowerBound(tiling)),
    ...defined({ machine: ratesOf(target) }),
    ...(clock.lowering === undefined || !targetFacts[target.kind].vectorUnit
      ? {}
      : { lowering: shown(clock.lowering) }),
    ...defined({ ascend: targetFacts[target.kind].runsPto ? programAnswer(access) : undefined }),
    ...defined({ reversed: compares ? reversedOrder(tiling) : undefined }),
    get cyclesRange() {
      range ??= { of: kernel === undefined ? undefined : cyclesRange(programAtMaxSizes(kernel), target) };
      return range.of;
    },
    get comparison() {
      return given === undefined ? undefined : compared(given).comparison;
    },
    get diagnostics() {
      advice ??= [
        ...diagnostics,
        ...(given === undefined
          ? []
          : [
              ...performanceHints(tiling, () => compared(given)),
              ...slowerResidency(given, tiling, () => compared(given).better),
            ]),
      ];
      return advice;
    },
  };
}

/** A program as its passes leave it: its schedule, which `diagnostics` may refuse. */
interface JudgedProgram {
  readonly access: AccessFunc;
  /** Absent if the program is refused. */
  readonly kernel: Kernel | undefined;
  readonly tiling: Tiling;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Compiles a program, and returns the schedule that its passes chose or refused. Throws a CompileError for a
 * program without a schedule to explain: it breaks a dialect rule or the rules of access maps, or a schedule
 * entry has an invalid shape or value.
 */
function judgedProgram(program: Func, options: CompileOptions, target: Target): JudgedProgram {
  const compiled = compileTiled(program, options);
  const access = compiled.ok ? compiled.kernel.access : accessOf(program, options);
  if (access === undefined) throw new CompileError(compiled.ok ? [] : compiled.diagnostics);
  const { diagnostics } = compiled.ok ? compiled.kernel : compiled;
  const unexplained = diagnostics.filter((d) => ["TC201", "TC302", "TC303"].includes(d.code));
  if (unexplained.length > 0) throw new CompileError(unexplained);
  // What is refused has no kernel: its bytes are those that its tile needs.
  if (!compiled.ok) return { access, kernel: undefined, tiling: attempted(access, target), diagnostics };
  const { kernel, tiling } = compiled;
  const ofKernel = isDefaultPipeline(options.passes ?? defaultPipeline)
    ? undefined
    : tilingOfRun(kernel, access);
  return { access, kernel, tiling: decided(ofKernel ?? tiling ?? attempted(access, target)), diagnostics };
}

/**
 * Returns the tile that the rules judge, if it covers less than the tile that is requested; undefined
 * otherwise.
 */
function clippedTile(requested: AccessFunc | undefined, tiling: Tiling): Shape | undefined {
  if (requested?.schedule.tile === undefined) return undefined;
  const judged = judgedTile(tiling);
  const isClipped = isLongerTile(requested, requested.schedule) || !sameShape(judged, tiling.schedule.tile);
  return isClipped ? judged : undefined;
}

/**
 * Returns the type of the data with the gather dim cut to the largest legal extent. Undefined for a scatter,
 * for dynamic sizes, and unless exactly one gather dim has a legal extent. Undefined also if data and indices
 * share the dim and the output is longer along the dim than that extent.
 */
function shorterData(
  { gather, scatter }: Tiling,
  [fitting, ...others]: Infeasible["largestGatherDims"],
): Infeasible["shorterData"] {
  if (
    scatter !== undefined ||
    fitting === undefined ||
    others.length > 0 ||
    dynamicSymbols(gather).length > 0
  )
    return undefined;
  const { dim, largest } = fitting;
  if (gather.sharedDims.includes(dim) && at(outputOf(gather).type.shape, dim) > largest) return undefined;
  const { dtype, shape } = inputOf(gather, gatheredTable).type;
  return { dim, type: `${dtype}[${shape.with(dim, largest).join()}]` };
}

/** Returns the proof that no tile of a program is legal; undefined if some tile is legal. */
function infeasible(tiling: Tiling): Infeasible | undefined {
  if (anyLegal(tiling)) return undefined;
  const fitting = tiling.residency === "gm" ? [] : largestGatherDims(tiling);
  return {
    arithmetic: whyNone(tiling),
    ...defined({ refusal: smallestRefusal(tiling), shorterData: shorterData(tiling, fitting) }),
    largestGatherDims: fitting,
    dims: tiling.scatter === undefined ? "gather" : "stored",
    waysOut: remedies(tiling).map((remedy) => ({
      schedule: remedy.tiling.schedule,
      flags: remedy.flags,
      cycles: clockOf(remedy.tiling).cycles,
    })),
    otherwise:
      refusals(ruleSet.deviceLimits, tiling)[0]?.hint ??
      refusals(ruleSet.residency, tiling)[0]?.hint ??
      otherRemedies(tiling),
  };
}

/** Returns what a tensor that no buffer of the device holds leaves: another machine, or smaller tensors. */
const unboundBuffer = ({ rule, detail }: RuleVerdict): Infeasible => ({
  arithmetic: detail,
  refusal: { rule, detail },
  largestGatherDims: [],
  dims: "gather",
  waysOut: [],
  otherwise: "split the tensor, or --target cpu",
});

const shown = ({
  class: kind,
  cycles,
  setup,
  adds,
  lost,
}: GatherLowering): NonNullable<Explanation["lowering"]> => ({
  class: kind,
  cycles,
  setup,
  adds,
  lost,
});

/**
 * Returns the schedule that was refused: the user's tile and view, or the smallest tile where none was given.
 */
function attempted(access: AccessFunc, target: Target): Tiling {
  return statedOrSmallest(spokenOf(access, residenciesOf(access, target), target));
}
