/**
 * Runs passes in order: checks what each requires, verifies structure and what it ensures, stops at the first
 * pass that reports an error. A pass that breaks its promise is a bug in tilec (or in the user's pass), not a
 * user error.
 *
 * The result of a user's pass is verified at once. Passes of the default pipeline that follow one another at
 * one level are verified together, by the result of the last; where that is broken, by each result, so that
 * the first that broke it is named.
 */
import { error, hasErrors, renderDiagnostics, type Diagnostic } from "../ir/diagnostic.js";
import { framesOf, messageOf } from "../ir/faults.js";
import type { Func } from "../ir/func.js";
import type { Target } from "../ir/target.js";
import type { Tilings } from "../ir/tiling/index.js";
import { InternalError } from "../ir/types.js";
import { verify, verifyStructure, type Property } from "../ir/verify/index.js";
import { defaultPipeline } from "./default-pipeline.js";
import { contextFor, type Pass, type PassContext } from "./pass.js";

/** The built-in passes. */
const builtIn: ReadonlySet<Pass> = new Set(defaultPipeline);

/**
 * Options of {@link runPipeline}: functions that are called before and after each pass, and a switch for the
 * verification of results.
 */
export interface PipelineOptions {
  /** Called before each pass with the function that the pass receives. */
  readonly beforePass?: (pass: Pass, before: Func) => void;
  /** Called after each pass with the function that it received, its result, and its time in milliseconds. */
  readonly afterPass?: (pass: Pass, before: Func, after: Func, milliseconds: number) => void;
  /** False to skip the verification of results, to time the passes alone. Default true. */
  readonly verifyEach?: boolean;
}

/** Result of running a pipeline: the function after the last pass that succeeded, and all diagnostics. */
export interface PipelineResult {
  readonly func: Func;
  readonly diagnostics: readonly Diagnostic[];
  /** Tilings that the passes requested. */
  readonly tilings: Tilings;
}

/**
 * Error for a bug in a pass: a crash, or a result that is not a valid function with the ensured properties.
 * `input`: function that the pass received.
 */
export class PassError extends InternalError {
  /** The pass's name. */
  readonly pass: string;
  /** True if the pass is built into tilec. */
  readonly builtIn: boolean;
  /** The diagnostics of the pass; each message begins with the name and file of the pass. */
  readonly faults: readonly Diagnostic[];

  constructor(
    pass: Pass,
    readonly input: Func,
    /** The rules that its result breaks, each at its statement; TC201 for a crash. */
    readonly diagnostics: readonly Diagnostic[],
    options?: ErrorOptions,
  ) {
    const place = `after ${pass.name}${pass.origin === undefined ? "" : ` of ${pass.origin.file}`}`;
    const faults = diagnostics.map((d) => ({ ...d, message: `${place}: ${d.message}` }));
    super(renderDiagnostics(faults), options);
    this.pass = pass.name;
    this.builtIn = builtIn.has(pass);
    this.faults = faults;
  }
}

/**
 * Runs a pass and returns the function that it returns. Throws a PassError if the pass crashes or returns no
 * function. `verifyEarlier`: called after a crash; throws if an earlier pass caused the crash.
 */
function runPass(pass: Pass, func: Func, context: PassContext, verifyEarlier: () => void): Func {
  let result: Func;
  try {
    result = pass.run(func, context);
  } catch (thrown) {
    // It may have crashed over what one before it broke.
    verifyEarlier();
    const crash = error("TC201", `it crashed: ${messageOf(thrown)}`, { notes: framesOf(thrown) });
    throw new PassError(pass, func, [crash], { cause: thrown });
  }
  if (isFunc(result)) return result;
  const message = `it returned ${String(result)}, and a pass returns a function`;
  throw new PassError(pass, func, [error("TC201", message)]);
}

const levels: Readonly<Record<Func["level"], true>> = { source: true, access: true, tile: true };

/** True if the result of a pass is a function. A pass in JavaScript is not checked against a type. */
const isFunc = (result: unknown): result is Func =>
  typeof result === "object" &&
  result !== null &&
  "level" in result &&
  typeof result.level === "string" &&
  Object.hasOwn(levels, result.level);

