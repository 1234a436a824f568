/**
 * What the parts of a program are made of, for programs that somebody built by hand: words, numbers and lists, told before a
 * rule of the verifier meets what it cannot judge.
 */
import { outOfBoundsPolicies, type AccessMap, type Read, type Site } from "../ir/access.js";
import type { Code } from "../ir/codes.js";
import { error, type Diagnostic } from "../ir/diagnostic.js";
import type { Atom, Linear } from "../ir/linear.js";
import {
  pipes,
  type AllocStmt,
  type ForStmt,
  type GatherStmt,
  type LoadStmt,
  type Region,
  type Stmt,
  type StoreStmt,
  type SyncStmt,
  type UbBuffer,
} from "../ir/tile.js";
import { dtypes } from "../ir/types.js";
import { checkFields, isObject, oneOf, shown, type Field, type Fields, type Suggest } from "./fields.js";

const isNumber = (value: unknown): value is number => typeof value === "number";
const isWord = (value: unknown): value is string => typeof value === "string";

const plain = (takes: string, holds: (value: unknown) => boolean): Field => ({ code: "TC702", takes, holds });
const listWhere = (takes: string, holds: (entry: unknown) => boolean): Field =>
  plain(takes, (value) => Array.isArray(value) && value.every(holds));

const atoms: Readonly<Record<Atom["kind"], (atom: Readonly<Record<string, unknown>>) => boolean>> = {
  dim: (atom) => isNumber(atom["dim"]),
  site: (atom) => isNumber(atom["site"]),
  iv: (atom) => isWord(atom["name"]),
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

const number = plain("a number", isNumber);
const word = plain("a name", isWord);
const numbers = listWhere("a list of numbers", isNumber);
const form = plain("a linear form, such as constant(0)", isLinear);
const forms = listWhere("a list of linear forms", isLinear);

const closed = plain("no name: sizes are numbers in whatever is compiled", (value) => value === undefined);

/** An access map, and the body of a tile program; `suggest` finds the word that was meant. */
export function irFields(suggest: Suggest = () => undefined): {
  readonly map: Field;
  readonly body: Field;
} {
  const record = <T>(
    takes: string,
    fields: Fields<Omit<T, "span">>,
    open: readonly (keyof T)[] = [],
  ): Field => ({
    code: "TC702",
    takes,
    problems(value, path) {
      if (!isObject(value) || Array.isArray(value)) return [refusal(path, value, takes)];
      const needs = Object.keys(fields).filter((name) => !open.some((other) => other === name));
      return checkFields(path, value, fields, { open: true, path: `${path}.`, needs }, suggest);
    },
  });
  const listOf = (takes: string, fieldOf: (entry: unknown) => Field): Field => ({
    code: "TC702",
    takes,
    problems: (value, path) =>
      Array.isArray(value)
        ? value.flatMap((entry: unknown, k) => problemsOf(fieldOf(entry), entry, `${path}[${k}]`))
        : [refusal(path, value, takes)],
  });

  const read = record<Read>("a read of an input", { table: number, at: forms });
  const siteOf = (value: Field): Field =>
    record<Site>(
      "a site",
      { value, fromEnd: number, keep: oneOf([...outOfBoundsPolicies, "any"]), below: number, open: closed },
      ["fromEnd", "below", "open"],
    );
  const [reading, summing] = [siteOf(read), siteOf(form)];
  const map = record<AccessMap>(
    "an access map",
    {
      outRank: number,
      sites: listOf("a list of sites", (site) =>
        isObject(site) && isLinear(site["value"]) ? summing : reading,
      ),
      results: forms,
      fill: plain("the bits of an element as a decimal", (value) => isWord(value) && /^\d+$/.test(value)),
    },
    ["fill"],
  );
  const region = record<Region>("a region", { buffer: word, offsets: forms, sizes: forms });
  const buffer = record<UbBuffer>(
    "a buffer in ub",
    {
      name: word,
      dtype: oneOf(dtypes, "TC104"),
      shape: numbers,
      rowBytes: number,
      buffers: plain("1 or 2", (value) => value === 1 || value === 2),
      addresses: numbers,
    },
    ["addresses"],
  );
  const op = plain("the name of a statement", isWord);
  const statements: Readonly<Record<Stmt["op"], Field>> = {
    for: record<ForStmt>("a loop", {
      op,
      iv: word,
      lower: form,
      upper: form,
      step: number,
      mode: oneOf(["parallel", "serial"] satisfies ForStmt["mode"][]),
      get body() {
        return body;
      },
    }),
    alloc: record<AllocStmt>("an alloc", { op, buffer }),
    load: record<LoadStmt>("a load", { op, from: region, to: word }),
    gather: record<GatherStmt>(
      "a gather",
      {
        op,
        from: listOf("a list of regions", () => region),
        to: region,
        map,
        origins: listWhere("a list, for each index input, of linear forms", areLinear),
        scratch: word,
      },
      ["scratch"],
    ),
    store: record<StoreStmt>("a store", { op, from: word, to: region }),
    sync: record<SyncStmt>("a sync", {
      op,
      from: oneOf(pipes),
      to: oneOf(pipes),
      lag: plain("0 or 1", (value) => value === 0 || value === 1),
    }),
  };
  const unknown = record<Pick<Stmt, "op">>("a statement", { op: oneOf(Object.keys(statements)) });
  const body: Field = listOf("a list of statements", (stmt) => {
    const name = isObject(stmt) ? stmt["op"] : undefined;
    return isWord(name) && Object.hasOwn(statements, name) ? statements[name as Stmt["op"]] : unknown;
  });
  return { map, body };
}

const refusal = (path: string, value: unknown, takes: string, code: Code = "TC702"): Diagnostic =>
  error(code, `${path} is ${shown(value)}; it takes ${takes}`);

function problemsOf(field: Field, value: unknown, path: string): readonly Diagnostic[] {
  if ("problems" in field) return field.problems(value, path);
  return field.holds(value) ? [] : [refusal(path, value, field.takes, field.code)];
}
