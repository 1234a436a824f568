/**
 * PyPTO's `gather(input, dim, index)` and `index_select(input, dim, index)`.
 *
 * Sources: hicann/pypto docs/api/operation/pypto-gather.md and pypto-index_select.md of 2026-02-14 (2b2bb56), the pages
 * that level `documented` holds to, and docs/zh/api/operation of the same names with the code behind them of 2026-08-22
 * (883e7df), which level `head` follows. PG and PS are the numbers that docs/specifications.md gives their sentences.
 */
import { at, elementCount, formatType, type DType } from "../types.js";
import {
  axisInRange,
  checkDType,
  checkElements,
  checkRank,
  checkSameRank,
  fail,
  intAttr,
  wordAttr,
  type AttrSpec,
  type OpDef,
  type OpInputs,
} from "./op-def.js";
import { axis, oobOf, oobSpec } from "./attributes.js";

/** `documented`: every sentence of the page holds. `head`: what the repository's head takes. */
export const pyptoLevels = ["documented", "head"] as const;
/** Which of PyPTO's documented interfaces an operator follows. */
export type PyptoLevel = (typeof pyptoLevels)[number];
const dim = { ...axis, argument: "dim" } as const satisfies AttrSpec;

const level = {
  key: "level",
  help: "what PyPTO takes: documented (its pages) or head (its repository)",
  kind: "word",
  words: pyptoLevels,
  default: "head",
} as const satisfies AttrSpec;

/** Element types, and the lowest and highest ranks. */
interface Support {
  readonly dtypes: readonly DType[];
  readonly dataRanks: readonly [number, number];
  readonly indexRanks: readonly [number, number];
}

interface Page {
  readonly operator: string;
  /** Before the numbers of its sentences. */
  readonly prefix: "PG" | "PS";
  readonly support: Readonly<Record<PyptoLevel, Support>>;
}

/** Both pages have one kind of parameter table, and its sentences have the same numbers; 9 and up are PG's alone. */
const sentence = {
  dtypes: 1,
  noEmptyData: 2,
  dataRanks: 3,
  indexTypes: 6,
  noEmptyIndex: 7,
  indexRanks: 8,
  everyAxis: 9,
  sameRank: 13,
  offDim: 14,
} as const;

/**
 * The union of the chips; bool and the 8-bit floats exist on the 950 alone and are left out. Of gather, PyPTO's tests
 * have i8 and u8, its code has not.
 */
const headTypes: readonly DType[] = ["f32", "f16", "bf16", "i32", "u32", "i16", "u16", "i8", "u8"];

const gatherPage: Page = {
  operator: "pypto.gather",
  prefix: "PG",
  support: {
    documented: { dtypes: ["f32", "f16", "bf16", "i16", "i32"], dataRanks: [2, 4], indexRanks: [2, 4] },
    head: { dtypes: headTypes, dataRanks: [1, 5], indexRanks: [1, 5] },
  },
};

const indexSelectPage: Page = {
  operator: "pypto.index_select",
  prefix: "PS",
  support: {
    documented: { dtypes: ["f32", "f16", "bf16", "i16", "i8", "i32"], dataRanks: [2, 4], indexRanks: [1, 2] },
    head: { dtypes: headTypes, dataRanks: [1, 4], indexRanks: [1, 2] },
  },
};

const levelOf = (inputs: OpInputs): PyptoLevel => wordAttr(inputs.attrs, "level") as PyptoLevel;

/** `pypto.gather at level head (PG1)`: who refuses, and by which sentence. */
const cited = (inputs: OpInputs, page: Page, which: keyof typeof sentence): string =>
  `${page.operator} at level ${levelOf(inputs)} (${page.prefix}${sentence[which]})`;

function checkSupport(inputs: OpInputs, page: Page): void {
  const level = levelOf(inputs);
  const { [level]: support, head } = page.support;
  checkDType(inputs, "data", support.dtypes, cited(inputs, page, "dtypes"));
  checkDType(inputs, "indices", ["i32", "i64"], cited(inputs, page, "indexTypes"));
  for (const [operand, empty, ranks] of [
    ["data", "noEmptyData", "dataRanks"],
    ["indices", "noEmptyIndex", "indexRanks"],
  ] as const) {
    const { shape } = inputs[operand];
    if (elementCount(shape) === 0) {
      const type = formatType(inputs[operand]);
      fail(
        "TC103",
        inputs,
        `${cited(inputs, page, empty)} takes no empty tensors, and ${operand} is ${type}`,
      );
    }
    const [lowest, highest] = head[ranks];
    const atHead = shape.length >= lowest && shape.length <= highest;
    const hint = atHead ? `level head takes rank ${lowest} to ${highest}` : undefined;
    checkRank(inputs, operand, ...support[ranks], cited(inputs, page, ranks), hint);
  }
}

export const pyptoGather = {
  name: "pypto.gather",
  kind: "gather_elements",
  attrs: { dim, level, oob: oobSpec("error") },
  resolve(inputs) {
    checkSupport(inputs, gatherPage);
    checkSameRank(inputs, cited(inputs, gatherPage, "sameRank"));
    const axis = axisInRange(inputs, intAttr(inputs.attrs, "dim") ?? 0, inputs.data.shape.length, "dim");
    checkElements(inputs, axis, false, cited(inputs, gatherPage, "offDim"));
    const [data, indices] = [inputs.data.shape, inputs.indices.shape];
    // The page limits index on all axes in its table, and off dim in its constraints (decision D2).
    if (levelOf(inputs) === "documented" && at(indices, axis) > at(data, axis)) {
      fail(
        "TC103",
        inputs,
        `${cited(inputs, gatherPage, "everyAxis")} takes no index longer than input along any axis, ` +
          `and indices dim ${axis} is ${at(indices, axis)} and data dim ${axis} is ${at(data, axis)}`,
        "level head takes an index of any length along dim",
      );
    }
    return {
      operator: { op: "gather_elements", axis, data, indices },
      output: indices,
      negative: "illegal",
      oob: oobOf(inputs),
    };
  },
} as const satisfies OpDef;

export const pyptoIndexSelect = {
  name: "pypto.index_select",
  kind: "gather",
  // Their table of tests is named Gather; that of pypto.gather is named GatherElement.
  testName: "gather",
  attrs: { dim, level, oob: oobSpec("error") },
  resolve(inputs) {
    checkSupport(inputs, indexSelectPage);
    const axis = axisInRange(inputs, intAttr(inputs.attrs, "dim") ?? 0, inputs.data.shape.length, "dim");
    const [data, indices] = [inputs.data.shape, inputs.indices.shape];
    return {
      operator: { op: "gather", axis, data, indices },
      output: [...data.slice(0, axis), ...indices, ...data.slice(axis + 1)],
      negative: "illegal",
      oob: oobOf(inputs),
    };
  },
} as const satisfies OpDef;
