/** A kernel's output on each backend beside what its program defines, on drawn inputs or the caller's. */
import {
  CompileError,
  elementCount,
  error,
  formatType,
  isScatter,
  outputOf,
  renderDiagnostics,
  RunError,
  throwIfErrors,
  type Diagnostic,
  type Func,
} from "../../ir/index.js";
import { isInPlace } from "../../ir/func.js";
import {
  isObject,
  toHosts,
  integer,
  type Fields,
  type GatherData,
  type HostInputs,
} from "../../backends/index.js";
import { statementMap } from "../../backends/index-inputs.js";
import { fillsOfMap } from "../../backends/reference/reference-of-map.js";
import { definedOutput } from "../api/against.js";
import {
  backendField,
  backendNames,
  nameOf,
  runOn,
  type BackendChoice,
  type BackendName,
  type BackendOptions,
} from "../api/backends.js";
import { checkOptions } from "../api/check-options.js";
import type { Kernel } from "../api/compile.js";
import { maxSeed } from "../formats/lcg.js";
import { definitionDifference } from "./definition-difference.js";
import { requiredBackends, testDevice } from "./device.js";
import { definitionOf, drawsOf, inputsInWords, inputsOfProgram, type Draw } from "./draws.js";
import { isPromise, outcomeOf, type Outcome } from "./outcome.js";
import type { IndexProgram } from "./random.js";
import type { Verdict } from "./verdict.js";
import { copies } from "./inouts.js";
import { inOneLine } from "./no-device.js";

/** Options for comparing the output of a kernel with the kernel's definition: backends and inputs. */
export interface ReferenceOptions {
  /** Default: `sim` alone. */
  readonly backends?: readonly BackendChoice[];
  /**
   * Typed arrays by operand key. Absent: four random draws from `seed`, two of which have indices out of
   * range.
   */
  readonly inputs?: GatherData;
  /** Default 1. */
  readonly seed?: number;
  /** Backends whose absence fails the check in place of skipping it; TILEC_REQUIRE adds to them. */
  readonly require?: readonly BackendName[];
}

/** Validation rules for the options `backends` and `require`, which select the backends of a comparison. */
export const placeFields: Fields<Pick<ReferenceOptions, "backends" | "require">> = {
  backends: {
    code: "TC702",
    takes: `a list, each ${backendField.takes}`,
    holds: (value) => Array.isArray(value) && value.every(backendField.holds),
  },
  require: {
    code: "TC702",
    takes: `a list of backends: ${backendNames.join(", ")}`,
    holds: (value) => Array.isArray(value) && value.every((one) => backendNames.some((name) => name === one)),
  },
};

const referenceFields: Fields<ReferenceOptions> = {
  ...placeFields,
  inputs: { code: "TC702", takes: "typed arrays by operand", holds: isObject },
  seed: integer(0, "TC702", maxSeed),
};

/** Throws a CompileError (TC702) if the options of a matcher are invalid. */
export function checkReferenceOptions(matcher: string, options: ReferenceOptions): void {
  throwIfErrors(checkOptions(matcher, options, referenceFields));
}

/**
 * Resolves to a test result that passes if a kernel computes the defined output on every backend.
 * `definition`: program that defines the output; default, the kernel's operator or access map. Rejects with a
 * CompileError (TC702) for an empty list of backends.
 */
export async function compareWithReference(
  kernel: Kernel,
  options: ReferenceOptions,
  definition?: Func,
): Promise<Verdict> {
  const { backends = ["sim"], seed = 1 } = options;
  if (backends.length === 0) {
    throw new CompileError([
      error("TC702", "a comparison on no backend cannot fail", {
        hint: 'backends: ["sim"], or none for sim',
      }),
    ]);
  }
  const required = requiredBackends(options.require);
  const failed = (message: string): Verdict => ({ pass: false, message: () => message });
  const skipped: string[] = [];
  const here: { backend: BackendChoice; options: BackendOptions }[] = [];
  for (const backend of backends) {
    const device = backend === "webgpu" ? await testDevice() : undefined;
    if (device?.ok !== false) here.push({ backend, options: { runner: device?.runner } });
    else if (required.has("webgpu"))
      return failed(`webgpu is required, and there is none: ${inOneLine(device.problem)}`);
    else skipped.push(`webgpu: ${inOneLine(device.problem)}`);
  }
  const types = kernel.source ?? kernel.tile;
  const said = new Set<string>();
  try {
    const program = definitionOf(kernel, definition);
    const draws: Iterable<Draw> =
      options.inputs === undefined
        ? drawsOf(types, program, seed)
        : [{ indices: "as given", inputs: toHosts(types, options.inputs) }];
    for (const draw of draws) {
      const result = await compareDraw(kernel, { program, definition, draw, backends: here });
      if (result.difference !== undefined) {
        const { expected, actual } = result.difference.data ?? {};
        return { ...failed(inWords(result.difference, draw)), expected, actual };
      }
      if (result.fills !== undefined) said.add(result.fills);
    }
  } catch (thrown) {
    if (!(thrown instanceof CompileError || thrown instanceof RunError)) throw thrown;
    return failed(renderDiagnostics(thrown.diagnostics));
  }
  const what = definition === undefined ? "its definition" : `@${definition.name}`;
  const gives = `@${kernel.name} gives the ${formatType(outputOf(types).type)} of ${what} on ${backends.map(nameOf).join(", ")}`;
  return {
    pass: true,
    message: () => [gives, ...said].join("; "),
    ...(skipped.length === 0 ? {} : { skipped: skipped.join("; ") }),
  };
}

