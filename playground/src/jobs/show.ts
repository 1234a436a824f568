/** Data that the page shows of a text: its form, and the verdict on its schedule. */
import {
  attributesOf,
  commonName,
  CompileError,
  defined,
  dialectOf,
  dialects,
  dynamicSymbols,
  findOp,
  formatRoofline,
  hasErrors,
  inPercent,
  inputsOf,
  keyOf,
  opDefs,
  outputOf,
  printFunc,
  readPolicies,
  suggestionText,
  targets,
  withCommas,
  type AccessFunc,
  type Diagnostic,
  type Func,
  type TensorType,
} from "../../../ir/index.js";
import { accessOf } from "../../../src/api/access.js";
import { explain, type Explanation } from "../../../src/api/explain.js";
import { turnedText } from "../../../src/api/pages-verdict.js";
import { resolveTargetOf, tryCompile } from "../../../src/api/compile.js";
import type { Form, Shown, Suggestion, Verdict, Vocabulary } from "./messages.js";
import { entriesOf, hintedFlags } from "./flags.js";
import { read, type Asked } from "./program.js";
import { stopsOf } from "./stops.js";

/**
 * Returns the options in the page's drop-down lists: operators of each dialect, targets and out-of-range
 * policies.
 */
export const vocabulary = (): Vocabulary => ({
  dialects: dialects.map((name) => ({
    name,
    ops: [...new Set(opDefs.filter((def) => dialectOf(def) === name).map((def) => commonName(def)))],
  })),
  targets: Object.values(targets).map(({ name, title }) => ({ name, title })),
  policies: readPolicies,
});

/** Formats a tensor type in the syntax of command-line flags, for example `f32[64,80]`. */
export const typeText = ({ dtype, shape }: TensorType): string => `${dtype}[${shape.join()}]`;

/**
 * Returns the content that the page displays for the requested function: types, schedule, operator call and
 * legality result. If the text has no function, the result has only the function names and the diagnostics.
 */
export function show(asked: Asked): Shown {
  const { names, func, diagnostics } = read(asked);
  if (func === undefined) {
    return {
      names,
      schedule: {},
      inputs: [],
      extents: [],
      symbols: [],
      space: "",
      verdict: refusal(diagnostics),
    };
  }
  const { tile: _, ...open } = func.schedule;
  const form = func.level === "source" ? formOf(func) : undefined;
  const verdict = hasErrors(diagnostics) ? refusal(diagnostics) : verdictOn(func);
  const access = takenAccess(func);
  const stops =
    access && verdict.explained && stopsOf(access, resolveTargetOf(func, {}), verdict.explained.schedule);
  return {
    names,
    name: func.name,
    level: func.level,
    ...defined({ target: func.target }),
    schedule: func.schedule,
    inputs: inputsOf(func).map((input) => ({ key: keyOf(input), text: typeText(input.type) })),
    extents: access === undefined ? outputOf(func).type.shape : access.map.domain,
    symbols: dynamicSymbols(func),
    ...defined({ form }),
    verdict,
    ...defined({ stops }),
    space: func.level === "tile" ? "" : printFunc({ ...func, schedule: open }),
  };
}

/**
 * Returns the access level of a program; undefined for a tile program, and where a dialect's rule is broken.
 */
function takenAccess(func: Func): AccessFunc | undefined {
  try {
    return accessOf(func);
  } catch (thrown) {
    if (thrown instanceof CompileError) return undefined;
    throw thrown;
  }
}

/**
 * Returns the dialect, operator, attributes and out-of-range policy of a source-level function, for the
 * program form of the page. Returns undefined if the operator is unknown.
 */
function formOf(func: Func & { readonly level: "source" }): Form | undefined {
  const def = findOp(func.op);
  if (def === undefined) return undefined;
  return {
    dialect: dialectOf(def),
    op: commonName(def),
    attributes: [...attributesOf(def)].map(([key, { name, spec }]) => ({
      key,
      help: spec.help,
      ...(spec.kind === "word" ? { words: spec.words } : {}),
      text: String(func.attrs[name] ?? spec.default ?? ""),
    })),
    policy: String(func.attrs["oob"] ?? def.attrs["oob"]?.default ?? ""),
  };
}

