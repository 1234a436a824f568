/**
 * Checks of the arguments of the library's functions at run time, because not every caller is TypeScript.
 * This file has the tables for schedules, tensor types, targets and programs; the tables of a function's own
 * options are beside their types.
 */
import {
  isas,
  isSymbolName,
  keyOf,
  defaultTarget,
  error,
  frameworks,
  levels,
  limitNames,
  residencies,
  roles,
  scheduleEntries,
  targetKinds,
  targetNames,
  targets,
  throwIfErrors,
  type ArgumentsOf,
  type Code,
  type Diagnostic,
  type Level,
  type OpDef,
  type Operand,
  type Schedule,
  type ScheduleEntry,
  type Sym,
  type Target,
  type TargetFigures,
  type TensorType,
  type WgslLimits,
} from "../../ir/index.js";
import {
  bodyField,
  checkFields,
  dtypeField,
  filledText,
  isObject,
  listOf,
  mapField,
  nameField,
  oneOf,
  problemsOf,
  record,
  refusal,
  shownValue,
  integer,
  yesOrNo,
  type Field,
  type FieldOptions,
  type Fields,
} from "../../backends/index.js";
import { didYouMean } from "../../ir/did-you-mean.js";
import { figureUnits } from "../../ir/figure-units.js";

/**
 * Returns a diagnostic for each field of an object that is unknown, missing or invalid; an empty list for a
 * valid object. `what`: name of the object in messages. `fields`: validation rule of each field.
 */
export const checkOptions = (
  what: string,
  value: unknown,
  fields: Readonly<Record<string, Field>>,
  options?: FieldOptions,
): Diagnostic[] => checkFields(what, value, fields, options, didYouMean);

const numbers = (code: Code, takes: string): Field => ({
  code,
  takes,
  holds: (value) => Array.isArray(value) && value.every((entry) => typeof entry === "number"),
});

/**
 * Throws a CompileError if an argument of a program builder is invalid or a required argument is missing.
 * `builder`: name of the builder for messages. `fields`: validation rules by argument name. `needs`: names of
 * the required arguments.
 */
export function checkArguments(
  builder: string,
  given: unknown,
  fields: Readonly<Record<string, Field>>,
  needs: readonly string[],
): void {
  throwIfErrors(checkOptions(builder, given, fields, { needs }));
}

/**
 * Returns the validation rule for the type of one schedule entry, for example a list of numbers for `tile`.
 */
function entryField(entry: ScheduleEntry): Field {
  const code = entry.key === "tile" ? "TC302" : "TC303";
  switch (entry.form) {
    case "list":
      return numbers(code, entry.takes);
    case "count":
      return integer(-Infinity, code);
    case "word":
      return oneOf(entry.words, code);
    case "by-operand": {
      const isOne = (values: readonly unknown[], value: unknown): boolean => values.includes(value);
      return {
        code,
        takes: entry.takes,
        holds: (value) =>
          isOne(entry.all, value) ||
          (isObject(value) && Object.values(value).every((member) => isOne(entry.each, member))),
      };
    }
  }
}

/** Validation rules for the types of schedule entries, by key of the entry. */
export const scheduleFields = Object.fromEntries(
  Object.values(scheduleEntries).map((entry) => [entry.key, entryField(entry)]),
) as Fields<Schedule>;

/** Validation rule (TC303) for a schedule object, for example `{ tile: [8, 1024] }`. */
export const scheduleField: Field = {
  code: "TC303",
  takes: "a schedule, such as { tile: [8, 1024] }",
  problems: (value) => checkOptions("a schedule", value, scheduleFields, { code: "TC303" }),
};

/** Validation rule (TC501) for a program's target name: any text is valid. */
export const targetNameField: Field = {
  code: "TC501",
  takes: `the name of a target, such as ${targetNames.join(" or ")}`,
  holds: (value) => typeof value === "string",
};

/** Validation rule (TC103) for a list of extents: an array of numbers. */
export const extentsField = numbers("TC103", "a list of extents, such as [4096, 1024]");
const typeFields: Fields<TensorType> = { dtype: dtypeField, shape: extentsField };

