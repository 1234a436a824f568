import { checkApiArgument } from "../../api/argument-kinds.js";
import { quoted } from "./fail.js";
import type { OnnxNode } from "./model.js";

/**
 * Returns a label for a node in messages: its operator and quoted name, such as `Transpose "t"`. For a node
 * without a name, the name of its first output is used.
 */
export function labelOf(node: OnnxNode): string {
  checkApiArgument("labelOf", "node", node);
  const { op, name, outputs } = node;
  return `${op} ${quoted(name === "" ? (outputs[0] ?? "") : name)}`;
}
