/** Every rule's verdict on a program and its schedule, legal or not, with the numbers and the source of the rule. */
import {
  CompileError,
  hasErrors,
  printMap,
  throwIfErrors,
  type AccessFunc,
  type Diagnostic,
  type Footprint,
  type Func,
  type ResolvedSchedule,
} from "../../ir/index.js";
import { isResolved } from "../../ir/schedule.js";
import {
  anyLegal,
  canonicalizeAccess,
  cost,
  footprintOf,
  fullLoadVerdicts,
  gatherOf,
  gmAllowed,
  largestGatherDims,
  nearestLegal,
  pinnedDims,
  requiredView,
  runPipeline,
  smallest,
  smallestArithmetic,
  traffic,
  waysOut,
  withDefaults,
  type RuleVerdict,
  type Traffic,
} from "../../passes/index.js";
import { performanceHints, reversedOrder, type Alternative } from "./hints.js";
import { checkCompile, resolveTargetOf, scheduled, tryCompile, type CompileOptions } from "./compile.js";

export interface Explanation {
  readonly name: string;
  readonly target: string;
  readonly schedule: ResolvedSchedule;
  readonly map: string;
  readonly legal: boolean;
  readonly rules: readonly RuleVerdict[];
  readonly footprint: Footprint;
  /** The nearest legal schedules, the largest tile first; the schedule itself when it is legal. */
  readonly nearest: readonly ResolvedSchedule[];
  /** When no tile at all is legal under the profile and residency. */
  readonly infeasible?: {
    readonly arithmetic: string;
    readonly largestGatherDims: readonly { readonly dim: number; readonly largest: number }[];
    readonly waysOut: readonly ResolvedSchedule[];
  };
  readonly traffic: Traffic;
  readonly cycles: number;
  /** The same tile with the loops the other way round, when that moves another number of bytes. */
  readonly reversed?: Alternative;
  readonly diagnostics: readonly Diagnostic[];
}

/** Throws a CompileError when the program is no program: a rule of its dialect is broken, or it is a tile program. */
export function explain(program: Func, options: CompileOptions = {}): Explanation {
  throwIfErrors(checkCompile(program, options));
  const target = resolveTargetOf(program, options);
  const compiled = tryCompile(program, options);
  const access = compiled.ok ? compiled.kernel.access : canonical(program, options);
  if (access === undefined) throw new CompileError(compiled.ok ? [] : compiled.diagnostics);
  const schedule = compiled.ok && isResolved(access.schedule) ? access.schedule : attempted(access, target);
  const diagnostics = compiled.ok ? compiled.kernel.diagnostics : compiled.diagnostics;
  const broken = diagnostics.filter((d) => d.code === "TC302" || d.code === "TC303");
  if (broken.length > 0) throw new CompileError(broken);
  const footprint = footprintOf(access, schedule, target);
  const rules: RuleVerdict[] = [
    ...residencyVerdict(access, schedule, target),
    ...wholeVerdicts(access, schedule),
    ...fullLoadVerdicts(access, schedule),
    {
      rule: "ub-budget",
      pass: footprint.bytes <= footprint.budget,
      detail: `${footprint.parts.map((p) => p.counted).join(" + ") || "0"} = ${footprint.bytes} B ${footprint.bytes <= footprint.budget ? "<=" : ">"} ${footprint.budget} B`,
      source: `target ${target.name}: ${target.sources.ubBytes.source}`,
    },
  ];
  const legal = rules.every((rule) => rule.pass);
  const feasible =
    schedule.residency === "gm" ? gmAllowed(access, target) : anyLegal(access, schedule, target);
  const moved = traffic(gatherOf(access), schedule, target);
  const reversed = legal ? reversedOrder(access, schedule, target) : undefined;
  return {
    name: access.name,
    target: target.name,
    schedule,
    map: printMap(access.map, access.indices.name),
    legal,
    rules,
    footprint,
    nearest: legal ? [schedule] : nearestLegal(access, schedule, target),
    ...(feasible
      ? {}
      : {
          infeasible: {
            arithmetic: smallestArithmetic(access, schedule, target),
            largestGatherDims: largestGatherDims(access, schedule, target),
            waysOut: waysOut(access, schedule, target).map((way) => way.schedule),
          },
        }),
    traffic: moved,
    cycles: Math.round(cost(gatherOf(access), schedule, target).cycles),
    ...(reversed === undefined ? {} : { reversed }),
    diagnostics: [...diagnostics, ...(legal ? performanceHints(access, schedule, target) : [])],
  };
}

/** The access level of a program whose schedule is refused. */
function canonical(program: Func, options: CompileOptions): AccessFunc | undefined {
  const target = resolveTargetOf(program, options);
  const { func, diagnostics } = runPipeline(
    scheduled(program, options, target),
    [canonicalizeAccess],
    target,
  );
  if (hasErrors(diagnostics)) throw new CompileError(diagnostics);
  return func.level === "access" ? func : undefined;
}

/** The schedule that was refused: the user's tile, or the smallest one where none was given. */
function attempted(access: AccessFunc, target: ReturnType<typeof resolveTargetOf>): ResolvedSchedule {
  const asked = access.schedule.residency ?? target.defaultResidency;
  const schedule = withDefaults(access, asked === "auto" ? "ub" : asked, target);
  return access.schedule.tile === undefined ? smallest(access, schedule) : schedule;
}

function residencyVerdict(
  access: AccessFunc,
  schedule: ResolvedSchedule,
  target: ReturnType<typeof resolveTargetOf>,
): RuleVerdict[] {
  if (schedule.residency === "ub") return [];
  const pass = gmAllowed(access, target);
  return [
    {
      rule: "residency",
      pass,
      detail: pass ? "rows are fetched from global memory" : "gm fetches whole rows; this gather has none",
      source: "hicann/pypto docs/zh/api/operation/pypto-index_select.md rules 3 and 5",
    },
  ];
}

/** Full load itself: what the data tile holds along each gather dim. It cannot fail: tiles are derived. */
function wholeVerdicts(access: AccessFunc, schedule: ResolvedSchedule): RuleVerdict[] {
  if (schedule.residency === "gm") return [];
  const pins = pinnedDims(access, schedule);
  return access.map.results.flatMap((result, k): RuleVerdict[] =>
    result.kind === "direct"
      ? []
      : [
          {
            rule: "full-load-data",
            pass: true,
            detail:
              `gather dim ${k} is loaded whole: ${access.data.type.shape[k] ?? 0} elements` +
              (pins.includes(k) ? `, view at least ${requiredView(access, k)}` : ""),
            source: "hicann/pypto docs/zh/api/operation/pypto-gather.md rule 3",
          },
        ],
  );
}
