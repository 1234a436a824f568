/**
 * Field checks for the parts of a program that was built by hand. They report wrong names, numbers and lists
 * before a verifier rule meets a value that it cannot check.
 */
import {
  combines,
  duplicatePolicies,
  outOfBoundsPolicies,
  type Write,
  type AccessMap,
  type Read,
  type Reduced,
  type IndexOperand,
} from "../ir/access.js";
import type { Atom, Linear } from "../ir/linear.js";
import {
  pipes,
  type AllocStmt,
  type ForStmt,
  type FillStmt,
  type GatherStmt,
  type ScatterStmt,
  type LoadStmt,
  type ReductionChunk,
  type Region,
  type Stmt,
  type StoreStmt,
  type SyncStmt,
  type UbBuffer,
} from "../ir/tile.js";
import { dtypeMeant } from "../ir/element-type-names.js";
import { dtypes } from "../ir/types.js";
import { arithmeticTypes, operations, reductions, type Expression } from "../ir/values/index.js";
import { choice, isObject, listOf, oneOf, record, type Field, type Fields } from "./fields.js";

const isNumber = (value: unknown): value is number => typeof value === "number";
const isWord = (value: unknown): value is string => typeof value === "string";
/** Texts and generated code hold names as they are. */
const isName = (value: unknown): boolean => isWord(value) && /^\w+$/.test(value);

const plain = (takes: string, holds: (value: unknown) => boolean): Field => ({ code: "TC702", takes, holds });
const listWhere = (takes: string, holds: (entry: unknown) => boolean): Field =>
  plain(takes, (value) => Array.isArray(value) && value.every(holds));

const atoms: Readonly<Record<Atom["kind"], (atom: Readonly<Record<string, unknown>>) => boolean>> = {
  dim: (atom) => isNumber(atom["dim"]),
  index: (atom) => isNumber(atom["index"]),
  iv: (atom) => isName(atom["name"]),
  // Sizes are numbers in whatever is compiled.
  symbol: () => false,
  div: isQuotient,
  mod: isQuotient,
  min: ({ of }) => Array.isArray(of) && of.length === 2 && of.every(isLinear),
};

function isQuotient({ of, by }: Readonly<Record<string, unknown>>): boolean {
  return isLinear(of) && isNumber(by) && by >= 1;
}

function isAtom(value: unknown): boolean {
  const kind = isObject(value) ? value["kind"] : undefined;
  return isObject(value) && isWord(kind) && Object.hasOwn(atoms, kind) && atoms[kind as Atom["kind"]](value);
}

const isLinear = (value: unknown): value is Linear =>
  isObject(value) &&
  isNumber(value["at"]) &&
  Array.isArray(value["terms"]) &&
  value["terms"].every((term) => isObject(term) && isNumber(term["by"]) && isAtom(term["of"]));

const areLinear = (value: unknown): boolean => Array.isArray(value) && value.every(isLinear);

/**
 * Validation rule for the name of an element type. For a framework's type name, the message gives the name to
 * use instead.
 */
export const dtypeField: Field = { ...oneOf(dtypes, "TC104"), meaning: dtypeMeant };

const number = plain("a number", isNumber);
const word = plain("a name", isWord);
/** Validation rule for the name of a function, an operand, a buffer or a loop variable. */
export const nameField = plain("a name of letters, digits and _", isName);
const numbers = listWhere("a list of numbers", isNumber);
const form = plain("a linear form, such as constant(0)", isLinear);
const forms = listWhere("a list of linear forms", isLinear);

const closed = plain("no name: sizes are numbers in whatever is compiled", (value) => value === undefined);

/** Returns a part of a program, which may hold more than this table: `optional` fields may be absent. */
const group = <T>(
  takes: string,
  fields: Fields<Omit<T, "span">>,
  optional: readonly (keyof T)[] = [],
): Field => {
  const needs = Object.keys(fields).filter((name) => !optional.some((other) => other === name));
  return record(takes, fields, { allowsOthers: true, needs });
};

const read = group<Read>("a read of an input", { table: number, at: forms });
const write = group<Write>(
  "a write of the output",
  {
    table: number,
    at: forms,
    combine: oneOf(combines),
    duplicates: oneOf(duplicatePolicies),
    base: choice("the base of a scatter", (value) =>
      isObject(value) && "fill" in value
        ? group<{ readonly fill: string }>("bits", { fill: word })
        : group<{ readonly operand: 0 }>("an operand", { operand: oneOf([0]) }),
    ),
  },
  ["duplicates", "base"],
);
const indexField = (value: Field): Field =>
  group<IndexOperand>(
    "an index operand",
    {
      value,
      wrapNegativeBy: number,
      outOfRange: oneOf([...outOfBoundsPolicies, "any"]),
      extent: number,
      excluded: number,
      dynamic: closed,
    },
    ["wrapNegativeBy", "extent", "excluded", "dynamic"],
  );
