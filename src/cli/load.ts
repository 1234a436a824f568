/** Programs from the command line: a .tir file, a case file, an .onnx model, or flags. */
import {
  CompileError,
  hasErrors,
  outOfBoundsPolicies,
  parseModule,
  type AttrValue,
  type Func,
} from "../../ir/index.js";
import { operatorFor, readCases, type Case } from "../formats/cases.js";
import { readBytes, readText } from "../formats/files.js";
import { findGathers, readModel } from "../formats/onnx/index.js";
import type { TensorValue } from "../formats/tensor.js";
import { program, tryProgram, type ProgramResult } from "../api/program.js";
import { printDiagnostics } from "./terminal.js";
import { parseCount, parseType, scheduleOf, UsageError, type ProgramFlags } from "./options.js";

export interface LoadedProgram {
  readonly func: Func;
  /** Inputs that came with the program: a case's tensors, a model's constants. */
  readonly data?: () => TensorValue;
  readonly indices?: () => TensorValue;
}

/** Every program that the argument and flags name. Throws a CompileError, or a UsageError when nothing is named. */
export function loadPrograms(file: string | undefined, flags: ProgramFlags): LoadedProgram[] {
  checkFlags(file, flags);
  if (file === undefined) return [{ func: withFlags(fromFlags(flags), flags) }];
  if (file.endsWith(".json")) return fromCases(file, flags);
  if (file.endsWith(".onnx")) return fromModel(file, flags);
  return fromText(file, flags);
}

/** What a flag is to a program file: it describes a gather in its place, chooses from it, or changes what it says. */
const flagKinds = {
  op: "describes",
  dialect: "describes",
  data: "describes",
  indices: "describes",
  axis: "describes",
  batchDims: "describes",
  indexDimensions: "describes",
  inputDimensionCount: "describes",
  indicesDimensionCount: "describes",
  opset: "describes",
  featureLevel: "describes",
  case: "chooses",
  func: "chooses",
  oob: "changes",
  target: "changes",
  tile: "changes",
  view: "changes",
  profile: "changes",
  residency: "changes",
  order: "changes",
  doubleBuffer: "changes",
  cores: "changes",
  budgetRule: "changes",
  ubBytes: "changes",
} as const satisfies Readonly<Record<keyof ProgramFlags, "describes" | "chooses" | "changes">>;

/** Refuses flags that another one, or the file, would override in silence. */
function checkFlags(file: string | undefined, flags: ProgramFlags): void {
  const given = (Object.keys(flagKinds) as (keyof ProgramFlags)[]).filter(
    (flag) => flags[flag] !== undefined,
  );
  const choosing = given.filter((flag) => flagKinds[flag] === "chooses");
  if (file === undefined) {
    const [chooser] = choosing;
    if (chooser !== undefined) {
      throw new UsageError(`--${chooser} chooses from a program file, and none is given`);
    }
    return;
  }
  if (flags.op !== undefined) throw new UsageError("give a program file or --op, not both");
  const described = given.find((flag) => flagKinds[flag] === "describes");
  if (described !== undefined) {
    throw new UsageError(
      `--${dashed(described)} describes a gather with --op, and ${file} describes its own`,
    );
  }
  const chooser = file.endsWith(".json") ? "case" : "func";
  const other = choosing.find((flag) => flag !== chooser);
  if (other !== undefined)
    throw new UsageError(`--${other} chooses nothing from ${file}`, `--${chooser} does`);
}

/** A flag as it is written: `ub-bytes`. */
export const dashed = (flag: string): string =>
  flag.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** For commands that take one program. */
export function loadProgram(file: string | undefined, flags: ProgramFlags): LoadedProgram {
  const programs = loadPrograms(file, flags);
  const [first] = programs;
  if (first === undefined) throw new UsageError(`${file ?? "the command line"} holds no program`);
  if (programs.length > 1) {
    const names = programs.map(({ func }) => func.name);
    const shown = `${names.slice(0, 8).join(", ")}${names.length > 8 ? ", …" : ""}`;
    const flag = file?.endsWith(".json") === true ? "--case" : "--func";
    throw new UsageError(
      `${file ?? ""} holds ${programs.length} programs`,
      `choose one with ${flag}: ${shown}`,
    );
  }
  return first;
}

/** The program with the schedule flags over its own schedule, and --oob over its own policy. */
export function withFlags(func: Func, flags: ProgramFlags): Func {
  const scheduled = { ...func, schedule: { ...func.schedule, ...scheduleOf(flags) } };
  const oob = outOfBoundsPolicies.find((policy) => policy === flags.oob);
  if (oob === undefined) return scheduled;
  switch (scheduled.level) {
    case "source":
      return { ...scheduled, attrs: { ...scheduled.attrs, oob } };
    case "access":
      return { ...scheduled, oob };
    case "tile":
      throw new UsageError(`--oob ${oob}: @${func.name} is a tile program`, "its gather says oob = …");
  }
}