const exampleType = 'such as { dtype: "f32", shape: [4096, 1024] }';

/** Validation rule (TC103) for a tensor type: an object with `dtype` and `shape`. */
export const typeField = record(`a tensor type, ${exampleType}`, typeFields, {
  code: "TC103",
  needs: ["dtype", "shape"],
});

/** Validation rule (TC103) for a list of tensor types. */
export const typesField = listOf(`a list of tensor types, each ${exampleType}`, typeField, "TC103");

/** Validation rule (TC103) for a pair of element type and shape, for example `["f32", [4096, 1024]]`. */
export const pairField: Field = {
  code: "TC103",
  takes: 'a type and a shape, such as ["f32", [4096, 1024]]',
  problems(value, path) {
    if (!Array.isArray(value) || value.length !== 2) return [refusal(pairField, value, path)];
    const [dtype, shape] = value as readonly unknown[];
    return checkOptions(path, { dtype, shape }, typeFields, { path: `${path}.`, needs: ["dtype", "shape"] });
  },
};

/**
 * Validation rule (TC105) for the type of an operator attribute: a number, a text or a list of numbers. The
 * rules of the dialect check the value later.
 */
export const attributeField: Field = {
  code: "TC105",
  takes: "a number, a word or a list of numbers",
  holds: (value) =>
    typeof value === "number" ||
    typeof value === "string" ||
    (Array.isArray(value) && value.every((entry) => typeof entry === "number")),
};

/** Returns a validation rule for each attribute of an operator, keyed by the name of the builder argument. */
export const attributeFields = <D extends OpDef>(def: D): Fields<ArgumentsOf<D>> =>
  Object.fromEntries(
    Object.values(def.attrs).map(({ key, argument = key }) => [argument, attributeField]),
  ) as Fields<ArgumentsOf<D>>;

/** True if a hardware parameter of a target is a count, for example a number of bytes or cores. */
export const isCount = (name: keyof TargetFigures): boolean => figureUnits[name] === "count";

/**
 * Returns the validation rule (TC501) for a parameter of a target. Block sizes are powers of two from 4 on,
 * counts whole numbers from 1 on, rates at least 1, costs at least 0.
 */
export function figureField(
  name: keyof TargetFigures,
): Field & { readonly holds: (value: unknown) => boolean } {
  const code = "TC501";
  const atLeast = (least: number): ReturnType<typeof figureField> => ({
    code,
    takes: `a number, ${least} or more`,
    holds: (value: unknown) => typeof value === "number" && Number.isFinite(value) && value >= least,
  });
  switch (figureUnits[name]) {
    case "block":
      return {
        code,
        takes: "a power of two, 4 or more",
        holds: (value) => typeof value === "number" && value >= 4 && Number.isInteger(Math.log2(value)),
      };
    case "count":
      return integer(1, code);
    // They divide, and 0 would make a cost infinite.
    case "per cycle":
    case "MHz":
      return atLeast(1);
    case "cycles":
    case "us":
    case "factor":
      return atLeast(0);
  }
}

/** Names of the hardware parameters of a target, for example `cores`. */
export const figureNames = Object.keys(defaultTarget.sources) as readonly (keyof TargetFigures)[];

/**
 * Legal values, by field name, of the target fields whose value is one of a few words, for example `kind`.
 */
export const targetWords = {
  kind: targetKinds,
  defaultResidency: residencies,
  gmGather: ["rows", "any"],
  isa: isas,
} as const satisfies {
  readonly [K in "kind" | "defaultResidency" | "gmGather" | "isa"]: readonly Target[K][];
};

/** Validation rule (TC501) for a list of element sizes in bytes, each 1, 2, 4, 8 or 16. */
export const sizesField = {
  code: "TC501",
  takes: "a list of element sizes in bytes, such as [2, 4]",
  holds: (value: unknown): value is readonly number[] =>
    Array.isArray(value) && value.every((size) => [1, 2, 4, 8, 16].includes(size as number)),
} as const satisfies Field;

