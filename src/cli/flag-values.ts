/** Parsers of the values of flags: types, shapes, counts. They also run in a browser. */
import {
  dtypeMeant,
  scheduleEntries,
  type AttributeKey,
  type AttrSpec,
  type EntryValue,
  type Schedule,
  type Shape,
  type TensorType,
} from "../../ir/index.js";
import { camelCase } from "../../ir/ops/attributes.js";
import { maxThreads } from "../../backends/wasm/max-threads.js";
import { maxSeed } from "../formats/lcg.js";
import { UsageError } from "./usage-error.js";

type Camel<Key> = Key extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Tail>}` : Key;
/** Name of an operator attribute's flag in the object of parsed flags, in camel case: `blockSize`. */
export type AttributeFlag = Camel<AttributeKey>;
/**
 * Returns the name of an attribute's flag in the object of parsed flags, in camel case: PyPTO's `block_size`
 * becomes `blockSize`.
 */
export const flagOf = (key: AttributeKey): AttributeFlag => camelCase(key) as AttributeFlag;

/**
 * Returns the placeholder for the value of an attribute's flag in help texts: `n`, `number`, `list`, `text`
 * or `word`.
 */
export const argumentOf = (kind: AttrSpec["kind"]): string =>
  kind === "int" ? "n" : kind === "ints" ? "list" : kind;

/** Returns the kebab-case spelling of a key for a command line flag: `batchDims` becomes `batch-dims`. */
export const dashed = (key: string): string =>
  key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/**
 * Parses a tensor type, for example `f32[4096,1024]`, with `f32` or `f32[]` for a scalar. Framework names of
 * element types are valid: `torch.float16[8]`. Throws a UsageError, with a suggestion, for any other text.
 */
export function parseType(text: string, flag: string): TensorType {
  const [, word = "", inside = ""] = /^([\w.]+)\s*(?:\[([\d,\s]*)\])?$/.exec(text.trim()) ?? [];
  const dtype = dtypeMeant(word);
  if (dtype === undefined)
    throw new UsageError(`--${flag} ${text} is not a tensor type`, `write --${flag} ${typeLike(text, flag)}`);
  return { dtype, shape: inside.trim() === "" ? [] : parseShape(inside, flag) };
}

/**
 * Returns the tensor type that an invalid text probably means, for example `f32[8,16]` for `8x16xf32`. An
 * element type or a shape that is not recognized is replaced by an example that `flag` takes.
 */
function typeLike(text: string, flag: string): string {
  const bare = text.trim().replace(/^tensor<(.*)>$/, "$1");
  const [, extents = "", last = ""] = /^((?:\d+x)*)([\w.]+)$/.exec(bare) ?? [];
  const [, first = "", listed = ""] = /^([\w.]+)\s*[([]([\dx,\s]*)[)\]]$/.exec(bare) ?? [];
  const dtype = dtypeMeant(extents === "" ? first : last);
  const shape = (extents === "" ? listed : extents).split(/[x,]/).flatMap((piece) => piece.trim() || []);
  if (dtype !== undefined) return `${dtype}[${shape.join(",")}]`;
  const named = dtypeMeant(/^[\w.]+/.exec(bare)?.[0] ?? "");
  return `${named ?? (flag === "indices" ? "i64" : "f32")}[${flag === "indices" ? "1024" : "4096,1024"}]`;
}

/**
 * Parses a shape, for example `8,1024`; an x may replace the comma. Throws a UsageError for entries that are
 * not whole numbers. `example`: a value that the hint of the error shows.
 */
export function parseShape(text: string, flag: string, example = "8,1024"): Shape {
  const pieces = text.replace(/^\[|\]$/g, "").split(/[,x]/);
  return pieces.map((piece) => {
    const entry = parseInteger(piece, flag);
    if (entry === undefined)
      throw new UsageError(
        `--${flag} ${text} is not a list of whole numbers`,
        `write it as --${flag} ${example}`,
      );
    return entry;
  });
}

/**
 * Parses the value of a flag as a whole number, which may be negative. Throws a UsageError for any other
 * text. `example`: a value that the hint of the error shows; absent, there is no hint.
 */
export function parseCount(text: string, flag: string, example?: number): number {
  const value = parseInteger(text, flag);
  if (value !== undefined) return value;
  const hint = example === undefined ? undefined : `--${flag} ${example}`;
  throw new UsageError(`--${flag} ${text} is not a whole number`, hint);
}

/**
 * Parses the value of a flag as a whole number from `min` to `max`. Throws a UsageError for any other
 * text. `example`: a value that the hint of the error shows.
 */
export function parseCountFrom(
  text: string,
  flag: string,
  min: number,
  example: number,
  max = Number.MAX_SAFE_INTEGER,
): number {
  const value = parseCount(text, flag, example);
  if (value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `${min} to ${max}`;
  throw new UsageError(`--${flag} must be ${range}, not ${value}`, `--${flag} ${example}`);
}

/** Parses the value of `--threads`. Throws a UsageError for a text that is no number of threads. */
export const parseThreads = (text: string): number => parseCountFrom(text, "threads", 1, 2, maxThreads);

/** Parses the value of `--seed`. Throws a UsageError for a text that is no whole number of 32 bits. */
export const parseSeed = (text: string): number => parseCountFrom(text, "seed", 0, 1, maxSeed);

/** Parses the value of a flag as a finite number. Throws a UsageError for any other text. */
export function parseNumber(text: string, flag: string): number {
  const value = Number(text.trim() === "" ? "none" : text);
  if (!Number.isFinite(value)) throw new UsageError(`--${flag} ${text} is not a number`);
  return value;
}

/**
 * Parses the value of a flag as a whole number; undefined for any other text. Throws a UsageError for a
 * number beyond JavaScript's safe integers.
 */
function parseInteger(text: string, flag: string): number | undefined {
  const value = Number(text.trim() === "" ? "none" : text);
  if (Number.isSafeInteger(value)) return value;
  if (!Number.isInteger(value) && Math.abs(value) !== Infinity) return undefined;
  const max = Number.MAX_SAFE_INTEGER;
  throw new UsageError(`--${flag}: ${text.trim()} is beyond the limit of ${value < 0 ? -max : max}`);
}

const units = { "": 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;

/**
 * Parses a number with an optional unit of bytes (KiB, MiB or GiB), for example `24` or `64KiB`, and returns
 * the scaled number. Undefined for any other text.
 */
export function scaledNumber(text: string): number | undefined {
  const [, digits, unit = ""] = /^\s*(\d+(?:\.\d+)?)\s*(KiB|MiB|GiB)?\s*$/.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * units[unit as keyof typeof units];
}

/** Parses a number of bytes, for example `65536` or `64KiB`. Throws a UsageError for any other text. */
function parseBytes(text: string, flag: string): number {
  const value = scaledNumber(text);
  if (value !== undefined && Number.isSafeInteger(value)) return value;
  if (value !== undefined && value > Number.MAX_SAFE_INTEGER)
    throw new UsageError(
      `--${flag} ${text} is over the limit of ${Number.MAX_SAFE_INTEGER} B`,
      `write --${flag} 64KiB`,
    );
  const [, digits = "64", letter = "k"] = /^\s*(\d+)\s*([kmg])i?b?\s*$/i.exec(text) ?? [];
  const hint = `write --${flag} ${digits}${letter.toUpperCase()}iB`;
  throw new UsageError(`--${flag} ${text} is not a number of bytes`, hint);
}

/**
 * Parses the value of a schedule entry's flag, for example `8,1024` for `--tile`. Throws a UsageError for a
 * malformed text.
 */
export function parseEntry<K extends keyof Schedule>(key: K, text: string): Required<Schedule>[K];
/**
 * Parses the value of a schedule entry's flag, for example `8,1024` for `--tile`. Throws a UsageError for a
 * malformed text.
 */
export function parseEntry(key: keyof Schedule, text: string): EntryValue {
  const entry = scheduleEntries[key];
  switch (entry.form) {
    case "list":
      return parseShape(text, entry.flag, entry.example);
    case "count":
      return entry.unit === "bytes" ? parseBytes(text, entry.flag) : parseCount(text, entry.flag, 1);
    case "word": {
      const match = entry.words.find((word) => word === text);
      if (match === undefined)
        throw new UsageError(`--${entry.flag} ${text} is not one of ${entry.words.join(", ")}`);
      return match as EntryValue;
    }
    case "by-operand": {
      const refuse = (): never => {
        throw new UsageError(`--${entry.flag} ${text}: ${entry.rule}`, entry.write);
      };
      const oneOf = (values: readonly (string | number)[], word: string | undefined): string | number =>
        values.find((value) => String(value) === word) ?? refuse();
      const value = text.includes("=")
        ? byOperand(text, (word) => oneOf(entry.each, word), refuse)
        : oneOf(entry.all, text.trim());
      return value as EntryValue;
    }
  }
}

/**
 * Parses pairs `operand=word`, separated by commas, and returns the value of each operand, by operand name.
 * `valueOf`: converts a word to a value; the word is undefined for a pair without `=`. Calls `refuse`, which
 * throws, for a malformed pair or an operand that is given twice.
 */
function byOperand<T>(
  text: string,
  valueOf: (word: string | undefined) => T,
  refuse: () => never,
): Readonly<Record<string, T>> {
  const entries = text.split(",").map((entry): [string, T] => {
    const [operand = "", word, ...more] = entry.split("=").map((piece) => piece.trim());
    return operand === "" || more.length > 0 ? refuse() : [operand, valueOf(word)];
  });
  const named = Object.fromEntries(entries);
  return Object.keys(named).length < entries.length ? refuse() : named;
}

/**
 * Parses upper limits of dynamic sizes, for example `batch=64,seq=128`, and returns the limits in elements by
 * name. Throws a UsageError for any other text.
 */
export function parseMaxSizes(text: string): Readonly<Record<string, number>> {
  const entries = text.split(",").map((entry): [string, number] => {
    const [, name = "", max = ""] = /^\s*(.*?)\s*=\s*(\d+)\s*$/.exec(entry) ?? [];
    if (name === "")
      throw new UsageError(`--most ${text}: ${entry} is not name=extent`, "write --most batch=64");
    return [name, parseCount(max, "most")];
  });
  return Object.fromEntries(entries);
}

/** Extents and shapes as they are bound: nothing negative. */
const boundValue = /^(?:\d+(?:\s*[,x]\s*\d+)*|\[\s*\d+(?:\s*[,x]\s*\d+)*\s*\])$/;

/**
 * Parses the value of `--bind`, for example `batch=1,state=2x1x128,ids=[5]`. Returns extents by dim name and
 * shapes by input name. Throws a UsageError for any other text.
 */
export function parseBind(text: string): Readonly<Record<string, number | Shape>> {
  const refuse = (what: string): never => {
    throw new UsageError(`--bind ${text}: ${what}`, "write --bind batch=1,state=2x1x128,ids=[5]");
  };
  const bound = new Map<string, number | Shape>();
  // Commas within brackets are those of a shape.
  for (const entry of text.split(/,(?![^[]*\])/)) {
    const split = entry.lastIndexOf("=");
    const [name, value] = [entry.slice(0, Math.max(0, split)).trim(), entry.slice(split + 1).trim()];
    if (name === "" || value === "") refuse(`${entry} is not name=extent`);
    if (bound.has(name)) refuse(`${name} is given twice`);
    if (!boundValue.test(value)) refuse(`${value} is neither an extent nor a shape`);
    bound.set(name, /^\d+$/.test(value) ? parseCount(value, "bind") : parseShape(value, "bind"));
  }
  return Object.fromEntries(bound);
}
