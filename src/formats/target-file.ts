/**
 * Target files: the JSON of a target, as `tilec targets NAME --json` prints it, with every figure's source.
 */
import { checkApiArgument } from "../api/argument-kinds.js";
import {
  defined,
  CompileError,
  defaultTarget,
  error,
  limitNames,
  figureKinds,
  requestedLimits,
  targetFacts,
  targets,
  type Figure,
  type FigureKind,
  type FigureSource,
  type Isa,
  type Target,
  type TargetFigures,
  type WgslLimits,
} from "../../ir/index.js";
import { isObject, isRecord, shownValue } from "../../backends/fields.js";
import { figureField, figureNames, sizesField, targetWords } from "../api/check-options.js";
import { messageOf } from "../../ir/faults.js";

/**
 * Parameter of a target with every field present: value, kind of evidence, source, range and measurement ids
 * (`rows`).
 */
export type FullFigure = Required<Figure>;

/**
 * Contents of a target file, which describes a machine for the compiler. `figures`: numeric parameters with
 * sources.
 */
export interface TargetFile {
  readonly name: string;
  readonly kind: Target["kind"];
  readonly title: string;
  readonly gatherScratch: boolean;
  readonly overlaps: boolean;
  /** Instruction set of an Ascend core; absent: `a2a3`. */
  readonly isa?: Isa;
  readonly vectorGatherBytes: readonly number[];
  readonly defaultResidency: Target["defaultResidency"];
  readonly gmGather: Target["gmGather"];
  /** Limits of a WebGPU device. */
  readonly limits?: WgslLimits;
  readonly figures: Readonly<Record<string, FullFigure>>;
}

/** Returns the JSON contents of a target file that describes the given target. */
export function targetFile(target: Target): TargetFile {
  checkApiArgument("targetFile", "target", target);
  const {
    name,
    kind,
    title,
    isa,
    gatherScratch,
    overlaps,
    vectorGatherBytes,
    defaultResidency,
    gmGather,
    limits,
  } = target;
  const figures = Object.fromEntries(
    figureNames.map((figure): [string, FullFigure] => {
      const value = target[figure];
      const { kind, source, range = [value, value], rows = [] } = target.sources[figure];
      return [figure, { value, kind, source, range, rows }];
    }),
  );
  const given = {
    name,
    kind,
    title,
    ...defined({ isa }),
    gatherScratch,
    overlaps,
    vectorGatherBytes,
    defaultResidency,
    gmGather,
    ...defined({ limits }),
  };
  return { ...given, figures };
}

/** Kinds of figures as files of earlier versions name them. */
const earlierKinds: ReadonlyMap<string, FigureKind> = new Map([
  ["platform-file", "vendor text"],
  ["manual", "vendor text"],
  ["specification", "vendor text"],
  ["device", "vendor text"],
  ["measured by others", "model of others"],
  ["model fit", "simulator"],
]);

const kindMeant = (word: string): FigureKind | undefined =>
  figureKinds.find((kind) => kind === word) ?? earlierKinds.get(word);

/** Returns the built-in target whose figures a file of an earlier version lacks. */
const baseOf = (kind: Target["kind"], isa: Isa = "a2a3"): Target =>
  Object.values<Target>(targets).find(
    ({ kind: listed, isa: headers = "a2a3" }) => listed === kind && headers === isa,
  ) ?? defaultTarget;

/**
 * Figures of earlier versions, with the figures that say the same now: of a DMA engine its latency, elsewhere
 * a run's start.
 */
const earlierFigures = {
  loadStartupCycles: ["loadLatencyCycles", "loadIssueCycles"],
  storeStartupCycles: ["storeLatencyCycles", "storeIssueCycles"],
} as const;

/**
 * Figures that every file states: those of the first version that no board fixes. What came later, a file may
 * lack.
 */
const statedByAll: ReadonlySet<keyof TargetFigures> = new Set([
  "ubBytes",
  "ubSafeBytes",
  "blockBytes",
  "cores",
  "burstBytes",
  "clockMhz",
  "dmaRows",
  "gatherRowCycles",
  "copyStartupCycles",
  "copyBytesPerCycle",
  "gatherRepeatCycles",
  "vectorBytes",
  "firstLevelBytes",
  "secondLevelBytes",
  "syncCycles",
  "taskCycles",
  "tasksPerCore",
  "directElements",
  "lanes",
  "laneBytes",
]);