const [reading, summing] = [indexField(read), indexField(form)];
const indexFields = choice("an index operand", (value) =>
  isObject(value) && isLinear(value["value"]) ? summing : reading,
);

type ExpressionOf<Kind extends Expression["kind"]> = Extract<Expression, { readonly kind: Kind }>;

const expression: Field = choice("an expression", (node): Field => {
  switch (isObject(node) ? node["kind"] : undefined) {
    case "number":
      return group<ExpressionOf<"number">>("a number", {
        kind: word,
        type: oneOf(arithmeticTypes, "TC104"),
        bits: number,
      });
    case "cast":
      return group<ExpressionOf<"cast">>("a cast", { kind: word, to: dtypeField, of: expression });
    case "op":
      return group<ExpressionOf<"op">>("an operation", {
        kind: word,
        op: oneOf(operations),
        of: listOf("two expressions", expression),
      });
    case "reduce":
      return group<ExpressionOf<"reduce">>("a reduction", {
        kind: word,
        how: oneOf(reductions),
        of: expression,
      });
    default:
      return group<ExpressionOf<"read">>("a read", { kind: oneOf(["read"]), read: number });
  }
});

const segment = group<NonNullable<Reduced["segment"]>>("the bounds of a segment", {
  from: number,
  to: number,
});
const reduced = group<Reduced>("a reduction", { max: number, segment }, ["segment"]);

/** Validation rule for an access map. */
export const mapField = group<AccessMap>(
  "an access map",
  {
    domain: numbers,
    reduced,
    indices: listOf("a list of index operands", indexFields),
    reads: listOf("a list of reads", read),
    value: expression,
    write,
    fill: plain("the bits of an element as a decimal", (value) => isWord(value) && /^\d+$/.test(value)),
  },
  ["fill", "reduced"],
);

const region = group<Region>("a region", { buffer: nameField, offsets: forms, sizes: forms });
const buffer = group<UbBuffer>(
  "a buffer in ub",
  {
    name: nameField,
    dtype: dtypeField,
    shape: numbers,
    rowBytes: number,
    buffers: oneOf([1, 2]),
    addresses: numbers,
  },
  ["addresses"],
);
const op = plain("the name of a statement", isWord);

const statements: Readonly<Record<Stmt["op"], Field>> = {
  for: group<ForStmt>("a loop", {
    op,
    iv: nameField,
    lower: form,
    upper: form,
    step: number,
    mode: oneOf(["parallel", "serial"] satisfies ForStmt["mode"][]),
    get body() {
      return bodyField;
    },
  }),
  alloc: group<AllocStmt>("an alloc", { op, buffer }),
  load: group<LoadStmt>("a load", { op, from: region, to: nameField }),
  gather: group<GatherStmt>(
    "a gather",
    {
      op,
      from: listOf("a list of regions", region),
      to: region,
      chunk: group<ReductionChunk>("a reduction chunk", {
        into: listOf("a list of buffers", nameField),
        from: form,
        to: form,
        of: number,
      }),
      map: mapField,
      origins: listWhere("a list, for each index input, of linear forms", areLinear),
      scratch: listOf("a list of buffers", nameField),
    },
    ["chunk", "scratch"],
  ),
  scatter: group<ScatterStmt>("a scatter", {
    op,
    from: listOf("a list of regions", region),
    to: region,
    map: mapField,
    sizes: forms,
    origin: forms,
  }),
  fill: group<FillStmt>("a fill", { op, to: nameField, bits: word }),
  store: group<StoreStmt>("a store", { op, from: nameField, to: region }),
  sync: group<SyncStmt>("a sync", { op, from: oneOf(pipes), to: oneOf(pipes), lag: oneOf([0, 1]) }),
};
const unknown = group<Pick<Stmt, "op">>("a statement", { op: oneOf(Object.keys(statements)) });
const statement = choice("a statement", (value) => {
  const name = isObject(value) ? value["op"] : undefined;
  return isWord(name) && Object.hasOwn(statements, name) ? statements[name as Stmt["op"]] : unknown;
});

/** Validation rule for the body of a tile program: a list of statements. */
export const bodyField: Field = listOf("a list of statements", statement);
