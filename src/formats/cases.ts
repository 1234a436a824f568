/**
 * Case files: regression cases, each one gather, its inputs, and what must come out.
 *
 * A file is checked against its schema before it is used; a malformed case is a diagnostic (TC013) that names
 * the case and the field, and the other cases of its file stand.
 */
import { checkArgument } from "../../ir/argument.js";
import {
  defined,
  attributesOf,
  clockVersion,
  CompileError,
  entryOf,
  givenEntries,
  invariant,
  inputName,
  opDefs,
  operatorFor,
  throwIfErrors,
  type AttrValue,
  type Diagnostic,
  type OpDef,
  type Operators,
  type Schedule,
} from "../../ir/index.js";
import { operandNames, type ProgramDescription } from "../api/program.js";
import { caseLines } from "./case-lines.js";
import { caseFileProblems, caseProblemsAmong } from "./case-problems.js";
import { mapOp, type CaseJson, type Json, type LimitsJson } from "./case-schema.js";
import { withPositions } from "./fixed-masks.js";
import { malformed, readCaseTensor, type CaseTensor } from "./case-tensor.js";
import { messageOf } from "../../ir/faults.js";

/** Test case from a JSON file (docs/cases.md): a program, input tensors, and the expected output or error. */
export interface Case {
  readonly id: string;
  /** Line on which the case begins in its file, from 1. */
  readonly line?: number;
  /** Operator with its attributes and types. Absent if `tir` alone states the program. */
  readonly program?: ProgramDescription;
  /**
   * Program as text. If present, it is the program that runs, and `program` only defines the expected output.
   */
  readonly tir?: string;
  /** The operators that the text may name. Absent: the built-in ones. */
  readonly operators?: Operators;
  /** Schedule and target that the case states. */
  readonly options: Pick<ProgramDescription, "schedule" | "target">;
  /** By key; of a map by their names in the text. */
  readonly inputs: Readonly<Record<string, CaseTensor>>;
  /** Sizes of symbols. */
  readonly bind?: Readonly<Record<string, number>>;
  /** The first point with a bad index, or that writes an element again. */
  readonly first?: readonly number[];
  /** The input that is written in place. */
  readonly inout?: string;
  /** Absent: compare with `reference`. */
  readonly output?: CaseTensor;
  /** The most that the kernel may take. */
  readonly limits?: LimitsJson;
  /** The category of the expected error; absent when the case must pass. */
  readonly expectedError?: string;
  /** The code of that error, where the case tells it. */
  readonly expectedCode?: string;
}

/** Test case that cannot be run, with the diagnostics that explain the reason. */
export interface MalformedCase {
  readonly id: string;
  readonly line?: number;
  readonly malformed: readonly Diagnostic[];
}

/**
 * Returns all test cases of a JSON file's text. A malformed test case has diagnostics on its first ten
 * problems instead of a program. Throws a CompileError (TC013) if the text is not JSON or has the wrong
 * structure. `operators`: operators that test cases may name.
 */
export function readCaseList(text: string, file: string, operators?: Operators): (Case | MalformedCase)[] {
  checkArgument("readCaseList", "text", text);
  const problems = caseProblemsAmong(operators ?? opDefs);
  const { entries, depth } = layoutOf(parse(text, file), file);
  const cases = new Map<string, number>();
  const lines = caseLines(text, depth);
  return entries.map((entry, k) => {
    const { [k]: begins } = lines;
    const line = defined({ line: begins });
    const id = idOf(entry);
    const place = `${file}: case ${k}`;
    const where = id === undefined ? place : `${place} (${id})`;
    const first = id === undefined ? undefined : cases.get(id);
    if (id !== undefined && first === undefined) cases.set(id, k);
    const faults = [
      ...problems(entry).slice(0, maxProblems),
      ...(first === undefined ? [] : [`case ${first} has the same id`]),
    ];
    if (faults.length > 0) {
      return { id: id ?? place, ...line, malformed: faults.map((message) => malformed(where, message)) };
    }
    try {
      return { ...readCase(entry as unknown as CaseJson, where, file, operators), ...line };
    } catch (thrown) {
      if (!(thrown instanceof CompileError)) throw thrown;
      return { id: id ?? place, ...line, malformed: thrown.diagnostics };
    }
  });
}

/**
 * Returns all test cases of a JSON file's text. Throws a CompileError (TC013) if any test case is malformed;
 * {@link readCaseList} accepts malformed test cases.
 */
