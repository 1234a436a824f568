/**
 * Identifiers of generated code for the names of a program. Each begins with the word of its kind and `_`, as
 * no keyword, no predeclared name and no name of the generators does: a name of a program meets none of them.
 */
import type { TileFunc } from "../ir/func.js";
import { flatten } from "../ir/tile.js";
import { InternalError } from "../ir/types.js";
import { UniqueNames } from "../ir/unique-names.js";

/**
 * Prefix of the identifiers of one kind in generated code. `gm`: operands. `ub`: buffers. `turn`: current
 * copy of a double buffer. `iv`: loop variables. `view`: views of operands in a PyPTO program.
 * `tilec_kernel`: the kernel.
 */
export type IdentifierKind = "gm" | "ub" | "turn" | "iv" | "view" | "tilec_kernel";

/** Allocator of unique identifiers for one generated text. */
export class Identifiers {
  private readonly names = new UniqueNames();

  /**
   * Returns an identifier for a name: `gm_data` for the operand `data`, `ub_data` for the buffer `data_ub`.
   */
  next(kind: IdentifierKind, name: string): string {
    const base = kind === "ub" || kind === "turn" ? name.replace(/_ub$/, "") : name;
    // C++ keeps identifiers with `__` in them for itself.
    return this.names.next(`${kind}_${/[^_]/.test(base) ? base : "unnamed"}`.replaceAll(/_+/g, "_"));
  }

  /**
   * Returns the identifiers of these names, as a function that throws an InternalError for any other name.
   */
  table(kind: IdentifierKind, names: readonly string[]): (name: string) => string {
    const unique = new Map([...new Set(names)].map((name) => [name, this.next(kind, name)]));
    return (name) => {
      const identifier = unique.get(name);
      if (identifier === undefined) throw new InternalError(`%${name} is no name of the program`);
      return identifier;
    };
  }
}

/** Functions that return the identifiers of a generated kernel for the names of the tile program. */
export interface Names {
  /** Returns the identifier of an operand or a UB buffer. */
  readonly buffer: (name: string) => string;
  /** Returns the identifier of a loop variable. */
  readonly iv: (name: string) => string;
}

/** Returns the identifiers, in generated code, of a tile program's operands, loop variables and buffers. */
export function namesOf(func: TileFunc, identifiers = new Identifiers()): Names {
  const all = flatten(func.body);
  const operands = func.operands.map(({ name }) => name);
  const operand = identifiers.table("gm", operands);
  const buffer = identifiers.table(
    "ub",
    all.flatMap((stmt) => (stmt.op === "alloc" ? [stmt.buffer.name] : [])),
  );
  return {
    buffer: (name) => (operands.includes(name) ? operand(name) : buffer(name)),
    iv: identifiers.table(
      "iv",
      all.flatMap((stmt) => (stmt.op === "for" ? [stmt.iv] : [])),
    ),
  };
}
