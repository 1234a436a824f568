import { checkApiArgument } from "../../api/argument-kinds.js";
import { quoted } from "./fail.js";
import type { OnnxNode } from "./model.js";

/** Returns a node's operator and name in messages: `Transpose "t"`. A node without a name has that of its output. */
export function labelOf(node: OnnxNode): string {
  checkApiArgument("labelOf", "node", node);
  const { op, name, outputs } = node;
  return `${op} ${quoted(name === "" ? (outputs[0] ?? "") : name)}`;
}
