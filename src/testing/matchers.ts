/**
 * The checks of a kernel, each a function from a subject to a verdict: what `assertThat` and `tilec/vitest`
 * offer.
 */
import { createTwoFilesPatch } from "diff";
import {
  at,
  categoryOf,
  codes,
  CompileError,
  error,
  formatShape,
  parseModule,
  printFunc,
  printSchedule,
  renderDiagnostics,
  throwIfErrors,
  type AccessFunc,
  type Category,
  type Code,
  type Diagnostic,
  type Func,
  type Shape,
} from "../../ir/index.js";
import { isObject, oneOf, type Field } from "../../backends/index.js";
import { simulateBytes } from "../../backends/sim/index.js";
import { checkOptions, checkProgram } from "../api/check-options.js";
import { tryCompile, type Kernel } from "../api/compile.js";
import { checkReferenceOptions, compareWithReference, type ReferenceOptions } from "./compare.js";
import { definitionOf, drawsOf, inputsInWords, type Draw } from "./draws.js";
import { copies } from "./inouts.js";
import { fileCheck, parseChecks, slipsIn, vacuousChecks } from "./filecheck.js";
import { excesses, measured, type Limits, type Measured } from "./measured.js";
import { outcomeNow, rejectionDifference } from "./outcome.js";
import { compiled, type Subject } from "./subject.js";
import type { Verdict } from "./verdict.js";

const verdict = (
  pass: boolean,
  message: string,
  compared: Pick<Verdict, "expected" | "actual"> = {},
): Verdict => ({ pass, message: () => message, ...compared });

const notCompiled = (diagnostics: readonly Diagnostic[]): Verdict => ({
  ...verdict(false, `it does not compile:\n${renderDiagnostics(diagnostics)}`),
  unjudged: true,
});

/** Returns the verdict on a kernel; a subject without one fails for the reasons that the compiler gave. */
function ofKernel(subject: Subject, judge: (kernel: Kernel) => Verdict): Verdict {
  const result = compiled(subject);
  return result.ok ? judge(result.kernel) : notCompiled(result.diagnostics);
}

const misused = (message: string, hint: string): CompileError =>
  new CompileError([error("TC702", message, { hint })]);

/**
 * Returns a passing check result ({@link Verdict}) if a kernel or program compiles. The message of a failing
 * result has the compiler's diagnostics.
 */
function toBeLegal(subject: Subject): Verdict {
  const result = compiled(subject);
  if (!result.ok) {
    return verdict(false, `it is refused:\n${renderDiagnostics(result.diagnostics)}`, {
      expected: "legal",
      actual: codesOf(result.diagnostics),
    });
  }
  const { name, target, tile } = result.kernel;
  return verdict(true, `@${name} is legal on ${target.name} under ${printSchedule(tile.schedule)}`);
}

/** Returns the reasons of a refusal in words: `refused for full-load (TC301), ub-budget (TC401)`. */
function codesOf(diagnostics: readonly Diagnostic[]): string {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const reasons = errors.map(({ code }) => `${categoryOf(code)} (${code})`);
  return `refused for ${[...new Set(reasons)].join(", ")}`;
}

const reasonField: Field = {
  ...oneOf([...new Set(Object.values(codes).map(({ category }) => category)), ...Object.keys(codes)]),
  takes: "a category or a code of docs/diagnostics.md, such as full-load or TC301",
};

/**
 * Returns a passing check result ({@link Verdict}) if a program does not compile. `reason` is the required
 * error category (`full-load`) or error code (`TC301`); any error passes without `reason`. Throws a
 * CompileError (TC702) for an unknown `reason`.
 */
function toBeRefused(subject: Subject, reason?: Category | Code): Verdict {
  throwIfErrors(checkOptions("toBeRefused", { reason }, { reason: reasonField }));
  const result = compiled(subject);
  const wanted = reason === undefined ? "a refusal" : `a refusal for ${reason}`;
  if (result.ok) {
    const { name, target, tile } = result.kernel;
    const schedule = printSchedule(tile.schedule);
    return verdict(false, `expected ${wanted}; @${name} is legal on ${target.name} under ${schedule}`, {
      expected: wanted,
      actual: "legal",
    });
  }
  const errors = result.diagnostics.filter(({ severity }) => severity === "error");
  const pass =
    reason === undefined || errors.some(({ code }) => code === reason || categoryOf(code) === reason);
  const codes = codesOf(errors);
  return verdict(
    pass,
    `${pass ? "it is" : `expected ${wanted}; it is`} ${codes}${pass ? "" : " instead"}:\n${renderDiagnostics(errors)}`,
    { expected: wanted, actual: codes },
  );
}

const limitField: Field = {
  code: "TC702",
  takes: "a number, 0 or more: any other cannot fail",
  holds: (value) => typeof value === "number" && value >= 0 && value < Infinity,
};

/**
 * Throws a CompileError (TC702) if `limits` has a name that is not in `figures`, or a value that is not a
 * finite number of at least 0. Throws the same error if `limits` has none of the names in `needs`.
 */
