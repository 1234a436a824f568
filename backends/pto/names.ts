/** The identifiers of a PTO-ISA kernel. */
import type { TileFunc } from "../../ir/func.js";
import { flatten } from "../../ir/tile.js";
import { Identifiers, namesOf, type Names } from "../names.js";

/** C++ identifiers of a PTO-ISA kernel for the names of the tile program. */
export interface PtoNames extends Names {
  /** Returns the identifier of the variable that holds the number of the current copy of a UB buffer. */
  readonly copyIndex: (buffer: string) => string;
  /**
   * Name of the kernel: `tilec_kernel_gather` for `@gather`. Its other declarations begin with it and `_`.
   */
  readonly entryPoint: string;
}

/** Returns the C++ identifiers of the PTO-ISA kernel for a tile program. */
export function ptoNamesOf(func: TileFunc): PtoNames {
  const identifiers = new Identifiers();
  const doubled = flatten(func.body).flatMap((stmt) =>
    stmt.op === "alloc" && stmt.buffer.buffers === 2 ? [stmt.buffer.name] : [],
  );
  return {
    ...namesOf(func, identifiers),
    copyIndex: identifiers.table("turn", doubled),
    entryPoint: identifiers.next("tilec_kernel", func.name),
  };
}