export function readCases(text: string, file: string, operators?: Operators): Case[] {
  const list = readCaseList(text, file, operators);
  const diagnostics = list.flatMap((test) => ("malformed" in test ? test.malformed : []));
  if (diagnostics.length > 0) throw new CompileError(diagnostics);
  return list.flatMap((test) => ("malformed" in test ? [] : [test]));
}

/**
 * Returns the JSON value that a text represents. Throws a CompileError (TC013) if the text is not valid JSON.
 * `file`: file name for the message.
 */
function parse(text: string, file: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (thrown) {
    const why = messageOf(thrown);
    throw new CompileError([malformed(file, `not JSON: ${why}`)]);
  }
}

/** More problems of one case than this help nobody. */
const maxProblems = 10;

const isObject = (value: Json | undefined): value is Readonly<Record<string, Json>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Returns the test cases in a file's JSON value, and the nesting depth: 0 for a single test case, 1 for a
 * list, 2 for `{schema, cases}`. Throws a CompileError (TC013) for errors outside the test cases.
 */
function layoutOf(
  json: Json,
  file: string,
): { readonly entries: readonly Json[]; readonly depth: 0 | 1 | 2 } {
  if (Array.isArray(json)) return { entries: json as readonly Json[], depth: 1 };
  if (!isObject(json) || !("schema" in json || "cases" in json)) return { entries: [json], depth: 0 };
  throwIfErrors(caseFileProblems(json).map((message) => malformed(file, message)));
  return { entries: json["cases"] as readonly Json[], depth: 2 };
}

function idOf(entry: Json): string | undefined {
  const id = isObject(entry) ? entry["id"] : undefined;
  return typeof id === "string" && id !== "" ? id : undefined;
}

/**
 * Returns the test case that a valid JSON value describes. Throws a CompileError if fields contradict one
 * another or a tensor is malformed.
 */
function readCase(json: CaseJson, where: string, file: string, operators: Operators | undefined): Case {
  const { id, output, expect, limits, tir, bind, first, inout } = json;
  const contradiction = contradictionIn(json);
  if (contradiction !== undefined) throw new CompileError([malformed(where, contradiction)]);
  if (json.buffers !== undefined && json.doubleBuffer !== undefined)
    throw new CompileError([malformed(where, "buffers and doubleBuffer say the same; give one of them")]);
  const schedule = scheduleOf(json);
  // A case without any schedule asks for bits alone: it gets the target on which every gather has a legal
  // schedule.
  const target =
    json.target ??
    besides(file, json.targetFile) ??
    (Object.keys(schedule).length === 0 ? "webgpu" : undefined);
  const options = { schedule, ...defined({ target }) };
  const given = { data: json.data, indices: json.indices, ...json.inputs };
  const inputs = Object.fromEntries(
    Object.entries(given).flatMap(([name, tensor]) =>
      tensor === undefined ? [] : [[name, readCaseTensor(tensor, `${where}: ${name}`)] as const],
    ),
  );
  const operator = json.op === mapOp ? undefined : operatorOf(json, inputs, where, operators);
  const [base] = Object.keys(operator?.inputs ?? {});
  if (operator !== undefined && inout !== undefined && inout !== base)
    throw new CompileError([
      malformed(where, `inout is ${inout}, and the operator writes ${base ?? "nothing"} in place`),
    ]);
  return {
    id,
    ...defined({ program: operator && { ...operator.program, ...options } }),
    ...defined({ tir, operators }),
    options,
    inputs: operator?.inputs ?? inputs,
    ...defined({ bind, first, inout }),
    ...defined({ output: output && readCaseTensor(output, `${where}: output`) }),
    ...defined({ limits }),
    ...(expect === "ok" ? {} : { expectedError: expect.error }),
    ...(expect === "ok" || expect.code === undefined ? {} : { expectedCode: expect.code }),
  };
}

/**
 * Returns the program of a test case's operator and the tensors by input name, with boolean masks replaced by
 * index arrays. Throws a CompileError (TC013) if the tensor names do not match the inputs.
 */
