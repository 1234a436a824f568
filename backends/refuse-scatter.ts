/** Programs that a backend has no code for yet. */
import { isScatter } from "../ir/access.js";
import { CompileError, error } from "../ir/diagnostic.js";
import type { AccessFunc, TileFunc } from "../ir/func.js";
import { hasScatter } from "../ir/tile.js";

/**
 * Throws a CompileError (TC505) if a program contains a scatter. `backend`: name of the backend in the
 * message.
 */
export function refuseScatter(func: AccessFunc | TileFunc, backend: string): void {
  if (func.level === "access" ? !isScatter(func.map) : !hasScatter(func.body)) return;
  const message = `@${func.name} is a scatter, and ${backend} has none yet`;
  const hint = "run it on reference, sim or webgpu";
  throw new CompileError([error("TC505", message, { span: func.span, hint })]);
}