const errorsOf = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  diagnostics.filter(({ severity }) => severity === "error");

const refusal = (diagnostics: readonly Diagnostic[]): Verdict => {
  const errors = errorsOf(diagnostics);
  return {
    legal: false,
    headline: errors.length === 1 ? "The program has an error" : `The program has ${errors.length} errors`,
    code: errors[0]?.code ?? "",
    diagnostics,
    suggestions: [],
  };
};

/** Returns the legality result in words: the cycles of a legal schedule, or the reason for a refusal. */
function headlineOf({ legal, cycles, footprint, infeasible, rules }: Explanation): string {
  if (legal) return `Legal: about ${withCommas(cycles)} cycles`;
  if (infeasible !== undefined) return "No tile is legal";
  const over = footprint.bytes - footprint.budget;
  if (over > 0) return `Does not fit: ${withCommas(over)} B too many`;
  return `Breaks the rule ${rules.find(({ pass }) => !pass)?.rule ?? ""}`;
}

/**
 * Returns the legality result of a function with a schedule: legal or refused, with diagnostics. Errors of
 * the compiler become a refusal and are not thrown.
 */
function verdictOn(func: Func): Verdict {
  if (func.level === "tile") {
    const compiled = tryCompile(func);
    if (!compiled.ok) return refusal(compiled.diagnostics);
    const { diagnostics } = compiled.kernel;
    return { legal: true, headline: "Legal", code: "", diagnostics, suggestions: [] };
  }
  try {
    return verdictOf(explain(func));
  } catch (thrown) {
    if (thrown instanceof CompileError) return refusal(thrown.diagnostics);
    throw thrown;
  }
}

/**
 * Converts the compiler's explanation of a schedule to the legality result that the page shows. Suggestions
 * are given only for an illegal schedule.
 */
function verdictOf(explanation: Explanation): Verdict {
  const {
    legal,
    diagnostics,
    schedule,
    map,
    rules,
    sizes,
    footprint,
    traffic,
    cycles,
    infeasible,
    bottleneck,
    judgedTile,
    pages,
  } = explanation;
  const turned = turnedText(pages);
  return {
    legal,
    headline: headlineOf(explanation),
    code: errorsOf(diagnostics)[0]?.code ?? "",
    diagnostics: diagnostics.filter((one) => hintedFlags(one).length === 0),
    explained: {
      schedule,
      map,
      rules,
      sizes,
      footprint,
      traffic,
      cycles,
      standing: formatRoofline(explanation, explanation.machine),
      ...defined({ judgedTile, turned }),
      bottleneck: `${bottleneck.pipe === "gm" ? "global memory" : bottleneck.pipe}, busy ${inPercent(bottleneck.share)} of the cycles`,
      ...defined({ infeasible: infeasible?.arithmetic }),
    },
    suggestions: legal ? [] : suggestionsOf(explanation),
  };
}

/**
 * Returns the schedule changes to suggest for an illegal schedule. A change leads to one of the nearest legal
 * schedules, or to a PyPTO profile under which the schedule is legal. If no tile is legal, the changes
 * concern other settings.
 */
function suggestionsOf({ infeasible, nearest, pages, schedule }: Explanation): Suggestion[] {
  const newer = pages?.legal === true ? [{ flags: `--profile ${pages.profile}` }] : [];
  const near = [...nearest, ...(pages?.nearest ?? [])].map((other) => ({
    flags: suggestionText(schedule, other),
  }));
  const ways = infeasible?.waysOut ?? [...near, ...newer];
  return ways.map((way) => ({
    ...("cycles" in way ? { cycles: way.cycles } : {}),
    flags: way.flags,
    entries: entriesOf(way.flags),
  }));
}
