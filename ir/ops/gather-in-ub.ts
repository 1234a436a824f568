/**
 * pypto.gather_in_ub: rows of paged memory by token. A block table says in which page of `param` each page of
 * tokens lies.
 *
 * Source: hicann/pypto at 883e7df, docs/zh/api/operation/pypto-experimental-gather_in_ub.md. The last page of
 * `param` may be partial; the golden (framework/src/interface/interpreter/calculator/calc_torch.cpp,
 * GatherINUBGolden) refuses a negative token. PU are the numbers that docs/specifications.md gives its
 * sentences.
 */
import { readData, type MapBody } from "../access.js";
import { add, constant, dim, div, mod, scale, index } from "../linear.js";
import { at, elementCount, formatShape, formatType, maxElements, type DType, type Shape } from "../types.js";
import { axis } from "./attributes.js";
import type { PyptoLevel } from "../profile.js";
import { mappedGather } from "./mapped-gather.js";
import { laterLevel, level, levelOf } from "./pypto.js";
import {
  checkTypeOf,
  defineOperator,
  breakRule,
  inputName,
  intAttr,
  resolvedAs,
  shapesOf,
  type OpInputs,
} from "./op-def.js";

const who = "pypto.gather_in_ub";
const names = { inputs: ["param", "indices", "block_table"] } as const;
const indexTypes: readonly DType[] = ["i32"];
const documented: readonly DType[] = ["f32", "f16"];
// The code checks no type; models pass these (models/deepseek_v32_exp/sparse_flash_attention_quant_impl.py).
const modelled: readonly DType[] = [...documented, "bf16", "i8", "u8"];
/** Types of param at each level; the specification has no page of the operator. */
const params: Readonly<Record<PyptoLevel, readonly DType[]>> = {
  specification: modelled,
  documented,
  head: modelled,
};

/** Throws a RuleError for types, ranks or shapes that `pypto.gather_in_ub` does not accept. */
function checkInputs(inputs: OpInputs): undefined {
  const at = levelOf(inputs);
  const cited = (sentence: string): string => `${who} at level ${at} (${sentence})`;
  inputs.inputs.forEach((type, k) => {
    const name = inputName(names, k);
    const { dtype, shape } = type;
    if (k > 0) checkTypeOf(inputs, name, type, indexTypes, cited("PU4"));
    else
      checkTypeOf(inputs, name, type, params[at], cited("PU1"), () =>
        laterLevel(inputs, (level) => params[level].includes(dtype)),
      );
    if (shape.length !== 2)
      breakRule("TC102", inputs, `${cited("PU2")} takes ${name} of rank 2, and it is ${formatType(type)}`);
    if (k > 0 && shape[0] !== 1)
      breakRule("TC103", inputs, `${cited("PU5")} takes ${name} of shape [1, n], not ${formatShape(shape)}`);
    if (elementCount(shape) === 0)
      breakRule(
        "TC103",
        inputs,
        `${cited("PU3")} takes no empty tensors, and ${name} is ${formatType(type)}`,
      );
  });
}

/**
 * Returns the map of pypto.gather_in_ub, without domain and write: out[d0, d1] = param[block * block_table[0,
 * t div block] + t mod block, d1]. t = indices[0, d0] is a token. `block`: number of rows in a page.
 */
function pagedMap([param, , blockTable]: readonly Shape[], block: number): MapBody {
  const [tokens, page, row] = [index(0), index(1), index(2)];
  return {
    indices: [
      {
        value: { table: 1, at: [constant(0), dim(0)] },
        outOfRange: "error",
        extent: at(blockTable ?? [], 1) * block,
      },
      { value: { table: 2, at: [constant(0), div(tokens, block)] }, outOfRange: "any" },
      { value: add(scale(page, block), mod(tokens, block)), outOfRange: "error", extent: at(param ?? [], 0) },
    ],
    ...readData([row, dim(1)]),
  };
}

/**
 * Operator pypto.gather_in_ub: gathers rows of paged memory by token. A block table maps each page of tokens
 * to a page of the memory.
 */
export const pyptoGatherInUb = defineOperator({
  maxElements,
  name: who,
  ...names,
  framework: "pypto",
  attrs: {
    block_size: {
      key: "block_size",
      argument: "blockSize",
      kind: "int",
      help: "rows of a page of gather_in_ub",
    },
    axis: { ...axis, default: -2 },
    level,
  },
  takes: checkInputs,
  resolve(inputs) {
    checkInputs(inputs);
    const [block, along] = [intAttr(inputs.attrs, "block_size"), intAttr(inputs.attrs, "axis")];
    if (block === undefined || block < 1)
      breakRule("TC105", inputs, `${who} (PU7) takes a block_size of 1 or more, not ${block ?? "none"}`);
    if (along !== -2)
      breakRule("TC101", inputs, `${who} (PU6) gathers along axis -2, not ${along ?? "none"}`);
    const shapes = shapesOf(inputs);
    const [param, indices] = shapes;
    const gather = mappedGather(shapes, [at(indices ?? [], 1), at(param ?? [], 1)], pagedMap(shapes, block));
    return resolvedAs({ ...gather, rowsOfPage: block }, { negative: "illegal", oob: "error" });
  },
});