function operatorOf(
  { dialect = "", op, attributes = {}, oob, inout }: CaseJson,
  tensors: Readonly<Record<string, CaseTensor>>,
  where: string,
  operators: Operators | undefined,
): { readonly program: ProgramDescription; readonly inputs: Case["inputs"] } {
  const operator = operatorFor(dialect, op, Object.keys(attributes), operators);
  const given = inputsOfOperator(operator, tensors, where);
  const [data, indices, ...others] = given;
  invariant(data !== undefined && indices !== undefined, "an operator has data and indices");
  const specs = operator === undefined ? undefined : attributesOf(operator);
  // An operator that the dialect lacks, or an attribute in a case about attributes, is the dialect's to
  // refuse.
  const attrs = Object.entries(attributes).map(
    ([key, value]) => [specs?.get(key)?.name ?? key, value] as const,
  );
  const program = {
    op: operator?.name ?? `${dialect}.${op}`,
    ...defined({ operators }),
    attrs: Object.fromEntries<AttrValue>([...attrs, ...(oob === undefined ? [] : [["oob", oob] as const])]),
    data: data.type,
    indices: indices.type,
    ...(others.length === 0 ? {} : { others: others.map(({ type }) => type) }),
    ...(inout === undefined ? {} : { inPlace: true }),
  };
  const { description, inputs } = withPositions(program, given);
  const names = operandNames(
    operator,
    inputs.map(({ type }) => type),
  );
  return {
    program: description,
    inputs: Object.fromEntries(
      inputs.flatMap((tensor, k) =>
        names[k] === undefined ? [] : [[names[k], { filled: false, ...tensor }]],
      ),
    ),
  };
}

/**
 * Returns the tensors of a test case in the order of the operator's inputs. If the only tensors are `data`
 * and `indices`, returns these two, whatever the operator's names. Throws a CompileError (TC013) if the
 * tensor names do not match the inputs.
 */
function inputsOfOperator(
  operator: OpDef | undefined,
  tensors: Readonly<Record<string, CaseTensor>>,
  where: string,
): readonly CaseTensor[] {
  const { data, indices } = tensors;
  const given = Object.keys(tensors).length;
  if (data !== undefined && indices !== undefined && given === 2) return [data, indices];
  const count = operator?.variadic === true ? given : (operator?.inputs?.length ?? 2);
  const names = Array.from({ length: count }, (_, k) => inputName(operator ?? {}, k));
  const tensorsOf = names.flatMap((name) => entryOf(tensors, name) ?? []);
  if (tensorsOf.length < Math.max(count - (operator?.optional?.length ?? 0), given))
    throw new CompileError([malformed(where, `the operator's inputs are ${names.join(", ")}`)]);
  return tensorsOf;
}

/** Returns a message about contradictory fields of a test case; undefined if there is no contradiction. */
function contradictionIn({
  op,
  target,
  targetFile,
  limits,
  expect,
  first,
  ...given
}: CaseJson): string | undefined {
  const foreign = (["dialect", "attributes", "oob", "data", "indices"] as const).find(
    (field) => given[field] !== undefined,
  );
  if (op === mapOp && foreign !== undefined)
    return `${foreign} cannot be used with op map, whose text states it`;
  if (op !== mapOp && given.bind !== undefined) return "bind can only be used with op map";
  const both = (["data", "indices"] as const).find((field) => given[field] !== undefined);
  if (given.inputs !== undefined && both !== undefined)
    return `${both} cannot be used with inputs, which name every tensor`;
  if (first !== undefined && (expect === "ok" || !["index", "duplicate"].includes(expect.error)))
    return "first needs an expected error of category index or duplicate";
  if (target !== undefined && targetFile !== undefined) return "target cannot be used with targetFile";
  if (limits === undefined) return undefined;
  if (expect !== "ok") return "limits cannot be used with an expected error: nothing is measured";
  if ([limits.bytes, limits.ubPeak, limits.cycles].every((limit) => limit === undefined))
    return "limits is empty; give bytes, ubPeak or cycles";
  if (limits.cycles !== undefined && limits.clock === undefined)
    return `limits.cycles needs the version of the cost model: add "clock": ${clockVersion}`;
  return undefined;
}

/** Returns a path from the folder of a file. */
function besides(file: string, path: string | undefined): string | undefined {
  if (path === undefined || /^(?:[\\/]|[A-Za-z]:)/.test(path)) return path;
  return file.slice(0, file.lastIndexOf("/") + 1) + path;
}

const scheduleOf = (json: CaseJson): Schedule => ({
  ...givenEntries(json),
  ...(json.doubleBuffer === undefined ? {} : { buffers: json.doubleBuffer ? 2 : 1 }),
});
