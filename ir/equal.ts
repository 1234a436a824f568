/** Structural equality: the same program, wherever its text stood. */
import type { AccessFunc, Func, Module, TileFunc } from "./func.js";

/**
 * True if two functions are equal apart from fields that the text form (`.tir`) does not contain: source
 * positions, and `dynamicForm`.
 */
export const equalFunc = (a: Func, b: Func): boolean => canonical(a) === canonical(b);

/** True if two modules contain equal functions and symbols, ignoring source positions. */
export const equalModule = (a: Module, b: Module): boolean =>
  a.funcs.length === b.funcs.length && canonical(a) === canonical(b);

/** Fields of a function that its text does not state. */
const unsaid: ReadonlySet<string> = new Set<keyof AccessFunc | keyof TileFunc>([
  "span",
  "opSpan",
  "dynamicForm",
]);

const canonical = (value: unknown): string =>
  JSON.stringify(value, (key: string, inner: unknown) => {
    if (unsaid.has(key)) return undefined;
    if (inner === null || typeof inner !== "object" || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([x], [y]) => (x < y ? -1 : 1)));
  });
