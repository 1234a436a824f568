/** Programs of ONNX models; apart, since what reads them is slow to load. */
import { CompileError, type Diagnostic } from "../../ir/index.js";
import { readBytes } from "../formats/files.js";
import { findGathers, readModel, type OnnxGather, type OnnxOpen } from "../formats/onnx/index.js";
import { tryProgram } from "../api/program.js";
import { withFlags, type LoadedProgram } from "./loaded-program.js";
import { parseBind, parseMost, type ProgramFlags } from "./options.js";
import { printDiagnostics } from "./terminal.js";
import { UsageError } from "./usage-error.js";

/** A gather of a model, with its program where its shape is known. */
export interface ModelGather {
  readonly name: string;
  /** ONNX's name of the operator. */
  readonly op: string;
  readonly loaded?: LoadedProgram;
  /** Why there is no program. */
  readonly diagnostics: readonly Diagnostic[];
  /** Of the program that is a gather with what stands around it: its nodes. */
  readonly folds?: readonly string[];
  /** Views next to the gather that are not folded, and why. */
  readonly kept?: readonly string[];
}

/** Every gather of a model, and behind it the program that has folded what stands around it, or the one of `--func`, under `--bind`. */
export function loadModel(file: string, flags: ProgramFlags): readonly ModelGather[] {
  const bindings = {
    ...(flags.bind === undefined ? {} : { bind: parseBind(flags.bind) }),
    ...(flags.most === undefined ? {} : { most: parseMost(flags.most) }),
  };
  const gathers = findGathers(readModel(readBytes(file), file), bindings);
  const all = gathers.flatMap((gather) => modelGathers(gather, flags));
  const chosen = all.filter(({ name }) => flags.func === undefined || name === flags.func);
  if (chosen.length === 0) {
    const names = all.map(({ name }) => name).join(", ");
    throw new UsageError(`${file} has no gather ${flags.func ?? "at all"}`, names === "" ? undefined : names);
  }
  return chosen;
}

/** Operands that the model fixes. */
const known = ({
  data,
  indices,
}: Pick<OnnxOpen, "data" | "indices">): NonNullable<LoadedProgram["inputs"]> => ({
  ...(data === undefined ? {} : { data: () => data }),
  ...(indices === undefined ? {} : { indices: () => indices }),
});

/** The gather alone, then folded where it is; of one whose outermost dims stay open the program over symbols. */
function modelGathers(gather: OnnxGather, flags: ProgramFlags): ModelGather[] {
  const { name, node } = gather;
  const { op } = node;
  if (!gather.ok) {
    const { diagnostic, open } = gather;
    if (open === undefined) return [{ name, op, diagnostics: [diagnostic] }];
    return [
      { name, op, loaded: { func: withFlags(open.func, flags), inputs: known(open) }, diagnostics: [] },
    ];
  }
  const { folded, kept } = gather;
  const result = tryProgram({ ...gather.program, name });
  if (!result.ok) return [{ name, op, diagnostics: result.diagnostics }];
  const loaded = { func: withFlags(result.func, flags), inputs: known(gather) };
  const alone: ModelGather = { name, op, loaded, diagnostics: [], ...(kept.length === 0 ? {} : { kept }) };
  if (folded === undefined) return [alone];
  const { func, nodes, inputs } = folded;
  const fixed = Object.fromEntries(Object.entries(inputs).map(([key, tensor]) => [key, () => tensor]));
  const together = { func: withFlags(func, flags), inputs: fixed };
  return [alone, { name: func.name, op, loaded: together, diagnostics: [], folds: nodes }];
}

/** Every gather of a model with static shapes, a folded one only by its name. Those without are reported; alone, or none with, they are the error. */
export function loadModelPrograms(file: string, flags: ProgramFlags): LoadedProgram[] {
  const gathers = loadModel(file, flags).filter(
    ({ folds }) => folds === undefined || flags.func !== undefined,
  );
  const refused = gathers.flatMap(({ diagnostics }) => diagnostics);
  const programs = gathers.flatMap(({ loaded }) => loaded ?? []);
  if (programs.length === 0) throw new CompileError(refused);
  printDiagnostics(refused.map((diagnostic) => ({ ...diagnostic, severity: "warning" as const })));
  return programs;
}
