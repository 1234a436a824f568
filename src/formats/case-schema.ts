/**
 * The format of case files: its types, its fields, and its JSON Schema (draft-07), which is made from the
 * fields.
 */
import {
  attributesOf,
  codes,
  dialectsOf,
  dtypeMeant,
  dtypes,
  operatorFor,
  operatorKin,
  opDefs,
  operatorNames,
  outOfBoundsPolicies,
  scheduleEntries,
  targetNames,
  type AttrSpec,
  type AttrValue,
  type DType,
  type OpDef,
  type Operators,
  type OutOfBounds,
  type Schedule,
  type ScheduleEntry,
  type Shape,
} from "../../ir/index.js";
import {
  anyList,
  anyObject,
  byName,
  filledText,
  finite,
  leaf,
  listOf,
  oneOf,
  record,
  text,
  yesOrNo,
  type Field,
  type Fields,
  type Schema,
} from "../../backends/index.js";
import { maxSeed } from "./lcg.js";
import {
  anything,
  described,
  has,
  hasAt,
  hasOneOf,
  not,
  objectWith,
  only,
  referenced,
  schemaOf,
  textLike,
  when,
  integer,
  integerFrom,
  withRules,
} from "./json-fields.js";

/** Value that JSON can represent. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Valid test case, as a JSON value of a test file. Schedule entries are direct fields of the object. */
export interface CaseJson extends Schedule {
  readonly id: string;
  readonly source?: string;
  readonly note?: string;
  /** Name of the operator, or `map` if the program is the text `tir` with the inputs `inputs`. */
  readonly op: string;
  readonly dialect?: string;
  readonly attributes?: Readonly<Record<string, AttrValue>>;
  readonly data?: TensorJson;
  readonly indices?: TensorJson;
  readonly inputs?: Readonly<Record<string, TensorJson>>;
  readonly bind?: Readonly<Record<string, number>>;
  readonly first?: Shape;
  /** Operand that a scatter writes in place. */
  readonly inout?: string;
  readonly output?: TensorJson;
  readonly oob?: OutOfBounds;
  readonly target?: string;
  readonly doubleBuffer?: boolean;
  readonly targetFile?: string;
  readonly limits?: LimitsJson;
  readonly tir?: string;
  readonly expect: "ok" | { readonly error: string; readonly code?: string };
}

/**
 * Maximum cost of a kernel that a test case allows: bytes of global memory traffic, peak bytes of the unified
 * buffer (UB), and estimated cycles. `clock`: version of the cost model for `cycles`.
 */
export interface LimitsJson {
  readonly bytes?: number;
  readonly ubPeak?: number;
  readonly cycles?: number;
  readonly clock?: number;
}

/**
 * Tensor in JSON form for test files. Exactly one of `values`, `bits` (hexadecimal patterns) and `fill`
 * (pseudo-random numbers) gives the elements.
 */
export interface TensorJson {
  readonly dtype: DType;
  readonly shape: Shape;
  readonly values?: readonly Json[];
  readonly bits?: readonly Json[];
  readonly fill?: Fill;
}

/**
 * Rule that generates the elements of a tensor: element i is the i-th pseudo-random number from `seed`,
 * scaled to the range from `min` (included) to `max` (excluded).
 */
export interface Fill {
  readonly seed: number;
  readonly min: number;
  readonly max: number;
}

/** Value of the field `op` in a JSON test case whose program is given only as `.tir` text. */
export const mapOp = "map";

const unique = <T>(list: readonly T[]): T[] => [...new Set(list)];

const code = "TC013";
const count = integerFrom(0);
const number = finite(code);
const word = text(code);
const filled = filledText(code);
const anObject = anyObject(code);

/** Returns an object with these fields and no others; `takes` names it. */
const fixed = (
  takes: string,
  fields: Readonly<Record<string, Field>>,
  needs: readonly string[] = [],
): Field => record(takes, fields, { code, needs });

const list = (takes: string, entry: Field): Field => listOf(takes, entry, code);
const named = (takes: string, entry: Field): Field => byName(takes, entry, code);
const words = (of: readonly (string | number)[], takes?: string): Field => oneOf(of, code, takes);