interface PassRun {
  readonly pass: Pass;
  readonly before: Func;
  readonly after: Func;
}

/**
 * Returns the diagnostics of a result that breaks structure rules, or properties that some passes ensure. The
 * structure of a function that a pass returned unchanged is not checked again.
 */
const brokenBy = (
  { before, after }: PassRun,
  ensures: Iterable<Property>,
  { target, tilings }: PassContext,
): Diagnostic[] => [
  ...(after === before ? [] : verifyStructure(after)),
  ...[...new Set(ensures)].flatMap((property) => verify(after, property, target, tilings)),
];

/**
 * Verifies the results of consecutive passes. Throws a PassError for the first pass whose result breaks a
 * structure rule or lacks an ensured property.
 */
function verifyRun(runs: readonly PassRun[], context: PassContext): void {
  const [first, last] = [runs[0], runs.at(-1)];
  if (first === undefined || last === undefined) return;
  const ensures = runs.flatMap(({ pass }) => pass.ensures);
  if (brokenBy({ ...last, before: first.before }, ensures, context).length === 0) return;
  for (const each of runs) {
    const broken = brokenBy(each, each.pass.ensures, context);
    if (broken.length > 0) throw new PassError(each.pass, each.before, broken);
  }
}

/**
 * Calls `verifyThem`, which checks the result of a user-defined pass, and throws the PassError that
 * `verifyThem` throws. Any other error becomes a PassError (TC201) for `pass`.
 */
function verifyCustom(pass: Pass, func: Func, verifyThem: () => void): void {
  try {
    verifyThem();
  } catch (thrown) {
    if (thrown instanceof PassError) throw thrown;
    const message = `its result cannot be read: ${String(thrown)}`;
    throw new PassError(pass, func, [error("TC201", message)]);
  }
}

/**
 * Runs passes in order and returns the function that the last pass returned, with the diagnostics of all
 * passes. Stops at the first error, or before a pass whose required property the function lacks. Throws a
 * PassError if a pass crashes, or if its result lacks a property that the pass ensures.
 */
export function runPipeline(
  input: Func,
  passes: readonly Pass[],
  target: Target,
  options: PipelineOptions = {},
): PipelineResult {
  const diagnostics: Diagnostic[] = [...verifyStructure(input)];
  const context = contextFor(target, (diagnostic) => void diagnostics.push(diagnostic));
  const { tilings } = context;
  if (hasErrors(diagnostics)) return { func: input, diagnostics, tilings };
  const verifies = options.verifyEach !== false;
  let func = input;
  /** Properties of `func` that are verified, or that passes ensure whose results are not verified yet. */
  let properties = new Set<Property>();
  let unverified: PassRun[] = [];
  const verifyThem = (): void => {
    verifyRun(unverified, context);
    unverified = [];
  };
  for (const pass of passes) {
    if (!builtIn.has(pass)) verifyThem();
    const missing = pass.requires
      .filter((property) => !properties.has(property))
      .flatMap((property) => verify(func, property, target, tilings));
    if (missing.length > 0) {
      verifyThem();
      diagnostics.push(...missing.map((d) => ({ ...d, message: `${pass.name} cannot run: ${d.message}` })));
      return { func, diagnostics, tilings };
    }
    options.beforePass?.(pass, func);
    const start = performance.now();
    const result = runPass(pass, func, context, verifyThem);
    const milliseconds = performance.now() - start;
    if (hasErrors(diagnostics)) {
      verifyThem();
      return { func, diagnostics, tilings };
    }
    if (verifies) {
      if (result.level !== func.level) verifyThem();
      unverified.push({ pass, before: func, after: result });
      if (!builtIn.has(pass)) verifyCustom(pass, func, verifyThem);
      properties = new Set([...(result === func ? properties : []), ...pass.ensures]);
    } else properties.clear();
    options.afterPass?.(pass, func, result, milliseconds);
    func = result;
  }
  verifyThem();
  return { func, diagnostics, tilings };
}
