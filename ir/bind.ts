/** Binding the symbols of a program: substitution, after which no later stage knows of them. */
import { bindMap } from "./bind-map.js";
import { error, type Diagnostic } from "./diagnostic.js";
import { inputsOf, openSymbols, outputOf, type AccessFunc, type Func, type Operand } from "./func.js";
import { sizesTaken, takesSize, type Sizes, type Sym } from "./symbolic.js";
import type { Span } from "./types.js";
import { verifyEverySize } from "./verify/every-size.js";

/** The program with the bound sizes, or what is wrong with them (TC107). */
export type BindResult =
  | { readonly ok: true; readonly func: Func }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/**
 * A program whose symbols have sizes, in elements. Refused with TC204 for a map that some size breaks, whichever are asked for; with
 * TC107 for a symbol without a size, one beyond its most, and a name that is no symbol of the program.
 */
export function bindSizes(func: Func, sizes: Sizes): BindResult {
  const symbols = openSymbols(func);
  const broken = func.level === "access" ? verifyEverySize(func) : [];
  const diagnostics = broken.length > 0 ? broken : sizeFaults(func.name, symbols, sizes, func.span);
  if (diagnostics.length > 0) return { ok: false, diagnostics };
  return { ok: true, func: func.level === "access" ? bound(func, sizes) : func };
}

/** What keeps a program from running: TC107 for each symbol that has no size. */
export const unbound = (func: Func): Diagnostic[] => sizeFaults(func.name, openSymbols(func), {}, func.span);

/** `N=37,V=100`: what `--bind` takes. */
export const formatSizes = (sizes: Sizes): string =>
  Object.entries(sizes)
    .map(([name, size]) => `${name}=${size}`)
    .join(",");

function sizeFaults(
  name: string,
  symbols: readonly Sym[],
  sizes: Sizes,
  span: Span | undefined,
): Diagnostic[] {
  const fault = (message: string, hint: string): Diagnostic => error("TC107", message, { span, hint });
  const names = symbols.map((symbol) => symbol.name);
  const strangers = Object.keys(sizes).filter((given) => !names.includes(given));
  const has = names.length === 0 ? `@${name} has no symbols` : `its symbols are ${names.join(", ")}`;
  return [
    ...strangers.map((given) => fault(`@${name} has no symbol ${given}`, has)),
    ...symbols.flatMap((symbol) => {
      const size = Object.hasOwn(sizes, symbol.name) ? sizes[symbol.name] : undefined;
      if (size === undefined) {
        const open = formatSizes(Object.fromEntries(symbols.map(({ name: of, most }) => [of, most])));
        return [fault(`symbol ${symbol.name} of @${name} has no size`, `bind it: ${open} are the most`)];
      }
      if (takesSize(symbol, size)) return [];
      const message = `symbol ${symbol.name} is ${size}, and ${sizesTaken(symbol)}`;
      return [fault(message, "bind another size, or declare a larger one")];
    }),
  ];
}

function bound({ symbolic, tiles: _, ...func }: AccessFunc, sizes: Sizes): AccessFunc {
  if (symbolic === undefined) return func;
  const operands = func.operands.map((operand, k): Operand => {
    const outermost = symbolic.outermost[k] ?? null;
    const size = outermost === null ? undefined : sizes[outermost];
    if (size === undefined) return operand;
    const { dtype, shape } = operand.type;
    return { ...operand, type: { dtype, shape: [size, ...shape.slice(1)] } };
  });
  const inputs = inputsOf({ operands }).map(({ type }) => type);
  const map = bindMap(symbolic.map, sizes, inputs, outputOf({ operands }).type.shape);
  return { ...func, operands, map };
}