function checkLimits(
  matcher: string,
  limits: unknown,
  figures: readonly (keyof Limits)[],
  needs: readonly (keyof Limits)[],
): void {
  throwIfErrors(checkOptions(matcher, limits, Object.fromEntries(figures.map((name) => [name, limitField]))));
  if (isObject(limits) && needs.every((name) => limits[name] === undefined))
    throw misused(`${matcher} without a figure cannot fail`, `pass {${needs[0] ?? ""}: 4096}`);
}

const within = (
  subject: Subject,
  limits: Limits,
  what: (figures: ReturnType<typeof measured>) => string,
  options: Parameters<typeof excesses>[3] = {},
): Verdict =>
  ofKernel(subject, (kernel) => {
    const figures = measured(kernel);
    const over = excesses(kernel.name, figures, limits, options);
    if (over.length === 0) return verdict(true, `@${kernel.name} ${what(figures)}`);
    const passed = <T>(of: (limit: (typeof over)[number]["limit"]) => T) =>
      Object.fromEntries(over.map(({ limit }) => [limit, of(limit)]));
    return verdict(false, over.map((excess) => excess.message).join("\n"), {
      expected: passed((limit) => limits[limit]),
      actual: passed((limit) => figures[limit]),
    });
  });

/**
 * Checks that a kernel's peak use of the unified buffer is at most `bytes`; by default, the kernel's UB
 * budget.
 */
const toFitUb = (subject: Subject, bytes?: number): Verdict => {
  if (bytes !== undefined) checkLimits("toFitUb", { bytes }, ["bytes"], ["bytes"]);
  const result = compiled(subject);
  if (!result.ok) {
    // What no budget holds is judged.
    const tooLarge = result.diagnostics.some(({ code }) => categoryOf(code) === "ub-budget");
    const { unjudged: _, ...judged } = notCompiled(result.diagnostics);
    return tooLarge ? judged : notCompiled(result.diagnostics);
  }
  const ubPeak = bytes ?? measured(result.kernel).ubBudget;
  return within(
    result.kernel,
    { ubPeak },
    (figures) => `takes ${figures.ubPeak} B of the unified buffer, of ${ubPeak} B`,
  );
};

const movementInWords = ({ bytes, ratio }: Measured): string =>
  `moves ${bytes} B, ${ratio.toFixed(3)} times what any schedule moves`;
const takenInWords = ({ cycles }: Measured): string => `takes ${cycles} cycles`;

function toMoveAtMost(subject: Subject, limits: Pick<Limits, "bytes" | "ratio">): Verdict {
  checkLimits("toMoveAtMost", limits, ["bytes", "ratio"], ["bytes", "ratio"]);
  return within(subject, limits, movementInWords);
}

function toMoveExactly(subject: Subject, figures: Required<Pick<Limits, "bytes">>): Verdict {
  checkLimits("toMoveExactly", figures, ["bytes"], ["bytes"]);
  return within(subject, figures, movementInWords, { exactly: true });
}

function toTakeAtMost(subject: Subject, limits: Pick<Limits, "cycles" | "clock">): Verdict {
  checkLimits("toTakeAtMost", limits, ["cycles", "clock"], ["cycles"]);
  return within(subject, limits, takenInWords);
}

/**
 * Returns a passing check result ({@link Verdict}) if the cost model estimates exactly the given number of
 * cycles. `clock` is the cost model version that gave the number. Throws a CompileError (TC702) for invalid
 * arguments.
 */
function toTakeExactly(
  subject: Subject,
  figures: Required<Pick<Limits, "cycles">> & Pick<Limits, "clock">,
): Verdict {
  checkLimits("toTakeExactly", figures, ["cycles", "clock"], ["cycles"]);
  return within(subject, figures, takenInWords, { exactly: true });
}

async function toMatchReference(subject: Subject, options: ReferenceOptions = {}): Promise<Verdict> {
  checkReferenceOptions("toMatchReference", options);
  const result = compiled(subject);
  if (!result.ok) return notCompiled(result.diagnostics);
  return compareWithReference(result.kernel, options);
}

/**
 * Resolves to a passing check result ({@link Verdict}) if a kernel gives the output bits that program `op`
 * defines, on each backend of `options`. Rejects with a CompileError (TC702) for invalid options.
 */
async function toPreserve(subject: Subject, op: Func, options: ReferenceOptions = {}): Promise<Verdict> {
  throwIfErrors(checkProgram(op));
  checkReferenceOptions("toPreserve", options);
  const result = compiled(subject);
  if (!result.ok) return notCompiled(result.diagnostics);
  return compareWithReference(result.kernel, options, op);
}

