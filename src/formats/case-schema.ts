/** The JSON Schema (draft-07) of case files, built from the definitions that it describes. */
import {
  attributesOf,
  codes,
  dialects,
  dtypes,
  operatorFor,
  operatorKin,
  operatorNames,
  outOfBoundsPolicies,
  scheduleEntries,
  targetNames,
  type AttrSpec,
  type AttrValue,
  type DType,
  type OpDef,
  type OutOfBounds,
  type Schedule,
  type ScheduleEntry,
  type Shape,
} from "../../ir/index.js";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A case that the schema lets through: the entries of its schedule stand beside its other fields. */
export interface CaseJson extends Schedule {
  readonly id: string;
  readonly source?: string;
  readonly note?: string;
  /** `map`: the program is `tir`, its inputs `inputs`. */
  readonly op: string;
  readonly dialect?: string;
  readonly attributes?: Readonly<Record<string, AttrValue>>;
  readonly data?: TensorJson;
  readonly indices?: TensorJson;
  readonly inputs?: Readonly<Record<string, TensorJson>>;
  readonly bind?: Readonly<Record<string, number>>;
  readonly first?: Shape;
  readonly output?: TensorJson;
  readonly oob?: OutOfBounds;
  readonly target?: string;
  readonly doubleBuffer?: boolean;
  readonly targetFile?: string;
  readonly limits?: LimitsJson;
  readonly tir?: string;
  readonly expect: "ok" | { readonly error: string };
}

/** The most that the kernel may take; `clock` is the version of the clock that gave `cycles`. */
export interface LimitsJson {
  readonly bytes?: number;
  readonly ubPeak?: number;
  readonly cycles?: number;
  readonly clock?: number;
}

/** Exactly one of `values`, `bits` and `fill`. */
export interface TensorJson {
  readonly dtype: DType;
  readonly shape: Shape;
  readonly values?: readonly Json[];
  readonly bits?: readonly Json[];
  readonly fill?: Fill;
}

/** Element i is the i-th draw from `seed`, scaled to `min` up to and without `max`. */
export interface Fill {
  readonly seed: number;
  readonly min: number;
  readonly max: number;
}

type Schema = Readonly<Record<string, unknown>>;
/** A schema for every field: the compiler names the one that is missing. */
type Properties<T> = Readonly<Record<keyof T, Schema>>;

