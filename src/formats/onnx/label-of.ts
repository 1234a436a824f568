import { quoted } from "./fail.js";
import type { OnnxNode } from "./model.js";

/** Returns a node's operator and name in messages: `Transpose "t"`. A node without a name has that of its output. */
export const labelOf = ({ op, name, outputs }: OnnxNode): string =>
  `${op} ${quoted(name === "" ? (outputs[0] ?? "") : name)}`;
