/** The rule of RNN, GRU and LSTM. Source: onnx/onnx docs/Operators.md. */
import type { Dim } from "./model.js";
import { int, typed, withDims, stringAttribute, type ShapeRule } from "./rule.js";

/**
 * Infers the types and shapes of the outputs of a recurrent operator (RNN, GRU or LSTM): all hidden states
 * and the last hidden state. LSTM also has the last cell state.
 */
export const recurrent: ShapeRule = ({ node, inputs: [x, , weights] }) => {
  const type = x?.dataType;
  const hidden: Dim = int(node, "hidden_size") ?? weights?.dims?.[2] ?? "";
  const directions = stringAttribute(node, "direction") === "bidirectional" ? 2 : 1;
  if (x?.dims !== undefined && x.dims.length !== 3) return typed(type);
  const [first = "", second = ""] = x?.dims ?? [];
  const batchFirst = int(node, "layout") === 1;
  const [steps, batch] = batchFirst ? [second, first] : [first, second];
  const every = batchFirst ? [batch, steps, directions, hidden] : [steps, directions, batch, hidden];
  const last = batchFirst ? [batch, directions, hidden] : [directions, batch, hidden];
  return [withDims(type, every), withDims(type, last), withDims(type, last)];
};