const fill = fixed(
  "an object with seed, min and max",
  {
    seed: integerFrom(0, maxSeed),
    min: number,
    max: described("not reached", number),
  } satisfies Fields<Fill>,
  ["seed", "min", "max"],
);

const tensor = withRules(
  fixed(
    "a tensor, an object with dtype, shape and one of values, bits, fill",
    {
      dtype: { ...words(dtypes), meaning: dtypeMeant },
      shape: list("a list of extents", integerFrom(0, Number.MAX_SAFE_INTEGER)),
      values: described(
        "row-major; 64-bit integers as decimal strings, complex numbers as [re, im]",
        anyList(code),
      ),
      bits: described("each element's pattern in hexadecimal", anyList(code)),
      fill,
    } satisfies Fields<TensorJson>,
    ["dtype", "shape"],
  ),
  [hasOneOf(["values", "bits", "fill"])],
);
const tensorField = referenced("tensor", tensor);

const attributeValue = leaf(
  "a number, a word or a list",
  { type: ["number", "string", "array"] },
  (value) => typeof value === "string" || Number.isFinite(value) || Array.isArray(value),
  code,
);

/** Returns the rule that checks the JSON type of a schedule entry. */
function entryField(entry: ScheduleEntry): Field {
  switch (entry.form) {
    case "list":
      return list(entry.takes, number);
    case "count":
      return integer;
    case "word":
      return words(entry.words);
    case "by-operand":
      return when(anObject, named(entry.takes, words(entry.each)), words(entry.all, entry.takes));
  }
}

const schedule = Object.fromEntries(
  Object.values(scheduleEntries).map((entry) => [entry.key, described(entry.help, entryField(entry))]),
) as Fields<Schedule>;

const caseFieldsOf = (operators: Operators) =>
  ({
    id: described("unique in its suite: <source>/<name>", filled),
    source: described("where the case is from", word),
    note: described("for a reader", word),
    op: described(
      "an operator, or map: what the tir says",
      words([
        ...unique(dialectsOf(operators).flatMap((dialect) => operatorNames(dialect, operators))),
        mapOp,
      ]),
    ),
    dialect: described("whose rules apply", words(dialectsOf(operators))),
    attributes: named("an object of numbers, words and lists", attributeValue),
    data: tensorField,
    indices: tensorField,
    inputs: described(
      "every tensor, by its name in the text of a map or the one that the operator gives it",
      named("tensors by name", tensorField),
    ),
    bind: described("sizes of the symbols that the text declares", named("sizes of symbols by name", count)),
    first: described(
      "the first point with a bad index, or that writes an element again, where that is what is expected",
      list("a list of coordinates", count),
    ),
    inout: described("the input that is written in place; output is what it holds in the end", filled),
    output: described("absent: compare with reference", tensorField),
    oob: described(
      "what an index out of range means; absent: the dialect's default",
      words(outOfBoundsPolicies),
    ),
    // Whether anybody knows the name is found out later: a config may.
    target: described("a target's name, or a target file (.json)", {
      ...filled,
      takes: `a target's name, such as ${targetNames.join(" or ")}, or a target file (.json)`,
      schema: { anyOf: [{ enum: targetNames }, schemaOf(filled)] },
    }),
    ...schedule,
    doubleBuffer: described("short for buffers 2", yesOrNo(code)),
    targetFile: described(
      "a target file, from the folder of the case file",
      textLike("the path of a target file (.json)", /\.json$/),
    ),
    limits: described(
      "the most that the kernel may take",
      fixed("an object with limits", {
        bytes: described("moved between global memory and the cores", count),
        ubPeak: described("highest byte of the unified buffer in use", count),
        cycles: described("by the clock of version `clock`", count),
        clock: described("version of the clock that gave `cycles`", count),
      } satisfies Fields<LimitsJson>),
    ),
    tir: described("a program as text that runs in place of the operator, and is compared with it", word),
    expect: described(
      '"ok", or {"error": category}, with the "code" of the diagnostic where it matters which one',
      when(
        anObject,
        fixed(
          "an expected error",
          {
            error: words(unique(Object.values(codes).map(({ category }) => category))),
            code: described("code of the diagnostic", words(Object.keys(codes))),
          },
          ["error"],
        ),
        only("ok", 'ok, or the category of an error, such as { "error": "axis" }'),
      ),
    ),
  }) satisfies Fields<CaseJson>;

