/** Structural equality: the same program, wherever its text stood. */
import type { AccessFunc, Func, Module, TileFunc } from "./func.js";

/** Equal but for source positions and for what a program is an instance of. Plain data, so the canonical JSON of the rest tells. */
export const equalFunc = (a: Func, b: Func): boolean => canonical(a) === canonical(b);

/** Whether two modules are the same programs, places in their text apart. */
export const equalModule = (a: Module, b: Module): boolean =>
  a.funcs.length === b.funcs.length && canonical(a) === canonical(b);

/** What no text says. */
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