/** Validation rules for the limits of a WebGPU device, by limit name: whole numbers, 1 or more. */
export const limitFields = Object.fromEntries(
  limitNames.map((name) => [name, integer(1)]),
) as Fields<WgslLimits>;

const targetFields: Fields<Target> = {
  name: filledText("TC501"),
  kind: oneOf(targetWords.kind, "TC501"),
  title: filledText("TC501"),
  gatherScratch: yesOrNo("TC501"),
  overlaps: yesOrNo("TC501"),
  isa: {
    code: "TC501",
    takes: `one of ${isas.join(", ")}, or nothing`,
    holds: (value) => value === undefined || isas.some((isa) => isa === value),
  },
  vectorGatherBytes: sizesField,
  defaultResidency: oneOf(targetWords.defaultResidency, "TC501"),
  gmGather: oneOf(targetWords.gmGather, "TC501"),
  ...(Object.fromEntries(figureNames.map((name) => [name, figureField(name)])) as Fields<TargetFigures>),
  limits: record("the limits of a WebGPU device, such as limitsOf(device.limits)", limitFields, {
    code: "TC501",
    allowsOthers: true,
    needs: limitNames,
  }),
  sources: {
    code: "TC501",
    takes: "the source of every figure",
    holds: (value) => isObject(value) && figureNames.every((name) => isObject(value[name])),
  },
};

/**
 * Validation rule (TC107) for an object that maps symbols (dynamic sizes) to sizes in elements, for example
 * `{ N: 37 }`.
 */
export const sizesOfSymbolsField: Field = {
  code: "TC107",
  takes: "sizes of symbols by name, such as { N: 37 }",
  holds: (value) =>
    isObject(value) &&
    !Array.isArray(value) &&
    Object.values(value).every((size) => typeof size === "number"),
};

/** Frozen, so that they stay what they are. */
const builtIn: ReadonlySet<unknown> = new Set(Object.values(targets));

/**
 * Validation rule (TC501) for a target object, for example `targets.ascendA2`. The rule rejects a target's
 * name.
 */
export const targetField: Field = {
  code: "TC501",
  takes: "a target, such as targets.ascendA2",
  problems(value, path) {
    if (builtIn.has(value)) return [];
    if (isObject(value)) {
      const needs = Object.keys(targetFields).filter((field) => field !== "isa" && field !== "limits");
      return checkOptions(path, value, targetFields, { code: "TC501", path: `${path}.`, needs });
    }
    if (typeof value !== "string") return [refusal(targetField, value, path)];
    const meant = Object.entries(targets).find(([, { name }]) => name === didYouMean(value, targetNames));
    const hint =
      meant === undefined
        ? `one of targets.${Object.keys(targets).join(", targets.")}`
        : `pass targets.${meant[0]}, or name "${meant[1].name}" in the program`;
    return [refusal(targetField, value, path, { hint })];
  },
};

/** Validation rule (TC501) for a target: a target object or the name of a built-in target. */
export const targetOrNameField: Field = {
  ...targetField,
  problems: (value, path) =>
    typeof value === "string" && targetNames.includes(value) ? [] : problemsOf(targetField, value, path),
};

/**
 * The data, what it is read by, and the output; keys name the operands to callers and backends, so there is
 * one of each.
 */
const operandsField: Field = {
  code: "TC702",
  takes: `a list of { name, type, role } with the roles ${roles.join(", ")}`,
  problems(value, path) {
    if (!Array.isArray(value) || value.length < 2) return [refusal(operandsField, value, path)];
    const problems = value.flatMap((operand: unknown, k) => {
      const role = k === 0 ? "data" : k === value.length - 1 ? "output" : "indices";
      const fields: Fields<Operand> = {
        name: nameField,
        type: typeField,
        role: oneOf([role]),
        key: nameField,
        inout: yesOrNo(),
      };
      const at = `${path}[${k}]`;
      const needs = ["name", "type", "role"];
      return checkOptions(at, operand, fields, { allowsOthers: true, path: `${at}.`, needs });
    });
    if (problems.length > 0) return problems;
    const keys = (value as readonly Operand[]).map(keyOf);
    const twice = keys.find((key, k) => keys.indexOf(key) !== k);
    return twice === undefined ? [] : [error("TC702", `${path} has two operands ${twice}; a key names one`)];
  },
};

