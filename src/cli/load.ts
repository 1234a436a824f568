/** Programs from the command line: a .tir file, a case file, an .onnx model, or flags. */
import {
  defined,
  attributeAliases,
  attributeFlags,
  attributesOf,
  bindSome,
  CompileError,
  findOp,
  hasErrors,
  inputName,
  inputsOf,
  invariant,
  dynamicSymbols,
  parseModule,
  scheduleEntries,
  type AttrSpec,
  type AttrValue,
  type Func,
  type NamedAttr,
  type OpDef,
  type Schedule,
} from "../../ir/index.js";
import { camelCase } from "../../ir/ops/attributes.js";
import { readBytes, readProgramText } from "../formats/files.js";
import { withPositions, type FixedTensor } from "../formats/fixed-masks.js";
import { readNpy } from "../formats/npy.js";
import { programKind } from "../formats/program-kind.js";
import { findMlirGathers, type MlirGather } from "../formats/mlir.js";
import { program } from "../api/program.js";
import type { Project } from "../config/project.js";
import { withProfile } from "../api/with-profile.js";
import { withFlags, type LoadedProgram, type Refuse } from "./loaded-program.js";
import { matching } from "./matching.js";
import { operatorNamed } from "./named-operator.js";
import { printWarnings } from "./terminal.js";
import {
  dashed,
  flagOf,
  parseBind,
  parseCount,
  parseShape,
  parseType,
  scheduleOf,
  type ProgramFlags,
  type ProjectFlags,
  type AttributeFlag,
} from "./options.js";
import { parseNumber } from "./flag-values.js";
import { projectAttributeFlags } from "./project-operators.js";
import { UsageError } from "./usage-error.js";

/** Options for loading the programs of a file. */
interface Loading {
  /** Programs of an ONNX model; by default each gather alone, or the one of `--func`. */
  readonly fromModel?: (file: string) => Promise<LoadedProgram[]>;
  /** Told of gathers that are refused beside others that are not; by default they are warnings. */
  readonly refuse?: Refuse;
}

/**
 * Loads the programs that the file argument and the flags name, under the PyPTO rule profile of the config.
 * Rejects with a CompileError for an invalid program, and with a UsageError if no program is named.
 */
export async function loadPrograms(
  file: string | undefined,
  flags: ProgramFlags & ProjectFlags,
  loading: Loading = {},
): Promise<LoadedProgram[]> {
  return (await loadStated(file, flags, loading)).map((loaded) => profiled(loaded, flags.project));
}

/**
 * Returns a loaded program with the config's PyPTO rule profile in the schedule. Tile programs and programs
 * that state a profile are unchanged.
 */
export const profiled = (
  { func, unbound, ...loaded }: LoadedProgram,
  { profile }: Project,
): LoadedProgram => ({
  ...loaded,
  func: withProfile(func, profile),
  ...defined({ unbound: unbound && { ...unbound, func: withProfile(unbound.func, profile) } }),
});

/**
 * Loads the programs that the file argument and the flags name. The PyPTO rule profile that the config file
 * sets is not applied to the programs.
 */
async function loadStated(
  file: string | undefined,
  flags: ProgramFlags & ProjectFlags,
  { fromModel, refuse = printWarnings }: Loading,
): Promise<LoadedProgram[]> {
  checkFlags(file, flags);
  if (flags.spatter !== undefined)
    return (await import("./load-spatter.js")).loadSpatter(flags.spatter, flags);
  if (file === undefined) return [fromFlags(flags)];
  switch (programKind(file)) {
    case "json":
      return (await import("./load-cases.js")).loadCases(file, flags);
    case "onnx":
      return fromModel === undefined
        ? (await import("./load-model.js")).loadModelPrograms(file, flags, { refuse })
        : fromModel(file);
    case "mlir":
      return fromMlir(file, flags, refuse);
    case "tir":
      return fromText(file, flags);
  }
}

/**
 * Relation of a flag to a program file. The flag describes a gather in place of the file, chooses a program
 * from it, binds its dims, or changes what it states.
 */
type FlagKind = "describes" | "chooses" | "changes" | "binds";

/**
 * Kind of every flag except three groups: attributes, which describe a gather; schedule entries, which change
 * what a file states; and `--input`.
 */
const flagKinds: Readonly<
  Record<Exclude<keyof ProgramFlags, AttributeFlag | keyof Schedule | "input">, FlagKind>