/** Checks that the tile program of a kernel equals a text, apart from blanks. */
const toMatchTile = (subject: Subject, text: string): Verdict =>
  ofKernel(subject, (kernel) => {
    const { module, diagnostics } = parseModule(text, "expected.tir");
    const [func, ...others] = module.funcs;
    if (diagnostics.length > 0 || func === undefined || others.length > 0) {
      throw misused(
        `the expected text holds ${module.funcs.length} programs:\n${renderDiagnostics(diagnostics)}`,
        'kernel.text("tile") prints one',
      );
    }
    const [expected, actual] = [printFunc(func), kernel.text("tile")];
    if (expected === actual) return verdict(true, `@${kernel.name} is the tile program:\n${actual}`);
    const patch = createTwoFilesPatch("expected", "compiled", expected, actual, "", "", { context: 2 });
    return verdict(
      false,
      `@${kernel.name} is another tile program:\n${patch.split("\n").slice(1).join("\n")}`,
      { expected, actual: actual },
    );
  });

/**
 * Checks that the `// CHECK` lines hold for the text of a kernel's tile program, by the rules of `tilec
 * check`.
 */
const toMatchChecks = (subject: Subject, checks: string): Verdict => {
  const list = parseChecks(checks);
  const [vacuous] = [
    ...slipsIn(checks),
    ...(list.length === 0 ? [{ line: 1, message: "no CHECK line" }] : vacuousChecks(list)),
  ];
  if (vacuous !== undefined) {
    throw misused(
      `line ${vacuous.line} of the checks: ${vacuous.message}: it cannot fail`,
      "write // CHECK: text",
    );
  }
  return ofKernel(subject, (kernel) => {
    const text = kernel.text("tile");
    const failure = fileCheck(text, list);
    if (failure === undefined) return verdict(true, `@${kernel.name} has what the checks ask for:\n${text}`);
    const wanted = list.find(({ line }) => line === failure.line);
    return verdict(false, `line ${failure.line} of the checks: ${failure.message}\n${text}`, {
      expected: wanted?.text,
      actual: failure.nearest ?? text,
    });
  });
};

/** Returns a program without the tiles of its inputs, which follow from the schedule's tile. */
const withoutTiles = ({ tiles: _, ...program }: AccessFunc): AccessFunc => program;

/** Returns the same bits under each of these tiles, on the simulation. */
const toBeDeterministicOver = (subject: Subject, tiles: readonly Shape[]): Verdict => {
  if (tiles.length === 0)
    throw misused("toBeDeterministicOver without tiles cannot fail", "pass a list of tiles");
  return ofKernel(subject, (kernel) => {
    const program = kernel.source ?? (kernel.access && withoutTiles(kernel.access));
    if (program === undefined)
      throw misused(
        `@${kernel.name} is a tile program: it has one tile`,
        "pass a kernel of a source program",
      );
    const { target, passes } = kernel;
    const draws = [...drawsOf(kernel.source ?? kernel.tile, definitionOf(kernel), 1)];
    // A scatter may write in its inputs.
    const run = (compiled: Kernel, { inputs }: Draw) =>
      outcomeNow(() => simulateBytes(compiled, copies(inputs), { executor: "fast" }));
    const outputs = draws.map((draw) => run(kernel, draw));
    const wrong = tiles.flatMap((tile) => {
      const name = `tile ${formatShape(tile)}`;
      const result = tryCompile(program, { target, passes, tile });
      if (!result.ok) return [`${name} is refused:\n${renderDiagnostics(result.diagnostics)}`];
      for (const [k, draw] of draws.entries()) {
        const [before, after] = [at(outputs, k), run(result.kernel, draw)];
        const same =
          before.kind === "bits" && after.kind === "bits"
            ? Buffer.compare(before.run.output, after.run.output) === 0
            : rejectionDifference(["its own tile", before], [name, after]) === undefined;
        if (!same) return [`${name} gives other bits; ${inputsInWords(draw) ?? ""}`];
      }
      return [];
    });
    return verdict(
      wrong.length === 0,
      wrong.length === 0
        ? `@${kernel.name} gives the same bits under ${tiles.map(formatShape).join(", ")}`
        : wrong.join("\n"),
    );
  });
};

/**
 * Matcher functions by name. Each matcher checks a kernel or program and returns a {@link Verdict} or a
 * promise of one.
 */
export const matchers = {
  /** Passes if the kernel or program compiles. */
  toBeLegal,
  /** Passes if the program does not compile: for the given error category or code, if one is given. */
  toBeRefused,
  toFitUb,
  /**
   * Passes if the bytes moved to and from global memory stay within a limit, given in bytes or as a ratio to
   * the least that any schedule moves.
   */
  toMoveAtMost,
  /** It moves so many bytes of global memory, no more and no less. */
  toMoveExactly,
  /** The clock gives it no more cycles; `clock` is the version that the figure was taken from. */
  toTakeAtMost,
  /** The clock gives it so many cycles, no more and no less. */
  toTakeExactly,
  /** Every backend gives the bits that the program defines. */
  toMatchReference,
  /**
   * The kernel, compiled with a pass of one's own or written by hand, gives the bits that this program
   * defines.
   */
  toPreserve,
  toMatchTile,
  toMatchChecks,
  toBeDeterministicOver,
};

/** Type of {@link matchers}: the matcher functions by name. */
export type Matchers = typeof matchers;
