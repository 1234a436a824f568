/** Structural equality: the same program, wherever its text stood. */
import type { Func, Module } from "./func.js";

/** Equal but for source positions. Plain data, so the canonical JSON without spans tells. */
export const equalFunc = (a: Func, b: Func): boolean => canonical(a) === canonical(b);

/** Whether two modules are the same programs, places in their text apart. */
export const equalModule = (a: Module, b: Module): boolean =>
  a.funcs.length === b.funcs.length && canonical(a) === canonical(b);

const positions: ReadonlySet<string> = new Set(["span", "opSpan"]);

const canonical = (value: unknown): string =>
  JSON.stringify(value, (key: string, inner: unknown) => {
    if (positions.has(key)) return undefined;
    if (inner === null || typeof inner !== "object" || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([x], [y]) => (x < y ? -1 : 1)));
  });
