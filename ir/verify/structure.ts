/** Well-formedness: what every function of a level obeys, whatever its target. */
import type { Diagnostic } from "../diagnostic.js";
import { followedBy, gatheredTable, gatherDims } from "../access.js";
import type { AccessFunc, Func } from "../func.js";
import { assertNever } from "../types.js";
import { broken } from "./broken.js";
import { verifyEverySize } from "./every-size.js";
import { verifyMap } from "./map-rules.js";
import { verifyTile } from "./tile-rules.js";

/** What is wrong with a function by itself, whatever its target. */
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

/** The map's rules, then A8: paired dims are gather dims with an output dim of their own number. */
function verifyAccess(func: AccessFunc): Diagnostic[] {
  const faults = verifyMap(func.map, func, func.opSpan);
  const dims = followedBy(func.map, gatheredTable);
  const unpaired = func.sharedDims.filter(
    (d) => !gatherDims(func.map).includes(d) || d >= func.map.domain.length || dims.has(d),
  );
  return [
    ...(faults.length > 0 ? faults : verifyEverySize(func)),
    ...unpaired.map((d) =>
      broken("A8", `dim ${d} is no gather dim with an output dim of its own`, func.opSpan),
    ),
  ];
}