> = {
  op: "describes",
  dialect: "describes",
  data: "describes",
  indices: "describes",
  case: "chooses",
  spatter: "describes",
  func: "chooses",
  bind: "binds",
  most: "binds",
  fold: "binds",
  oob: "changes",
  target: "changes",
  limits: "changes",
  doubleBuffer: "changes",
};

const kinds: ReadonlyMap<string, FlagKind> = new Map([
  ...[...attributeFlags.keys()].map((key) => [flagOf(key), "describes"] as const),
  ...Object.keys(scheduleEntries).map((key) => [key, "changes"] as const),
  ...Object.entries(flagKinds),
]);

/**
 * Throws a UsageError for a flag that would have no effect with the given program file or the other flags.
 */
export function checkFlags(file: string | undefined, flags: ProgramFlags & ProjectFlags): void {
  const attributes = new Set([...projectAttributeFlags(flags.project).keys()].map(camelCase));
  const kindOf = (flag: string): FlagKind | undefined =>
    kinds.get(flag) ?? (attributes.has(flag) ? "describes" : undefined);
  const given = (kind: FlagKind): string[] =>
    Object.entries(flags).flatMap(([flag, value]) =>
      value !== undefined && kindOf(flag) === kind ? [flag] : [],
    );
  if (flags.spatter !== undefined) {
    const other = [...given("describes"), ...given("binds"), ...given("chooses")].find(
      (flag) => flag !== "spatter" && flag !== "case",
    );
    const also = file ?? (other === undefined ? undefined : `--${dashed(other)}`);
    if (also === undefined) return;
    throw new UsageError(`give ${also} or --spatter ${flags.spatter}, not both`);
  }
  const choosing = given("chooses");
  const kind = file === undefined ? undefined : programKind(file);
  if (flags.bind !== undefined && (kind === undefined || kind === "json"))
    throw new UsageError(
      "--bind needs a .tir file with symbols or an .onnx model with symbolic dims",
      file === undefined ? "name a .tir or .onnx file" : "a case has a field bind of its own",
    );
  if (flags.most !== undefined && kind !== "onnx")
    throw new UsageError(
      "--most needs an .onnx model: it sets the maximum of dynamic dims",
      "in a .tir file, write dim N <= 64",
    );
  if (flags.fold !== undefined && kind !== "onnx")
    throw new UsageError(
      "--fold needs an .onnx model: it controls how nodes around gathers are folded",
      "leave --fold out",
    );
  if (file === undefined) {
    const [chooser] = choosing;
    if (chooser !== undefined) {
      throw new UsageError(`--${chooser} chooses from a program file, and no file is given`);
    }
    return;
  }
  if (flags.op !== undefined)
    throw new UsageError("give a program file or --op, not both", "leave out one of the two");
  const [described] = given("describes");
  if (described !== undefined) {
    throw new UsageError(
      `--${dashed(described)} needs --op, and cannot be used with ${file}, which describes its own gather`,
    );
  }
  const chooser = kind === "json" ? "case" : "func";
  const other = choosing.find((flag) => flag !== chooser);
  if (other !== undefined) throw new UsageError(`--${other} cannot choose from ${file}`, `use --${chooser}`);
}

/**
 * Loads the program for a command that takes exactly one program. Rejects with a UsageError if the file and
 * flags name no program or several.
 */
export async function loadProgram(
  file: string | undefined,
  flags: ProgramFlags & ProjectFlags,
): Promise<LoadedProgram> {
  const programs = await loadPrograms(file, flags);
  const [first] = programs;
  if (first === undefined) throw new UsageError(`${file ?? "the command line"} has no program`);
  if (programs.length > 1) {
    const names = programs.map(({ id, func }) => id ?? func.name);
    const shown = `${names.slice(0, 8).join(", ")}${names.length > 8 ? ", …" : ""}`;
    const isByCase = flags.spatter !== undefined || (file !== undefined && programKind(file) === "json");
    const flag = isByCase ? "--case" : "--func";
    throw new UsageError(
      `${file ?? flags.spatter ?? ""} has ${programs.length} programs`,
      `choose one with ${flag}: ${shown}`,
    );
  }
  return first;
}

/**
 * Returns the program that `--op` and related flags describe, with inputs read from files. Throws a
 * UsageError if `--op`, `--data` or `--indices` is missing.
 */
