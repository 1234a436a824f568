/** The program's names as identifiers of a language, shared by the code generators that print them. */
import type { TileFunc } from "../ir/func.js";
import { flatten } from "../ir/tile.js";
import { InternalError } from "../ir/types.js";

/** What the program's names are called in its kernel. */
export interface Names {
  /** An operand or a UB buffer. */
  readonly buffer: (name: string) => string;
  readonly iv: (name: string) => string;
}

/** A name that is not usable as it is, or that another of the program's names has taken, gets a prefix. */
export function identifiersOf(func: TileFunc, usable: (name: string) => boolean): Names {
  const taken = new Set<string>();
  const table = (names: readonly string[]): ((name: string) => string) => {
    const own = new Map<string, string>();
    for (const name of new Set(names)) {
      let free = name;
      while (!usable(free) || taken.has(free)) free = `x_${free}`;
      taken.add(free);
      own.set(name, free);
    }
    return (name) => {
      const found = own.get(name);
      if (found === undefined) throw new InternalError(`%${name} is no name of @${func.name}`);
      return found;
    };
  };
  const all = flatten(func.body);
  const buffers = all.flatMap((stmt) => (stmt.op === "alloc" ? [stmt.buffer.name] : []));
  const buffer = table([...func.operands.map((operand) => operand.name), ...buffers]);
  return { buffer, iv: table(all.flatMap((stmt) => (stmt.op === "for" ? [stmt.iv] : []))) };
}
