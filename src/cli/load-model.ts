/** Programs of ONNX models; apart, since what reads them is slow to load. */
import { defined, CompileError, type AccessFunc, type Diagnostic } from "../../ir/index.js";
import { faultsOf } from "../../ir/faults.js";
import { readBytes } from "../formats/files.js";
import {
  fixedInputs,
  foldPolicies,
  labelOf,
  readModel,
  surveyModel,
  type FoldCycles,
  type FoldPolicy,
  type OnnxGather,
  type OnnxNode,
  type OnnxUncompiled,
  type OnnxUse,
} from "../formats/onnx/index.js";
import { tryCompile, type CompileOptions, type CompileResult } from "../api/compile.js";
import { tryProgram, type ProgramDescription, type ProgramResult } from "../api/program.js";
import { withText } from "../api/try-text.js";
import { ofProgram, withFlags, type LoadedProgram, type Refuse } from "./loaded-program.js";
import { parseBind, parseMaxSizes, targeting, type ProgramFlags, type ProjectFlags } from "./options.js";
import { printDiagnostics, printWarnings } from "./terminal.js";
import { UsageError } from "./usage-error.js";

/** Gather of an ONNX model with a program, or with diagnostics if no program exists. */
export interface ModelGather {
  readonly name: string;
  /** ONNX's name of the operator. */
  readonly op: string;
  readonly node: OnnxNode;
  readonly loaded?: LoadedProgram;
  /** Diagnostics with the reason why there is no program, or hints about the program. */
  readonly diagnostics: readonly Diagnostic[];
  /** Nodes of a program that combines a gather with the nodes around it. */
  readonly nodes?: readonly OnnxNode[];
  /** The same in words: `Transpose "t"`. */
  readonly folds?: readonly string[];
  /** Tensors of the model that a folded program reads, by the keys of its inputs. */
  readonly reads?: Readonly<Record<string, string>>;
  /** Cycles of a folded program, and of its nodes as separate kernels. */
  readonly fold?: FoldCycles;
  /** Nodes next to the gather that are not folded, and why. */
  readonly kept?: readonly string[];
  /** Cycles of a fold that was not taken, and of its nodes as separate kernels, which take less. */
  readonly unfolded?: FoldCycles;
  /**
   * Reason why there is no program. `open`: a shape is not known. `refused`: the node cannot be read, or
   * breaks a rule of its operator. `uncompiled`: it reads or writes by index, and tilec does not compile it;
   * it is listed and is not an error.
   */
  readonly without?: "open" | "refused" | "uncompiled";
}

/**
 * Result of {@link loadModel}: gathers and warnings of an ONNX model, and, for each node, the nodes that read
 * the node's outputs.
 */
export interface LoadedModel {
  readonly gathers: readonly ModelGather[];
  readonly warnings: readonly Diagnostic[];
  /** All nodes in model order, each with the nodes that read its outputs. */
  readonly uses: readonly OnnxUse[];
}

/**
 * Loads the gathers of an ONNX model, or only the gather of `--func`, with the sizes of `--bind`. `target`:
 * target whose estimated cycles decide which nodes are merged into a gather. Throws a UsageError if the model
 * has no gather `--func`.
 */
export function loadModel(
  file: string,
  flags: ProgramFlags,
  target: Pick<CompileOptions, "target" | "findTarget"> = {},
): LoadedModel {
  const bindings = {
    ...(flags.bind === undefined ? {} : { bind: parseBind(flags.bind) }),
    ...(flags.most === undefined ? {} : { most: parseMaxSizes(flags.most) }),
  };
  const { func, oob } = flags;
  const policy = defined({ oob });
  const compile = (program: AccessFunc): CompileResult =>
    withText(tryCompile(withFlags(program, policy), target));
  const fold = foldPolicies.find((policy) => policy === flags.fold) ?? "cost";
  const model = readModel(readBytes(file), file);
  const surveyed = (how: FoldPolicy): LoadedModel => {
    const { nodes, ...rest } = surveyModel(model, bindings, { fold: how, compile });
    return { gathers: nodes.flatMap((node) => modelGathers(node, flags)), ...rest };
  };
  if (func === undefined) return surveyed(fold);
  const named = ({ gathers, ...rest }: LoadedModel): LoadedModel => ({
    gathers: gathers.filter(({ name }) => name === func),
    ...rest,
  });
  // A gather alone has its name whatever folds, and folds take long to weigh.
  const alone = named(surveyed("never"));
  if (alone.gathers.length > 0) return alone;
  const all = surveyed(fold);
  const gathers = named(all);
  if (gathers.gathers.length === 0) throw withoutGather(file, func, all.gathers);
  return gathers;
}

