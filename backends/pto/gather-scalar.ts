/** Element by element on the scalar unit: what no vector instruction and no copy of rows can do. */
import { gatheredTable } from "../../ir/access.js";
import { add, constant, scale, type Linear } from "../../ir/linear.js";
import { inputOf } from "../../ir/func.js";
import { at, elementCount } from "../../ir/types.js";
import type { PtoContext } from "./context.js";
import { indexReaders, overDims } from "./gather-rows.js";
import { dataBuffer, outputBuffer, type PtoGather } from "./plan.js";
import { emitIndices, reportsSome } from "./indices.js";

/** Emits a gather with the lowering `scalar`: the scalar unit moves the elements one by one. */
export function emitScalar(context: PtoContext, gather: PtoGather): void {
  const { out, plan } = context;
  const { stmt, addresses, pipe } = gather;
  const output = outputBuffer(plan, gather);
  const data = dataBuffer(plan, gather);
  const from = at(stmt.from, 0);
  const { each } = plan.words(output.name);
  if (pipe !== "S") context.wait(pipe, "S");
  // Data without elements is no tile, and no index of it is inside.
  const none = elementCount(inputOf(plan.func, gatheredTable).type.shape) === 0;
  const source =
    data === undefined || none ? plan.names.buffer(from.buffer) : context.bufferTile(data, from.sizes);
  const indices = indexReaders(context, gather);
  context.switchCopy(output);
  const result = context.bufferTile(output, stmt.to.sizes);
  overDims(context, { sizes: stmt.to.sizes, shape: output.shape }, stmt.to.sizes.length, (dims) => {
    const indexValues = emitIndices(context, gather, indices, dims);
    if (gather.reports && !reportsSome(gather)) out.line("bad = bad || !inside;");
    for (let word = 0; word < each; word++) {
      const wordOf = (element: Linear): Linear => add(scale(element, each), constant(word));
      const read = context.form(wordOf(addresses.data), dims, indexValues);
      const value = data === undefined ? `${source}[${read}]` : `${source}.GetValue(${read})`;
      const given = none ? "0" : `inside ? ${value} : 0`;
      out.line(`${result}.SetValue(${context.form(wordOf(addresses.output), dims)}, ${given});`);
    }
  });
  if (pipe !== "S") context.wait("S", pipe);
}
