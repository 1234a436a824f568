import { checkApiArgument } from "../../api/argument-kinds.js";
import { quoted } from "./fail.js";
import type { OnnxNode } from "./model.js";

/**
 * Returns a label for a node in messages: the operator and the quoted name, for example `Transpose "t"`. The
 * name of the first output is used for a node without a name.
 */
export function labelOf(node: OnnxNode): string {
  checkApiArgument("labelOf", "node", node);
  const { op, name, outputs } = node;
  return `${op} ${quoted(name === "" ? (outputs[0] ?? "") : name)}`;
}