function fromFlags(flags: ProgramFlags & ProjectFlags): LoadedProgram {
  const { op, data, indices: indexFlags = [] } = flags;
  if (op === undefined)
    throw new UsageError("name a program file, or describe a gather with --op", "tilec --help");
  if (data === undefined || indexFlags.length === 0) {
    throw new UsageError("--op needs --data and --indices", "--data f32[64,80] --indices i32[32,64]");
  }
  const { operators } = flags.project;
  const described = operatorFlags(op, flags);
  refuseMissingInputs(findOp(described.op, operators), indexFlags.length);
  const dataType = parseType(data, "data");
  const given = indexInputs(indexFlags, flags, findOp(described.op, operators));
  const [indices, ...others] = given.map(({ type }) => type);
  invariant(indices !== undefined, "a gather has indices");
  const { description, inputs } = withPositions(
    { ...described, ...defined({ operators }), data: dataType, indices, others },
    [{ type: dataType }, ...given],
  );
  const func = program({ ...description, schedule: scheduleOf(flags) });
  const fixed = inputsOf(func).flatMap(({ name }, k) => {
    const read = inputs[k]?.read;
    return read === undefined ? [] : [[name, read] as const];
  });
  if (fixed.length === 0) return { func };
  return { func, given: Object.fromEntries(fixed), taken: given.flatMap(({ entry }) => entry ?? []) };
}

/**
 * Throws a UsageError if an operator needs more inputs than the flags give. `given`: number of `--indices`
 * flags.
 */
function refuseMissingInputs(def: OpDef | undefined, given: number): void {
  const { name = "", inputs = [], optional = [] } = def ?? {};
  const [, ...others] = inputs.filter((input) => !optional.includes(input));
  const missing = others.slice(given);
  if (missing.length === 0) return;
  const flags = missing.map((input) => `${input} by another --indices`);
  throw new UsageError(
    `${name} takes ${inputs.join(", ")}, and ${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} missing`,
    `give ${flags.join(" and ")}; tilec help op ${name}`,
  );
}

/** An index input of flags; `entry`: what `--input` says of it. */
interface IndexInput extends FixedTensor {
  readonly entry?: string;
}

/**
 * Returns the types of the index inputs, one for each value of `--indices`. An input from a .npy file also
 * has elements; the elements of a boolean mask may come from `--input`.
 */
function indexInputs(
  texts: readonly string[],
  { input = [] }: ProgramFlags,
  def: OpDef | undefined,
): readonly IndexInput[] {
  const typed = texts.map((text): IndexInput => {
    if (!text.endsWith(".npy")) return { type: parseType(text, "indices") };
    const value = readNpy(readBytes(text), text);
    return { type: value.type, read: () => value };
  });
  if (def?.expandMasks === undefined || typed.every(({ type }) => type.dtype !== "bool")) return typed;
  return typed.map((type, k): IndexInput => {
    const name = inputName(def, k + 1);
    const names = k === 0 && typed.length === 1 ? [name, "indices"] : [name];
    const entry = input.find((each) => names.some((called) => each.startsWith(`${called}=`)));
    if (type.read !== undefined || entry === undefined) return type;
    const file = entry.slice(entry.indexOf("=") + 1);
    const value = matching(readNpy(readBytes(file), file), type.type, name, file);
    return { type: type.type, read: () => value, entry };
  });
}

/**
 * Returns the operator that `--op` and `--dialect` name, and the attributes that flags give. Throws a
 * UsageError for an attribute that the operator does not have.
 */
function operatorFlags(
  op: string,
  flags: ProgramFlags & ProjectFlags,
): { op: string; attrs: Record<string, AttrValue> } {
  const values = new Map<string, unknown>(Object.entries(flags));
  const keys = [...attributeFlags.keys(), ...projectAttributeFlags(flags.project).keys()];
  const given = keys.flatMap((key) => {
    const value = values.get(camelCase(key));
    return typeof value === "string" ? [{ key, value }] : [];
  });
  const operator = operatorNamed(
    op,
    flags.dialect,
    flags.project.operators,
    given.map(({ key }) => key),
  );
  const attributes = attributesOf(operator);
  const attrs: Record<string, AttrValue> = {};
  for (const { key, value } of given) {
    const attr = attributes.get(key) ?? byAlias(attributes, key);
    if (attr === undefined && [...attributes.keys()].some((other) => camelCase(other) === camelCase(key)))
      continue;
    const flag = dashed(camelCase(key));
    if (attr === undefined)
      throw new UsageError(`${operator.name} has no attribute --${flag}`, `tilec help op ${operator.name}`);
    attrs[attr.name] = attrValue(attr.spec, value, flag);
  }
  if (flags.oob !== undefined) attrs["oob"] = flags.oob;
  return { op: operator.name, attrs };
}