/** A figure of a file, and the name that the file has for it. */
interface GivenFigure {
  readonly figure: unknown;
  readonly name: string;
}

/**
 * Returns the numeric parameters of a target file, with names from older versions replaced. Calls `refuse`,
 * which throws, if a parameter has an old and a new name in the file.
 */
function renamed(
  figures: object,
  kind: Target["kind"],
  refuse: (message: string) => never,
): ReadonlyMap<string, GivenFigure> {
  const given = new Map(
    Object.entries(figures).map(([name, figure]): [string, GivenFigure] => [name, { figure, name }]),
  );
  const take = (from: string, to: readonly string[]): void => {
    const figure = given.get(from);
    if (figure === undefined) return;
    given.delete(from);
    for (const name of to) {
      if (given.has(name))
        refuse(`figures.${from} and figures.${name} are one figure, by its earlier name and its own`);
      given.set(name, figure);
    }
  };
  const { dmaEngine } = targetFacts[kind];
  for (const [from, [latency, issue]] of Object.entries(earlierFigures))
    take(from, [dmaEngine ? latency : issue]);
  take("gmBytesPerCycle", ["gmReadBytesPerCycle", "gmMixedBytesPerCycle"]);
  return given;
}

const isRange = (range: unknown): range is readonly [number, number] => {
  if (!Array.isArray(range) || range.length !== 2) return false;
  const [low, high] = range as readonly unknown[];
  return typeof low === "number" && typeof high === "number" && 0 <= low && low <= high && high < Infinity;
};

/** Returns a range that holds a value which was changed beside it. */
const around = (value: number, [low, high]: readonly [number, number]): readonly [number, number] => [
  Math.min(low, value),
  Math.max(high, value),
];

const isTexts = (list: unknown): list is readonly string[] =>
  Array.isArray(list) && list.every((entry) => typeof entry === "string");

/**
 * Returns a figure of a target file and the source of the figure. Calls `fail`, which throws, for an invalid
 * field.
 */
function figureOf(
  name: keyof TargetFigures,
  { figure, name: typed }: GivenFigure,
  fail: (message: string) => never,
): { readonly value: number; readonly source: FigureSource } {
  const place = `figures.${typed}`;
  if (!isObject(figure)) return fail(`${place} must be { value, kind, source }`);
  const { value, source, kind: kindName, range, rows } = figure as Partial<Figure>;
  const { holds, takes } = figureField(name);
  if (value === undefined || !holds(value))
    return fail(`${place}.value is ${shownValue(value)}; it takes ${takes}`);
  if (typeof source !== "string" || typeof kindName !== "string")
    return fail(`${place} must have a source and a kind`);
  const kind = kindMeant(kindName) ?? fail(`${place}.kind must be one of ${figureKinds.join(", ")}`);
  if (range !== undefined && !isRange(range)) return fail(`${place}.range must be [low, high]`);
  if (rows !== undefined && !isTexts(rows)) return fail(`${place}.rows must be a list of ids`);
  return {
    value,
    source: {
      source,
      kind,
      ...(range === undefined || range[0] === range[1] ? {} : { range: around(value, range) }),
      ...(rows === undefined || rows.length === 0 ? {} : { rows }),
    },
  };
}

/**
 * Returns the figures that a target file states, each with the source, and those of `base` that a file of an
 * earlier version lacks. Calls `fail`, which throws, for an unknown or an invalid figure.
 */
function figuresOf(
  stated: ReadonlyMap<string, GivenFigure>,
  base: Target,
  fail: (message: string) => never,
): TargetFigures & Pick<Target, "sources"> {
  const numbers: Partial<Record<keyof TargetFigures, number>> = {};
  const sources: Partial<Record<keyof TargetFigures, FigureSource>> = {};
  for (const name of figureNames) {
    const given = stated.get(name) ?? (statedByAll.has(name) ? { figure: {}, name } : undefined);
    const { value, source } =
      given === undefined ? { value: base[name], source: base.sources[name] } : figureOf(name, given, fail);
    numbers[name] = value;
    sources[name] = source;
  }
  return { ...(numbers as TargetFigures), sources: sources as Target["sources"] };
}

