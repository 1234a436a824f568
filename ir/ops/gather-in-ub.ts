/**
 * pypto.gather_in_ub: rows of paged memory by token. A block table says in which page of `param` each page of tokens lies.
 *
 * Source: hicann/pypto, the page of `gather_in_ub`: `param` of rank 2 in FP32 or FP16, `indices` [1, k] and `block_table` [1, n]
 * in INT32, axis -2. The last page of `param` may be partial; its golden refuses a negative token.
 */
import type { AccessMap } from "../access.js";
import { add, constant, dim, div, mod, scale, site } from "../linear.js";
import { at, formatShape, formatType, type DType, type Shape } from "../types.js";
import { axis } from "./attributes.js";
import { fail, inputName, intAttr, type OpDef, type OpInputs } from "./op-def.js";

const who = "pypto.gather_in_ub";
const names = { inputs: ["param", "indices", "block_table"] } as const;
const takes: readonly (readonly DType[])[] = [["f32", "f16"], ["i32"], ["i32"]];

function checkInputs(inputs: OpInputs): void {
  inputs.inputs.forEach((type, k) => {
    const name = inputName(names, k);
    const { dtype, shape } = type;
    const allowed = takes[k] ?? [];
    if (!allowed.includes(dtype))
      fail(
        "TC104",
        inputs,
        `${who} does not take ${name} of type ${dtype}`,
        `it takes ${allowed.join(", ")}`,
      );
    if (shape.length !== 2)
      fail("TC102", inputs, `${who} takes ${name} of rank 2, and it is ${formatType(type)}`);
    if (k > 0 && shape[0] !== 1)
      fail("TC103", inputs, `${who} takes ${name} of shape [1, n], not ${formatShape(shape)}`);
  });
}

/** out[d0, d1] = param[block * block_table[0, t div block] + t mod block, d1] with t = indices[0, d0]. */
function pagedMap([param, , blockTable]: readonly Shape[], block: number): AccessMap {
  const [tokens, page, row] = [site(0), site(1), site(2)];
  return {
    outRank: 2,
    sites: [
      {
        value: { table: 1, at: [constant(0), dim(0)] },
        keep: "error",
        below: at(blockTable ?? [], 1) * block,
      },
      { value: { table: 2, at: [constant(0), div(tokens, block)] }, keep: "any" },
      { value: add(scale(page, block), mod(tokens, block)), keep: "error", below: at(param ?? [], 0) },
    ],
    results: [row, dim(1)],
  };
}

export const pyptoGatherInUb = {
  name: who,
  ...names,
  attrs: {
    block_size: {
      key: "block_size",
      argument: "blockSize",
      kind: "int",
      help: "rows of a page of gather_in_ub",
    },
    axis: { ...axis, default: -2 },
  },
  resolve(inputs) {
    checkInputs(inputs);
    const [block, along] = [intAttr(inputs.attrs, "block_size"), intAttr(inputs.attrs, "axis")];
    if (block === undefined || block < 1)
      fail("TC105", inputs, `${who} takes a block_size of 1 or more, not ${block ?? "none"}`);
    if (along !== -2) fail("TC101", inputs, `${who} gathers along axis -2, not ${along ?? "none"}`);
    const shapes = inputs.inputs.map(({ shape }) => shape);
    const [param, indices] = shapes;
    const output = [at(indices ?? [], 1), at(param ?? [], 1)];
    return {
      operator: { op: "mapped", map: pagedMap(shapes, block), inputs: shapes, output },
      output,
      negative: "illegal",
      oob: "error",
    };
  },
} as const satisfies OpDef;
