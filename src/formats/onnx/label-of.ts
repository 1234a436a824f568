import { checkApiArgument } from "../../api/argument-kinds.js";
import { quoted } from "./fail.js";
import type { OnnxNode } from "./model.js";

/**
 * Returns the label of a node for messages: its operator and name, such as `Transpose "t"`. A node without a
 * name has the name of its first output.
 */
export function labelOf(node: OnnxNode): string {
  checkApiArgument("labelOf", "node", node);
  const { op, name, outputs } = node;
  return `${op} ${quoted(name === "" ? (outputs[0] ?? "") : name)}`;
}