/**
 * Returns the limits of a WebGPU device in a target file. A limit that the file omits has the value of the
 * target without limits. Calls `fail`, which throws, for an unknown or an invalid limit.
 */
function limitsOf(limits: unknown, fail: (message: string) => never): WgslLimits {
  if (typeof limits !== "object" || limits === null) return fail("limits must be an object");
  const names: readonly string[] = limitNames;
  const [stranger] = Object.keys(limits).filter((name) => !names.includes(name));
  if (stranger !== undefined) return fail(`limits.${stranger} is not a limit that kernels depend on`);
  const wrong = Object.entries(limits).find(([, limit]) => !Number.isSafeInteger(limit) || limit < 1);
  if (wrong !== undefined) return fail(`limits.${wrong[0]} must be a whole number, 1 or more`);
  return { ...requestedLimits, ...limits };
}

/**
 * Returns the target that the text of a target file describes. Throws a CompileError: TC015 for an invalid
 * field, TC501 for instruction set a5 with vector gathers of 1-byte elements.
 */
export function parseTargetFile(text: string, file: string): Target {
  const fail = (message: string): never => {
    throw new CompileError([
      error("TC015", `${file}: ${message}`, { hint: "start from `tilec targets ascend-a2 --json`" }),
    ]);
  };
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (thrown) {
    return fail(`not JSON: ${messageOf(thrown)}`);
  }
  const given = isRecord(parsed) && isObject(parsed.target) ? parsed.target : parsed;
  if (!isRecord(given)) return fail(`a target must be an object, not ${shownValue(given)}`);
  const value: Partial<Record<keyof TargetFile, unknown>> = given;
  const word = <T extends string>(name: keyof TargetFile, words: readonly T[]): T =>
    words.find((candidate) => candidate === value[name]) ??
    fail(`${name} must be one of ${words.join(", ")}`);
  const string = (name: keyof TargetFile): string => {
    const figure = value[name];
    return typeof figure === "string" && figure !== "" ? figure : fail(`${name} must be a string`);
  };
  const figures = value.figures;
  if (typeof figures !== "object" || figures === null) return fail("figures must be an object");
  const kind = word("kind", targetWords.kind);
  const stated = renamed(figures, kind, fail);
  const unknown = [...stated.keys()].find((name) => !figureNames.some((figure) => figure === name));
  if (unknown !== undefined) return fail(`unknown figure ${unknown}`);
  const isa = value.isa === undefined ? undefined : word("isa", targetWords.isa);
  const { sources, ...numbers } = figuresOf(stated, baseOf(kind, isa), fail);
  const yesOrNo = (name: "gatherScratch" | "overlaps"): boolean => {
    const figure = value[name];
    return typeof figure === "boolean" ? figure : fail(`${name} must be true or false`);
  };
  const vectorGatherBytes = value.vectorGatherBytes;
  if (!sizesField.holds(vectorGatherBytes)) return fail(`vectorGatherBytes is ${sizesField.takes}`);
  if (isa === "a5" && vectorGatherBytes.includes(1)) {
    const message = `${file}: vectorGatherBytes lists 1, and PTO-ISA's a5 header gathers every second element of 1 byte`;
    throw new CompileError([error("TC501", message, { hint: "leave 1 out of vectorGatherBytes" })]);
  }
  return {
    ...numbers,
    name: string("name"),
    kind,
    title: string("title"),
    ...defined({ isa }),
    gatherScratch: yesOrNo("gatherScratch"),
    overlaps: yesOrNo("overlaps"),
    vectorGatherBytes,
    defaultResidency: word("defaultResidency", targetWords.defaultResidency),
    gmGather: word("gmGather", targetWords.gmGather),
    ...(value.limits === undefined ? {} : { limits: limitsOf(value.limits, fail) }),
    sources,
  };
}
