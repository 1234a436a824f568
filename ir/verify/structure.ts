/** Well-formedness: what every function of a level obeys, whatever its target. */
import type { Diagnostic } from "../diagnostic.js";
import { followedBy, gatheredTable, gatherDims, isScatter, storedDims } from "../access.js";
import type { AccessFunc, Func } from "../func.js";
import { dimsOf } from "../linear.js";
import { assertNever } from "../types.js";
import { broken } from "./broken.js";
import { verifyEverySize } from "./every-size.js";
import { verifyMap } from "./map-rules.js";
import { verifyTile } from "./tile-rules.js";

/**
 * Returns the diagnostics of the rules that a function must satisfy on every target; an empty list for a
 * valid function.
 */
export function verifyStructure(func: Func): Diagnostic[] {
  const names = func.operands.map((operand) => operand.name);
  if (new Set(names).size !== names.length) {
    return [broken("T1", `a name is defined twice among %${names.join(", %")}`, func.span)];
  }
  switch (func.level) {
    case "source":
      return [];
    case "access":
      return verifyAccess(func);
    case "tile":
      return verifyTile(func);
    default:
      return assertNever(func);
  }
}

/**
 * Returns the diagnostics of a program at access level: the faults of its access map, then the violations of
 * rule A8. A8: each shared dim is a gather dim of the data (for a scatter, a stored dim) and also the number
 * of a dim of the domain. No coordinate of the data (for a scatter, of the output) depends on that domain
 * dim.
 */
function verifyAccess(func: AccessFunc): Diagnostic[] {
  const faults = verifyMap(func.map, func, func.opSpan);
  const { map } = func;
  const isWrite = isScatter(map);
  const named = isWrite ? storedDims(map) : gatherDims(map);
  const dims = isWrite ? new Set(map.write.at.flatMap(dimsOf)) : followedBy(map, gatheredTable);
  const unpaired = func.sharedDims.filter((d) => !named.includes(d) || d >= map.domain.length || dims.has(d));
  return [
    ...(faults.length > 0 ? faults : verifyEverySize(func)),
    ...unpaired.map((d) =>
      broken(
        "A8",
        `dim ${d} is no ${isWrite ? "stored dim with a dim of the domain" : "gather dim with an output dim"} of its own`,
        func.opSpan,
      ),
    ),
  ];
}