/**
 * Input of {@link compareDraw}: one draw of inputs, the program that defines the expected output, and the
 * backends.
 */
export interface DrawComparison {
  readonly program: IndexProgram;
  /** Program that defines the output. Absent: the kernel's operator or access map does. */
  readonly definition?: Func | undefined;
  readonly draw: Draw;
  readonly backends: readonly { readonly backend: BackendChoice; readonly options: BackendOptions }[];
}

/**
 * Result of comparing a kernel with its definition on one draw of inputs. At most one field is present. If
 * none is present, the outputs are equal.
 */
export interface Compared {
  /** First difference between a backend's outcome and the definition. */
  readonly difference?: Diagnostic;
  /** Index value that the definition and every backend reject. */
  readonly rejected?: Diagnostic;
  /** Note for an output of which more than half are fill elements. */
  readonly fills?: string;
}

/**
 * Runs a kernel on each backend with one draw of inputs. Resolves to the first difference from the
 * definition, or to the index value or access that all backends reject (TC601, TC607, TC612). Rejects with
 * any other error of a backend.
 */
export async function compareDraw(
  kernel: Kernel,
  { program, definition, draw: { indices, inputs }, backends }: DrawComparison,
): Promise<Compared> {
  const types = kernel.source ?? kernel.tile;
  const { type } = outputOf(types);
  // The kernel may write in its inputs, and so may its definition, even where the other does not.
  const programs = [kernel.tile, kernel.access, kernel.source, definition];
  const writes = programs.some((func) => func !== undefined && isInPlace(func));
  const given = () => (writes ? copies(inputs) : inputs);
  const expected = await outcomeOf(() =>
    definition === undefined
      ? runOn("reference", kernel, given())
      : { output: definedOutput(definition, kernel.tile, given()) },
  );
  // Nothing is defined there, and every output is right. Stated inputs break their promise.
  if (expected.kind === "rejected" && indices !== "as given" && isPromise(program.map, expected.index))
    return {};
  for (const { backend, options } of backends) {
    if (expected.kind === "rejected" && typeof backend !== "string" && backend.rejects === false) continue;
    const name = nameOf(backend);
    const outcome = await outcomeOf(() => runOn(backend, kernel, given(), options)).catch(outsideItsTensors);
    if ("code" in outcome) return { difference: outcome };
    const { runner } = options;
    const { tile, target } = runner === undefined ? kernel : kernel.forTarget(runner.target);
    const difference =
      definitionDifference({ tile, target, inputs, backend }, type, expected, outcome) ??
      unpromised(kernel, name, outcome);
    if (difference !== undefined) return { difference };
  }
  if (expected.kind === "rejected") return { rejected: expected.index };
  const counted = indices === "indices in range" || indices === "as given";
  return counted ? fillsIn(program, inputsOfProgram(program, types, inputs)) : {};
}

/**
 * Returns the diagnostic (TC612) of a kernel that goes outside its tensors: it is about the draw. Throws
 * everything else again.
 */
function outsideItsTensors(thrown: unknown): Diagnostic {
  const [first] = thrown instanceof RunError ? thrown.diagnostics : [];
  if (first?.code === "TC612") return first;
  throw thrown;
}

/**
 * Returns an error (TC610) if `outcome` is the rejection of an index value with policy `unchecked`. Undefined
 * for an outcome with an output, and for any other policy.
 */
function unpromised({ tile }: Kernel, backend: string, outcome: Outcome): Diagnostic | undefined {
  const map = statementMap(tile);
  if (outcome.kind === "bits" || map === undefined || !isPromise(map, outcome.index)) return undefined;
  const { message, data } = outcome.index;
  return error(
    "TC610",
    `${backend}: its definition rejects an index that the kernel leaves unchecked: ${message}`,
    { data: { ...data, expected: `rejects ${message}`, actual: "unchecked" } },
  );
}

/**
 * Returns the object `{ fills }` if more than half of the output elements (of the points, for a scatter) get
 * the fill value. `fills` is a text with their number. Returns an empty object in all other cases, and for a
 * program whose access map differs between tiles.
 */
function fillsIn(program: IndexProgram, inputs: HostInputs): Pick<Compared, "fills"> {
  if (program.tile !== undefined || !program.map.indices.some(({ outOfRange }) => outOfRange === "zero"))
    return {};
  const fills = fillsOfMap(program.map, program.operands, inputs);
  const points = elementCount(program.map.domain);
  const counted = isScatter(program.map) ? "points write" : "elements of the output are";
  return 2 * fills > points ? { fills: `${fills} of ${points} ${counted} fills` } : {};
}

/**
 * Returns a diagnostic as one line of text: the message, the notes, and the seed and description of the
 * inputs. The line has no seed or description if no input of `draw` is random.
 */
export const inWords = ({ message, notes = [] }: Diagnostic, draw: Draw): string =>
  [message, ...notes, inputsInWords(draw) ?? ""].filter((piece) => piece !== "").join("; ");