/**
 * Returns the field check for the required fields of a case. A case of a map names every tensor and has a
 * text. A case of an operator has a dialect, and has `inputs` if it has more than two tensors.
 */
const needs = ({ data, dialect, indices, inputs, tir }: ReturnType<typeof caseFieldsOf>): Field =>
  when(
    objectWith({ op: only(mapOp) }),
    has("a case of op map", { tir, inputs }),
    withRules(has("a case", { dialect }), [
      when(objectWith({ inputs: anything }), anything, has("a case", { data, indices })),
    ]),
  );

/** Returns the rule that checks the JSON value of an operator attribute. */
function attribute({ help, ...spec }: AttrSpec): Field {
  switch (spec.kind) {
    case "int":
      return described(help, integer);
    case "number":
      return described(help, number);
    case "ints":
      return described(help, list("a list of whole numbers", integer));
    case "text":
      return described(help, word);
    case "word":
      return described(help, spec.later === true ? word : words(spec.words));
  }
}

/** Operators of one dialect and kind share their attributes: which of them is meant, the attributes tell. */
const attributesFor = (def: OpDef, operators: Operators): Field =>
  fixed(
    "an object of attributes",
    Object.fromEntries(
      operatorKin(def, operators).flatMap((kin) =>
        [...attributesOf(kin)].map(([key, { spec }]) => [key, attribute(spec)] as const),
      ),
    ),
  );

const expectsAttributeError = objectWith({ error: only("attribute") });

/**
 * Returns the rules for `attributes`, which follow from `dialect` and `op`. A case that expects an attribute
 * error may give any attributes.
 */
const operatorRules = (operators: Operators): readonly Field[] =>
  dialectsOf(operators).flatMap((dialect) =>
    operatorNames(dialect, operators).flatMap((op) => {
      const def = operatorFor(dialect, op, [], operators);
      if (def === undefined) return [];
      const condition = { dialect: only(dialect), op: only(op), expect: not(expectsAttributeError) };
      const attributes = attributesFor(def, operators);
      return when(objectWith(condition, ["dialect", "op"]), hasAt("attributes", attributes));
    }),
  );

/**
 * Returns the rule that checks the JSON value of one test case. `operators`: operators that the test case may
 * name.
 */
export function caseFieldOf(operators: Operators): Field {
  const fields = caseFieldsOf(operators);
  return withRules(fixed("a case", fields, ["id", "op", "expect"]), [
    needs(fields),
    ...operatorRules(operators),
  ]);
}

/** Rule that checks the JSON value of one test case with a built-in operator. */
export const caseField = caseFieldOf(opDefs);

const fileOf = (cases: Field): Field =>
  fixed("a case file", { $schema: described("for editors", word), schema: only(1), cases }, [
    "schema",
    "cases",
  ]);

/**
 * Rule that checks the JSON value of a test file of the form `{schema, cases}`. The test cases in the list
 * are not checked.
 */
export const caseFileField = fileOf(anyList(code));

const oneCase = referenced("case", caseField);
const cases = list("a list of cases", oneCase);

/** Returns the JSON Schema of files with test cases. */
export const caseSchema = (): Schema => ({
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "tilec case file",
  description: "Regression cases: one gather each, its inputs, and what must come out.",
  if: { type: "array" },
  then: schemaOf(cases),
  else: {
    if: { type: "object", anyOf: [{ required: ["schema"] }, { required: ["cases"] }] },
    then: schemaOf(fileOf(cases)),
    else: schemaOf(oneCase),
  },
  definitions: { case: schemaOf(caseField), tensor: schemaOf(tensor) },
});