/**
 * Returns the UsageError for a file without a gather named `which`. The hint lists the gathers in the file.
 */
export function withoutGather(file: string, which: string, all: readonly ModelGather[]): UsageError {
  const names = all.map(({ name }) => name).join(", ");
  return new UsageError(`${file} has no gather ${which}`, names === "" ? undefined : names);
}

/** Returns functions that return the inputs of a gather that are constant in the model, by key. */
const inputsFor = (gather: Parameters<typeof fixedInputs>[0]): NonNullable<LoadedProgram["inputs"]> =>
  Object.fromEntries(Object.entries(fixedInputs(gather)).map(([key, value]) => [key, () => value]));

/**
 * Returns the source function that a description defines, or diagnostics. An exception in an operator's rule
 * becomes a diagnostic.
 */
function programOf(description: ProgramDescription): ProgramResult {
  try {
    return tryProgram(description);
  } catch (thrown) {
    return { ok: false, diagnostics: faultsOf(thrown) };
  }
}

/**
 * Returns the programs of one gather of a model: the gather alone, then the gather merged with neighbouring
 * nodes, if possible. A gather without a program has one entry with diagnostics.
 */
function modelGathers(gather: OnnxGather | OnnxUncompiled, flags: ProgramFlags): ModelGather[] {
  const { name, node } = gather;
  const { op } = node;
  if ("compiled" in gather)
    return [{ name, op, node, diagnostics: [gather.diagnostic], without: "uncompiled" }];
  if (!gather.ok) {
    const { diagnostic, open, verdict } = gather;
    if (open === undefined) return [{ name, op, node, diagnostics: [diagnostic], without: verdict }];
    return [
      {
        name,
        op,
        node,
        loaded: { func: withFlags(open.func, flags), inputs: inputsFor(open) },
        diagnostics: [],
      },
    ];
  }
  const { folded, kept, unfolded } = gather;
  const result = programOf({ ...gather.program, name });
  if (!result.ok) return [{ name, op, node, diagnostics: result.diagnostics, without: "refused" }];
  const loaded = { func: withFlags(result.func, flags), inputs: inputsFor(gather) };
  const alone: ModelGather = {
    name,
    op,
    node,
    loaded,
    diagnostics: [],
    ...(kept.length === 0 ? {} : { kept }),
    ...defined({ unfolded }),
  };
  if (folded === undefined) return [alone];
  const { func, nodes, reads, inputs, hints, cycles } = folded;
  const fixed = Object.fromEntries(Object.entries(inputs).map(([key, tensor]) => [key, () => tensor]));
  const together = { func: withFlags(func, flags), inputs: fixed };
  const folds = nodes.map(labelOf);
  const fold = defined({ fold: cycles });
  return [
    alone,
    { name: func.name, op, node, loaded: together, diagnostics: hints, nodes, folds, reads, ...fold },
  ];
}

/**
 * Loads the gathers of an ONNX model as programs, or only the gather of `--func`. Throws a UsageError if no
 * gather has the name of `--func`, and a CompileError if no gather has a program.
 */
export function loadModelPrograms(
  file: string,
  flags: ProgramFlags & ProjectFlags,
  {
    target = targeting(flags),
    refuse = printWarnings,
  }: { readonly target?: Pick<CompileOptions, "target" | "findTarget">; readonly refuse?: Refuse } = {},
): LoadedProgram[] {
  const { gathers: all, warnings } = loadModel(file, flags, target);
  const gathers = all.filter(
    ({ folds, without }) => flags.func !== undefined || (without !== "uncompiled" && folds === undefined),
  );
  if (gathers.length === 0) throw withoutGather(file, "at all", all);
  return programsOf(gathers, warnings, refuse);
}

/**
 * Returns the programs of gathers and prints the warnings; `refuse` receives the diagnostics of gathers
 * without a program. Throws a CompileError if no gather has a program.
 */
export function programsOf(
  gathers: readonly Pick<ModelGather, "name" | "diagnostics" | "loaded" | "without">[],
  warnings: readonly Diagnostic[],
  refuse: Refuse,
): LoadedProgram[] {
  const programs = gathers.flatMap(({ loaded }) => loaded ?? []);
  const warningsOf = (which: typeof gathers): Diagnostic[] =>
    which.flatMap(({ name, diagnostics }) =>
      gathers.length > 1 ? ofProgram(name, diagnostics) : diagnostics,
    );
  if (programs.length === 0) throw new CompileError(warningsOf(gathers));
  printDiagnostics(warnings);
  printWarnings(warningsOf(gathers.filter(({ without }) => without !== "refused")));
  const refused = warningsOf(gathers.filter(({ without }) => without === "refused"));
  if (refused.length > 0) refuse(refused);
  return programs;
}