/**
 * Returns the attribute that an operator of a config calls by a second name of a flag; undefined if there is
 * none.
 */
const byAlias = (attrs: ReadonlyMap<string, NamedAttr>, flag: string): NamedAttr | undefined =>
  [...attrs].find(([key]) => attributeAliases.get(camelCase(key)) === flag)?.[1];

/**
 * Parses the value of an attribute's flag as a number, a list of numbers or a text, by the kind of the
 * attribute. Throws a UsageError for a value that is not of the kind.
 */
function attrValue({ kind }: AttrSpec, value: string, flag: string): AttrValue {
  switch (kind) {
    case "int":
      return parseCount(value, flag);
    case "number":
      return parseNumber(value, flag);
    case "ints":
      return value.trim() === "" ? [] : parseShape(value, flag);
    case "text":
    case "word":
      return value;
  }
}

/**
 * Loads the functions of a .tir file, or only the function of `--func`. Throws a CompileError for an invalid
 * text, and a UsageError if no function has the name of `--func`.
 */
function fromText(file: string, flags: ProgramFlags & ProjectFlags): LoadedProgram[] {
  const { module, diagnostics } = parseModule(readProgramText(file), file, flags.project.operators);
  if (hasErrors(diagnostics)) throw new CompileError(diagnostics);
  const chosen = module.funcs.filter((func) => flags.func === undefined || func.name === flags.func);
  if (chosen.length === 0 && flags.func !== undefined) {
    throw new UsageError(
      `${file} has no function @${flags.func}`,
      module.funcs.map((func) => func.name).join(", "),
    );
  }
  return chosen.map((func) => withSizes(func, flags));
}

/**
 * Returns a program with symbols (dynamic sizes) bound to the sizes of `--bind`; symbols without a size stay
 * dynamic. Throws a UsageError for a shape in place of a size, and a CompileError for an invalid size.
 */
export function withSizes(func: Func, flags: ProgramFlags): LoadedProgram {
  const { bind } = flags;
  const unbound = withFlags(func, flags);
  if (bind === undefined) return { func: unbound };
  const entries = Object.entries(parseBind(bind)).map(([name, size]) => {
    if (typeof size === "number") return [name, size] as const;
    throw new UsageError(`--bind ${name} is a shape; a symbol takes one number`, `--bind ${name}=37`);
  });
  const sizes = Object.fromEntries(entries);
  const bound = bindSome(unbound, sizes);
  if (!bound.ok) throw new CompileError(bound.diagnostics);
  const isBound = dynamicSymbols(bound.func).length === 0;
  return { func: bound.func, ...(isBound ? { unbound: { func: unbound, sizes } } : {}) };
}

/**
 * Loads each stablehlo.gather of an MLIR text, or only the gather of `--func`. Throws a CompileError if no
 * gather can be read. Throws a UsageError if the text has no gather, or none with the name of `--func`.
 */
function fromMlir(file: string, flags: ProgramFlags, refuse: Refuse): LoadedProgram[] {
  const gathers = findMlirGathers(readProgramText(file), file);
  const nameOf = (gather: MlirGather): string => (gather.ok ? gather.func.name : gather.name);
  const chosen = gathers.filter((gather) => flags.func === undefined || nameOf(gather) === flags.func);
  if (chosen.length === 0) {
    const names = gathers.map(nameOf).join(", ");
    throw new UsageError(
      `${file} has no stablehlo.gather ${flags.func ?? "at all"}`,
      names === "" ? undefined : names,
    );
  }
  const refused = chosen.flatMap((gather) => (gather.ok ? [] : [gather.diagnostic]));
  const programs = chosen.flatMap((gather) => (gather.ok ? [{ func: withFlags(gather.func, flags) }] : []));
  if (programs.length === 0) throw new CompileError(refused);
  if (refused.length > 0) refuse(refused);
  return programs;
}