const ref = (name: string): Schema => ({ $ref: `#/definitions/${name}` });
const object = (properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const described = (description: string, schema: Schema): Schema => ({ description, ...schema });
const unique = <T>(list: readonly T[]): T[] => [...new Set(list)];

const expectsError = (category: Schema): Schema => ({
  type: "object",
  required: ["error"],
  properties: { error: category },
});

function attribute({ help, ...spec }: AttrSpec): Schema {
  switch (spec.kind) {
    case "int":
      return described(help, { type: "integer" });
    case "ints":
      return described(help, { type: "array", items: { type: "integer" } });
    case "text":
      return described(help, { type: "string" });
    case "word":
      return described(help, { enum: spec.words });
  }
}

/** Operators of one dialect and kind share their attributes: which of them is meant, the attributes tell. */
const attributesFor = (def: OpDef): Schema =>
  object(
    Object.fromEntries(
      operatorKin(def).flatMap((kin) =>
        [...attributesOf(kin)].map(([key, { spec }]) => [key, attribute(spec)] as const),
      ),
    ),
  );

/** What stands in `attributes` follows from `dialect` and `op`. A case about wrong attributes may give any. */
const operatorRules: readonly Schema[] = dialects.flatMap((dialect) =>
  operatorNames(dialect).flatMap((op) => {
    const def = operatorFor(dialect, op, []);
    if (def === undefined) return [];
    return {
      if: {
        type: "object",
        required: ["dialect", "op"],
        properties: {
          dialect: { const: dialect },
          op: { const: op },
          expect: { not: expectsError({ const: "attribute" }) },
        },
      },
      then: { properties: { attributes: attributesFor(def) } },
    };
  }),
);

/** The `op` of a case whose program is text alone. */
export const mapOp = "map";

const most = { type: "integer", minimum: 0 };

/** Which numbers make a schedule is for the rules to say. */
function entryValues(entry: ScheduleEntry): Schema {
  switch (entry.form) {
    case "list":
      return { type: "array", items: { type: "number" } };
    case "count":
      return { type: "integer" };
    case "word":
      return { enum: entry.words };
    case "by-operand":
      return {
        if: { type: "object" },
        then: { type: "object", additionalProperties: { enum: entry.each } },
        else: { enum: entry.all },
      };
  }
}

const schedule = Object.fromEntries(
  Object.values(scheduleEntries).map((entry) => [entry.key, described(entry.help, entryValues(entry))]),
) as Properties<Schedule>;

const caseObject: Schema = {
  ...object(
    {
      id: described("unique in its suite: <source>/<name>", { type: "string", minLength: 1 }),
      source: described("where the case is from", { type: "string" }),
      note: described("for a reader", { type: "string" }),
      op: described("an operator, or map: what the tir says", {
        enum: [...unique(dialects.flatMap(operatorNames)), mapOp],
      }),
      dialect: described("whose rules apply", { enum: dialects }),
      attributes: { type: "object", additionalProperties: { type: ["number", "string", "array"] } },
      data: ref("tensor"),
      indices: ref("tensor"),
      inputs: described(
        "every tensor, by its name in the text of a map or the one that the operator gives it",
        {
          type: "object",
          additionalProperties: ref("tensor"),
        },
      ),
      bind: described("sizes of the symbols that the text declares", {
        type: "object",
        additionalProperties: most,
      }),
      first: described("the first output point with a bad index, where that is what is expected", {
        type: "array",
        items: most,
      }),
      output: described("absent: compare with reference", ref("tensor")),
      oob: described("what an index out of range means; absent: the dialect's default", {
        enum: outOfBoundsPolicies,
      }),
      target: described("a target's name, or a target file (.json)", {
        type: "string",
        if: { type: "string", pattern: "\\.json$" },
        else: { enum: targetNames },
      }),
      ...schedule,
      doubleBuffer: described("short for buffers 2", { type: "boolean" }),
      targetFile: described("a target file, from the folder of the case file", {
        type: "string",
        pattern: "\\.json$",
      }),
      limits: described(
        "the most that the kernel may take",
        object({
          bytes: described("moved between global memory and the cores", most),
          ubPeak: described("highest byte of the unified buffer in use", most),
          cycles: described("by the clock of version `clock`", most),
          clock: described("version of the clock that gave `cycles`", most),
        } satisfies Properties<LimitsJson>),
      ),
      tir: described("a program as text that runs in place of the operator, and is compared with it", {
        type: "string",
      }),
      expect: described('"ok", or {"error": category}', {
        if: { type: "object" },
        then: object({ error: { enum: unique(Object.values(codes).map(({ category }) => category)) } }, [
          "error",
        ]),
        else: { const: "ok" },
      }),
    } satisfies Properties<CaseJson>,
    ["id", "op", "expect"],
  ),
  if: { type: "object", required: ["op"], properties: { op: { const: mapOp } } },
  then: { required: ["tir", "inputs"] },
  else: {
    required: ["dialect"],
    if: { type: "object", required: ["inputs"] },
    else: { required: ["data", "indices"] },
  },
  allOf: operatorRules,
};

const tensor: Schema = {
  ...object(
    {
      dtype: { enum: dtypes },
      shape: { type: "array", items: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER } },
      values: described("row-major; 64-bit integers as decimal strings, complex numbers as [re, im]", {
        type: "array",
      }),
      bits: described("each element's pattern in hexadecimal", { type: "array" }),
      fill: object(
        {
          seed: { type: "integer", minimum: 0, maximum: 2 ** 32 - 1 },
          min: { type: "number" },
          max: described("not reached", { type: "number" }),
        } satisfies Properties<Fill>,
        ["seed", "min", "max"],
      ),
    } satisfies Properties<TensorJson>,
    ["dtype", "shape"],
  ),
  oneOf: ["values", "bits", "fill"].map((field) => ({ required: [field] })),
};

export const caseSchema: Schema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "tilec case file",
  description: "Regression cases: one gather each, its inputs, and what must come out.",
  if: { type: "array" },
  then: { type: "array", items: ref("case") },
  else: {
    if: { type: "object", anyOf: [{ required: ["schema"] }, { required: ["cases"] }] },
    then: object(
      {
        $schema: described("for editors", { type: "string" }),
        schema: { const: 1 },
        cases: { type: "array", items: ref("case") },
      },
      ["schema", "cases"],
    ),
    else: ref("case"),
  },
  definitions: { case: caseObject, tensor },
};
