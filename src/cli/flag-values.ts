/** What flags take, as text: types, shapes, counts. Runs in a browser too. */
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
import { UsageError } from "./usage-error.js";

type Camel<Key> = Key extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Tail>}` : Key;
/** The key of an attribute among parsed flags. */
export type AttributeFlag = Camel<AttributeKey>;
/** PyPTO's `block_size` is parsed as blockSize. */
export const flagOf = (key: AttributeKey): AttributeFlag => camelCase(key) as AttributeFlag;

/** Returns the word that help has for the value of an attribute's flag: `n`, `list`, `text`, `word`. */
export const argumentOf = (kind: AttrSpec["kind"]): string =>
  kind === "int" ? "n" : kind === "ints" ? "list" : kind;

/** `batchDims` is the flag `--batch-dims`. */
export const dashed = (key: string): string =>
  key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/**
 * `f32[4096,1024]`; `f32[]` or `f32` is a scalar. Element types by the names of frameworks, too: `torch.float16[8]`, `DT_FP16[8]`. Throws a
 * UsageError for anything else, with the type that is meant by MLIR's `8x16xf32` or round brackets.
 */
export function parseType(text: string, flag: string): TensorType {
  const [, word = "", inside = ""] = /^([\w.]+)\s*(?:\[([\d,\s]*)\])?$/.exec(text.trim()) ?? [];
  const dtype = dtypeMeant(word);
  if (dtype === undefined)
    throw new UsageError(`--${flag} ${text} is no tensor type`, `write --${flag} ${typeLike(text)}`);
  return { dtype, shape: inside.trim() === "" ? [] : parseShape(inside, flag) };
}

/** What a text that is no type was meant to be, or an example. */
function typeLike(text: string): string {
  const bare = text.trim().replace(/^tensor<(.*)>$/, "$1");
  const [, extents = "", last = ""] = /^((?:\d+x)*)([\w.]+)$/.exec(bare) ?? [];
  const [, first = "", listed = ""] = /^([\w.]+)\s*[([]([\dx,\s]*)[)\]]$/.exec(bare) ?? [];
  const dtype = dtypeMeant(extents === "" ? first : last);
  const shape = (extents === "" ? listed : extents).split(/[x,]/).flatMap((piece) => piece.trim() || []);
  return dtype === undefined ? "f32[4096,1024]" : `${dtype}[${shape.join(",")}]`;
}

/** `8,1024`, also with spaces, brackets or an x between. Entries may be 0 or negative; rules judge them later. */
export function parseShape(text: string, flag: string): Shape {
  const pieces = text.replace(/^\[|\]$/g, "").split(/[,x]/);
  return pieces.map((piece) => {
    const entry = parseInteger(piece, flag);
    if (entry === undefined)
      throw new UsageError(`--${flag} ${text} is no list of whole numbers`, `write it as --${flag} 8,1024`);
    return entry;
  });
}

export function parseCount(text: string, flag: string): number {
  const value = parseInteger(text, flag);
  if (value === undefined) throw new UsageError(`--${flag} ${text} is no whole number`);
  return value;
}

/** Returns the finite number that a text is. Throws a UsageError for any other text. */
export function parseNumber(text: string, flag: string): number {
  const value = Number(text.trim() === "" ? "none" : text);
  if (!Number.isFinite(value)) throw new UsageError(`--${flag} ${text} is no number`);
  return value;
}

/** Returns the whole number that a text is; undefined for another text. Throws a UsageError for one that a number does not hold exactly. */
export function parseInteger(text: string, flag: string): number | undefined {
  const value = Number(text.trim() === "" ? "none" : text);
  if (Number.isSafeInteger(value)) return value;
  if (!Number.isInteger(value) && Math.abs(value) !== Infinity) return undefined;
  const max = Number.MAX_SAFE_INTEGER;
  throw new UsageError(`--${flag}: ${text.trim()} is beyond ${value < 0 ? -max : max}`);
}

const units = { "": 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;

/** Returns the number of a text with or without a unit of bytes: `24`, `0.5`, `64KiB`. Undefined for any other text. */
export function scaledNumber(text: string): number | undefined {
  const [, digits, unit = ""] = /^\s*(\d+(?:\.\d+)?)\s*(KiB|MiB|GiB)?\s*$/.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * units[unit as keyof typeof units];
}

/** Bytes: `65536` or `64KiB`. Throws a UsageError. */
function parseBytes(text: string, flag: string): number {
  const value = scaledNumber(text);
  if (value !== undefined && Number.isSafeInteger(value)) return value;
  if (value !== undefined && value > Number.MAX_SAFE_INTEGER)
    throw new UsageError(`--${flag} ${text} is too large`, `write --${flag} 64KiB`);
  const [, digits = "64", letter = "k"] = /^\s*(\d+)\s*([kmg])i?b?\s*$/i.exec(text) ?? [];
  const hint = `write --${flag} ${digits}${letter.toUpperCase()}iB`;
  throw new UsageError(`--${flag} ${text} is no number of bytes`, hint);
}

/** An entry of a schedule. Which operands there are, and which numbers are legal, is for the rules to say. */
export function parseEntry<K extends keyof Schedule>(key: K, text: string): Required<Schedule>[K];
export function parseEntry(key: keyof Schedule, text: string): EntryValue {
  const entry = scheduleEntries[key];
  switch (entry.form) {
    case "list":
      return parseShape(text, entry.flag);
    case "count":
      return entry.unit === "bytes" ? parseBytes(text, entry.flag) : parseCount(text, entry.flag);
    case "word": {
      const match = entry.words.find((word) => word === text);
      if (match === undefined)
        throw new UsageError(`--${entry.flag} ${text} is none of ${entry.words.join(", ")}`);
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

/** `batch=64`: the most extents of dims that stay open. */
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

/** `batch=1,state=2x1x128,ids=[5]`: an extent by the name of a dim, a shape by the name of an input. */
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
    if (!boundValue.test(value)) refuse(`${value} is no extent and no shape`);
    bound.set(name, /^\d+$/.test(value) ? parseCount(value, "bind") : parseShape(value, "bind"));
  }
  return Object.fromEntries(bound);
}
