/**
 * How the gather of a kernel moves elements, decided from shapes alone.
 *
 * `rows`: an index serves a run of the innermost dim, copied 16 bytes at a time. `groups`: the innermost dim is gathered
 * element by element, four at a time or what 16 bytes hold. Both need rows of the output that are whole multiples of
 * that. `words`: an element at a time. `packed`: 8- and 16-bit elements whose rows share words.
 */
import { gatherAccesses, indicesFollow } from "../../ir/access.js";
import type { IndexExpr } from "../../ir/expr.js";
import type { TileFunc } from "../../ir/func.js";
import { flatten, type GatherStmt, type Stmt } from "../../ir/tile.js";
import { assertNever, at, dtypeBytes, elementCount, strides } from "../../ir/types.js";
import { isParam } from "../../ir/verify/accesses.js";

export type GatherPlan = Moves &
  ({ readonly kind: "rows" | "groups" | "words" } | { readonly kind: "packed" });

interface Moves {
  /** Elements of the innermost output dim that a lane moves at a time. */
  readonly group: number;
  /** Words of one access of each operand. */
  readonly width: { readonly data: 1 | 2 | 4; readonly indices: 1 | 4; readonly output: 1 | 2 | 4 };
}

const vectorBytes = 16;

export function planOf(func: TileFunc, stmt: GatherStmt): GatherPlan {
  const size = dtypeBytes[func.data.type.dtype];
  const rank = stmt.to.sizes.length;
  const narrow = { data: 1, indices: 1, output: 1 } as const;
  const plain: GatherPlan =
    size < 4
      ? { kind: "packed", group: 4 / size, width: narrow }
      : { kind: "words", group: 1, width: narrow };
  if (rank === 0 || func.data.type.shape.includes(0)) return plain;
  const inPlace = isParam(func, stmt.data.buffer);
  const innermost = at(func.output.type.shape, rank - 1);
  const placed = [at(stmt.to.offsets, rank - 1), at(stmt.to.sizes, rank - 1)];
  const whole = (group: number): boolean =>
    innermost % group === 0 && placed.every((expr) => isMultiple(func.body, expr, group));
  if (!indicesFollow(stmt.map).has(rank - 1)) {
    const group = vectorBytes / size;
    const last = stmt.map.results.length - 1;
    const follows = stmt.map.results[last];
    const aligned = at(func.data.type.shape, last) % group === 0;
    if (!inPlace || !aligned || follows?.kind !== "direct" || follows.dim !== rank - 1) return plain;
    return whole(group) ? { kind: "rows", group, width: { data: 4, indices: 1, output: 4 } } : plain;
  }
  const group = Math.min(4, vectorBytes / size);
  if ((!inPlace && size > 4) || !whole(group)) return plain;
  const width = {
    data: size === 16 ? 4 : size === 8 ? 2 : 1,
    indices: fourIndices(func, stmt, group) ? 4 : 1,
    output: size === 1 ? 1 : size === 2 ? 2 : 4,
  } as const;
  return { kind: "groups", group, width };
}

/** Whether an offset or a size is a multiple of a number in every iteration: views and tiles may start anywhere. */
function isMultiple(body: readonly Stmt[], expr: IndexExpr, of: number): boolean {
  const multiple = (part: IndexExpr): boolean => isMultiple(body, part, of);
  switch (expr.kind) {
    case "const":
      return expr.value % of === 0;
    case "add":
    case "sub":
    case "min":
      return multiple(expr.lhs) && multiple(expr.rhs);
    case "iv": {
      const loop = flatten(body).find((stmt) => stmt.op === "for" && stmt.iv === expr.name);
      return loop?.op === "for" && loop.step % of === 0 && multiple(loop.lower);
    }
    default:
      return assertNever(expr);
  }
}

/** Whether four neighbours of the output read four neighbours of the index tensor, at a multiple of four. */
function fourIndices(func: TileFunc, stmt: GatherStmt, group: number): boolean {
  const { shape } = func.indices.type;
  const rank = stmt.to.sizes.length;
  if (group !== 4 || shape.length === 0 || elementCount(shape) % 4 !== 0) return false;
  const by = strides(shape);
  return gatherAccesses(stmt.map).every(({ access }) => {
    const last = access.at[access.at.length - 1];
    return (
      last?.kind === "dim" &&
      last.dim === rank - 1 &&
      at(by, by.length - 1) === 1 &&
      at(shape, shape.length - 1) % 4 === 0
    );
  });
}
