/** Programs of texts. */
import { parseModule, type AccessFunc, type Func, type TileFunc } from "../../ir/index.js";

/** Returns the first function of a text. Throws an Error that says what is wrong with the text. */
export function parsed(text: string): Func {
  const { module, diagnostics } = parseModule(text, "test.tir");
  const [func] = module.funcs;
  if (func !== undefined && diagnostics.length === 0) return func;
  throw new Error(`${diagnostics.map(({ code, message }) => `${code} ${message}`).join("\n")}\n${text}`);
}

/** Returns the access program of a text. Throws an Error for another text. */
export function parsedAccess(text: string): AccessFunc {
  const func = parsed(text);
  if (func.level !== "access") throw new Error(`@${func.name} is no access program`);
  return func;
}

/** Returns the tile program of a text. Throws an Error for another text. */
export function parsedTile(text: string): TileFunc {
  const func = parsed(text);
  if (func.level !== "tile") throw new Error(`@${func.name} is not a tile program`);
  return func;
}
