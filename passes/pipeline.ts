/**
 * Runs passes in order: checks what each requires, verifies structure and what it ensures, stops at the first pass
 * that reports an error. A pass that breaks its promise is a bug in tilec (or in the user's pass), not a user error.
 */
import { hasErrors, type Diagnostic } from "../ir/diagnostic.js";
import type { Func } from "../ir/func.js";
import type { Target } from "../ir/target.js";
import { InternalError } from "../ir/types.js";
import { verify, verifyStructure, type Property } from "../ir/verify/index.js";
import type { Pass, PassContext } from "./pass.js";

/** What watches and verifies a pipeline. */
export interface PipelineOptions {
  /** Called before each pass with what it is given. */
  readonly beforePass?: (pass: Pass, before: Func) => void;
  /** Called after each pass with its result and its time in milliseconds. */
  readonly afterPass?: (pass: Pass, before: Func, after: Func, milliseconds: number) => void;
  /** Off only to time the passes alone. Default true. */
  readonly verifyEach?: boolean;
}

/** What a pipeline made, as far as it came, and what was said on the way. */
export interface PipelineResult {
  readonly func: Func;
  readonly diagnostics: readonly Diagnostic[];
}

/** A pass that crashed or broke its promise: a bug in the pass. Carries the program it was given. */
export class PassError extends InternalError {
  constructor(
    readonly pass: string,
    readonly input: Func,
    message: string,
    /** The rules that its result breaks, each at its statement; empty for a crash. */
    readonly diagnostics: readonly Diagnostic[] = [],
    options?: ErrorOptions,
  ) {
    super(`after ${pass}: ${message}`, options);
  }
}

/** What is wrong with a pass's result, statement by statement. */
const described = (broken: readonly Diagnostic[]): string =>
  broken
    .map((d) => [d.message, ...(d.notes ?? []), ...(d.hint === undefined ? [] : [d.hint])].join("; "))
    .join("\n");

function runPass(pass: Pass, func: Func, context: PassContext): Func {
  try {
    return pass.run(func, context);
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    throw new PassError(pass.name, func, message, [], { cause: thrown });
  }
}

/** Runs passes in order and verifies what each requires and ensures. Stops at the first that reports an error. */
export function runPipeline(
  input: Func,
  passes: readonly Pass[],
  target: Target,
  options: PipelineOptions = {},
): PipelineResult {
  const diagnostics: Diagnostic[] = [...verifyStructure(input)];
  if (hasErrors(diagnostics)) return { func: input, diagnostics };
  const context: PassContext = { target, report: (diagnostic) => void diagnostics.push(diagnostic) };
  let func = input;
  /** What `func` was seen to have. */
  let held = new Set<Property>();
  for (const pass of passes) {
    const missing = pass.requires
      .filter((property) => !held.has(property))
      .flatMap((property) => verify(func, property, target));
    if (missing.length > 0) {
      diagnostics.push(...missing.map((d) => ({ ...d, message: `${pass.name} cannot run: ${d.message}` })));
      return { func, diagnostics };
    }
    options.beforePass?.(pass, func);
    const start = performance.now();
    const result = runPass(pass, func, context);
    const milliseconds = performance.now() - start;
    if (hasErrors(diagnostics)) return { func, diagnostics };
    if (options.verifyEach !== false) {
      // A function that a pass hands on as it was has what it had.
      const changed = result !== func;
      const broken = [
        ...(changed ? verifyStructure(result) : []),
        ...pass.ensures.flatMap((p) => verify(result, p, target)),
      ];
      if (broken.length > 0) {
        throw new PassError(pass.name, func, described(broken), broken);
      }
      held = new Set([...(changed ? [] : held), ...pass.ensures]);
    } else held.clear();
    options.afterPass?.(pass, func, result, milliseconds);
    func = result;
  }
  return { func, diagnostics };
}