/** Validation rule (TC702) for the name of an operator: any text is valid. */
export const opField: Field = {
  code: "TC702",
  takes: "an operator, such as onnx.gather",
  holds: (value) => typeof value === "string",
};

/** Validation rule (TC702) for a list of operators, as returned by `operatorsWith`. Any array is valid. */
export const operatorsField: Field = {
  code: "TC702",
  takes: "operators, such as operatorsWith([mine])",
  holds: Array.isArray,
};

/**
 * Validation rule (TC105) for an object of operator attributes by name. Each value must be a number, a text
 * or a list of numbers.
 */
export const attrsField: Field = {
  code: "TC105",
  takes: "an object of numbers, words and lists",
  problems(value, path) {
    if (!isObject(value)) return [refusal(attrsField, value, path)];
    return Object.entries(value)
      .filter(([, attr]) => (isObject(attr) && !Array.isArray(attr)) || attr === null)
      .map(([name, attr]) => refusal(attributeField, attr, `${path}.${name}`));
  },
};

const programFields = {
  name: nameField,
  operands: operandsField,
  target: targetNameField,
  schedule: scheduleField,
} as const satisfies Readonly<Record<string, Field>>;

const symbolField = record(
  'a symbol, such as { name: "N", most: 4096 }',
  {
    name: {
      code: "TC702",
      takes: "capitals, digits and _, such as N or MAX_PAGES",
      holds: (value) => typeof value === "string" && isSymbolName(value),
    },
    most: integer(1),
  },
  { needs: ["name", "most"] },
);

/** The symbols of a program, each under a name of its own: kernels are told sizes by these. */
const symbolsField: Field = {
  code: "TC702",
  takes: "a list of symbols",
  problems(value, path, suggest) {
    const problems = problemsOf(listOf("a list of symbols", symbolField), value, path, suggest);
    if (problems.length > 0) return problems;
    const names = (value as readonly Sym[]).map(({ name }) => name);
    const twice = names.find((name, k) => names.indexOf(name) !== k);
    return twice === undefined ? [] : [error("TC702", `${path} has ${twice} twice`)];
  },
};

/** Optional fields of a program, by level. */
const dynamicFields: Readonly<Partial<Record<Level, Readonly<Record<string, Field>>>>> = {
  access: {
    framework: oneOf(frameworks),
    symbolic: record(
      "the symbols of a program",
      { symbols: symbolsField },
      { allowsOthers: true, needs: ["symbols"] },
    ),
  },
};

/** Required fields that only programs of one level have, by level. */
const levelFields = {
  source: { op: opField, attrs: attrsField },
  access: { map: mapField, sharedDims: numbers("TC702", "a list of dims") },
  tile: { body: bodyField },
} as const satisfies Readonly<Record<Level, Readonly<Record<string, Field>>>>;

/**
 * Returns a diagnostic for each field of a program (source, access or tile level) that has the wrong type or
 * structure. The list is empty for a well-formed program.
 */
export function checkProgram(program: unknown): Diagnostic[] {
  const level = isObject(program) ? levels.find((name) => name === program["level"]) : undefined;
  if (level === undefined) {
    const hint = "a builder such as gather(…), program(…) and parseModule(…).module.funcs give programs";
    return [error("TC702", `the program is ${shownValue(program)}, no function at any level`, { hint })];
  }
  const fields = levelFields[level];
  const needs = ["name", "operands", "schedule", ...Object.keys(fields)];
  return checkOptions(
    "the program",
    program,
    { ...programFields, ...fields, ...dynamicFields[level] },
    { allowsOthers: true, needs },
  );
}
