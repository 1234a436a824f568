/**
 * PyPTO's `gather(input, dim, index)` and `index_select(input, dim, index)`.
 *
 * Sources: hicann/pypto at 883e7df (2026-08-22): docs/zh/api/operation/pypto-gather.md and pypto-index_select.md, the pages that
 * level `documented` holds to, and framework/src/interface/operation/vector/indexing.cpp, which level `head` follows where it takes
 * more. PG and PS are the numbers that docs/specifications.md gives their sentences.
 */
import { at, elementCount, formatType, maxElements, type DType } from "../types.js";
import {
  type AttrSpec,
  axisInRange,
  checkDType,
  checkElements,
  checkRank,
  checkSameRank,
  defineOperator,
  breakRule,
  intAttr,
  type OpInputs,
  wordAttr,
} from "./op-def.js";
import { axis, oobOf, oobSpec } from "./attributes.js";

/** `documented`: every sentence of the page holds. `head`: what the code takes. */
export const pyptoLevels = ["documented", "head"] as const;
/** Which of PyPTO's documented interfaces an operator follows. */
export type PyptoLevel = (typeof pyptoLevels)[number];
const dim = { ...axis, argument: "dim" } as const satisfies AttrSpec;

/** The attribute by which an operator of PyPTO chooses. */
export const level = {
  key: "level",
  help: "what PyPTO takes: documented (its pages) or head (its repository)",
  kind: "word",
  words: pyptoLevels,
  default: "head",
} as const satisfies AttrSpec;

interface Page {
  readonly operator: string;
  /** Before the numbers of its sentences. */
  readonly prefix: "PG" | "PS";
  readonly dtypes: Readonly<Record<PyptoLevel, readonly DType[]>>;
  /** The lowest and the highest. */
  readonly dataRanks: readonly [number, number];
  readonly indexRanks: readonly [number, number];
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

/** What pages and code have of gather. */
const elementTypes: readonly DType[] = ["f32", "f16", "bf16", "i32", "u32", "i16", "u16"];
/** What pages and code have of index_select on every chip. */
const rowTypes: readonly DType[] = [...elementTypes, "i8", "u8"];

const gatherPage: Page = {
  operator: "pypto.gather",
  prefix: "PG",
  // PyPTO's own table of tests has i8 and u8, its page and its code have not.
  dtypes: { documented: elementTypes, head: rowTypes },
  dataRanks: [1, 5],
  indexRanks: [1, 5],
};

/** With what the 950 has too: pypto-index_select.md, constraint 4, and indexing.cpp, lines 32 to 40 and 550, at 883e7df. */
const selected: readonly DType[] = [...rowTypes, "bool", "f8e4m3fn", "f8e5m2", "f8e8m0fnu"];
const indexSelectPage: Page = {
  operator: "pypto.index_select",
  prefix: "PS",
  dtypes: { documented: selected, head: selected },
  dataRanks: [1, 4],
  indexRanks: [1, 2],
};

/** The level that a program asks for. */
export const levelOf = (inputs: OpInputs): PyptoLevel => wordAttr(inputs.attrs, "level") as PyptoLevel;

/** `pypto.gather at level head (PG1)`: who refuses, and by which sentence. */
const cited = (inputs: OpInputs, page: Page, which: keyof typeof sentence): string =>
  `${page.operator} at level ${levelOf(inputs)} (${page.prefix}${sentence[which]})`;

function checkSupport(inputs: OpInputs, page: Page): void {
  checkDType(inputs, "data", page.dtypes[levelOf(inputs)], cited(inputs, page, "dtypes"));
  checkDType(inputs, "indices", ["i32", "i64"], cited(inputs, page, "indexTypes"));
  for (const [operand, empty, ranks] of [
    ["data", "noEmptyData", "dataRanks"],
    ["indices", "noEmptyIndex", "indexRanks"],
  ] as const) {
    const { shape } = inputs[operand];
    if (elementCount(shape) === 0) {
      const type = formatType(inputs[operand]);
      breakRule(
        "TC103",
        inputs,
        `${cited(inputs, page, empty)} takes no empty tensors, and ${operand} is ${type}`,
      );
    }
    checkRank(inputs, operand, ...page[ranks], cited(inputs, page, ranks));
  }
}

export const pyptoGather = defineOperator({
  maxElements,
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
      breakRule(
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
});

export const pyptoIndexSelect = defineOperator({
  maxElements,
  name: "pypto.index_select",
  kind: "gather",
  dataIn: "gm",
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
});