function fromFlags(flags: ProgramFlags): Func {
  const { op, data, indices } = flags;
  if (op === undefined)
    throw new UsageError("name a program file, or describe a gather with --op", "tilec --help");
  if (data === undefined || indices === undefined) {
    throw new UsageError("--op needs --data and --indices", "--data f32[64,80] --indices i32[32,64]");
  }
  const description = operatorFlags(op, flags);
  return program({ ...description, data: parseType(data, "data"), indices: parseType(indices, "indices") });
}

/** `--op gather --dialect pypto` and `--op pypto.index_select` name the same operator. */
function operatorFlags(op: string, flags: ProgramFlags): { op: string; attrs: Record<string, AttrValue> } {
  const attributes = {
    axis: flags.axis,
    batchDims: flags.batchDims,
    indexDimensions: flags.indexDimensions,
    inputDimensionCount: flags.inputDimensionCount,
    indicesDimensionCount: flags.indicesDimensionCount,
    opset: flags.opset,
    featureLevel: flags.featureLevel,
  };
  const [dialect, name] = dialectOf(op, flags);
  const operator = operatorFor(dialect, name, flags.batchDims !== undefined);
  if (operator === undefined) {
    throw new UsageError(
      `dialect ${dialect} has no operator ${name}`,
      "gather, gather_elements or gather_nd",
    );
  }
  const attrs: Record<string, AttrValue> = {};
  for (const [flag, value] of Object.entries(attributes)) {
    if (value === undefined) continue;
    const attr = operator.attrs[flag];
    if (attr === undefined) throw new UsageError(`--${dashed(flag)} means nothing to ${operator.op}`);
    attrs[attr] = flag === "featureLevel" ? value : parseCount(value, dashed(flag));
  }
  return { op: operator.op, attrs };
}

function dialectOf(op: string, flags: ProgramFlags): [string, string] {
  const [prefix, rest] = op.includes(".") ? op.split(".", 2) : [undefined, op];
  if (prefix === undefined) return [flags.dialect ?? "onnx", op];
  if (flags.dialect !== undefined && flags.dialect !== prefix) {
    throw new UsageError(`--op ${op} and --dialect ${flags.dialect} disagree`);
  }
  if (prefix !== "pypto") return [prefix, rest ?? ""];
  const common = new Map([
    ["gather", "gather_elements"],
    ["index_select", "gather"],
  ]);
  return [prefix, common.get(rest ?? "") ?? rest ?? ""];
}

function fromText(file: string, flags: ProgramFlags): LoadedProgram[] {
  const { module, diagnostics } = parseModule(readText(file), file);
  if (hasErrors(diagnostics)) throw new CompileError(diagnostics);
  const chosen = module.funcs.filter((func) => flags.func === undefined || func.name === flags.func);
  if (chosen.length === 0 && flags.func !== undefined) {
    throw new UsageError(
      `${file} has no function @${flags.func}`,
      module.funcs.map((func) => func.name).join(", "),
    );
  }
  return chosen.map((func) => ({ func: withFlags(func, flags) }));
}

function fromCases(file: string, flags: ProgramFlags): LoadedProgram[] {
  const cases = readCases(readText(file), file);
  const chosen = cases.filter((test) => flags.case === undefined || test.id === flags.case);
  if (chosen.length === 0) throw new UsageError(`${file} has no case ${flags.case ?? ""}`);
  const one = chosen.length === 1;
  return chosen.flatMap((test) => {
    const result = caseProgram(test);
    // One bad case among many must not hide the rest; chosen alone, it is what the user asked about.
    if (!result.ok && one) throw new CompileError(result.diagnostics);
    if (!result.ok) return [];
    const named: Func = { ...result.func, name: one ? "main" : test.id };
    return [
      { func: withFlags(named, flags), data: () => test.data.read(), indices: () => test.indices.read() },
    ];
  });
}

/** Every gather of a model with static shapes. Those without are reported; alone, or none with, they are the error. */
function fromModel(file: string, flags: ProgramFlags): LoadedProgram[] {
  const gathers = findGathers(readModel(readBytes(file), file));
  const chosen = gathers.filter((gather) => flags.func === undefined || gather.name === flags.func);
  if (chosen.length === 0) {
    const names = gathers.map((gather) => gather.name).join(", ");
    throw new UsageError(`${file} has no gather ${flags.func ?? "at all"}`, names === "" ? undefined : names);
  }
  const refused = chosen.flatMap((gather) => (gather.ok ? [] : [gather.diagnostic]));
  const programs = chosen.flatMap((gather): LoadedProgram[] => {
    if (!gather.ok) return [];
    const { data, indices } = gather;
    const func = program({ ...gather.program, name: gather.name });
    return [
      {
        func: withFlags(func, flags),
        ...(data === undefined ? {} : { data: () => data }),
        ...(indices === undefined ? {} : { indices: () => indices }),
      },
    ];
  });
  if (programs.length === 0) throw new CompileError(refused);
  printDiagnostics(refused.map((diagnostic) => ({ ...diagnostic, severity: "warning" as const })));
  return programs;
}

const caseProgram = (test: Case): ProgramResult => tryProgram({ ...test.program, name: "main" });
