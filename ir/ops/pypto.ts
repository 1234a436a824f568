/**
 * PyPTO's `gather(input, dim, index)` and `index_select(input, dim, index)`.
 *
 * Sources: the specification's page of gather, docs/zh/api/operation/pypto-gather.md at 2b2bb56, which level
 * `specification` holds to; at 883e7df (2026-08-22) that page and pypto-index_select.md, which level
 * `documented` holds to, and framework/src/interface/operation/vector/indexing.cpp, which level `head`
 * follows where it takes more. PG and PS are the numbers that docs/specifications.md gives their sentences.
 */
import { defined } from "../defined.js";
import { profileFacts, pyptoLevels, type PyptoLevel } from "../profile.js";
import { profiles } from "../schedule.js";
import { targetFacts, targets } from "../target.js";
import { elementCount, formatType, maxElements, type DType } from "../types.js";
import {
  type AttrSpec,
  axisOf,
  checkDType,
  checkElements,
  checkRank,
  checkSameRank,
  defineOperator,
  breakRule,
  type OpInputs,
  resolvedAs,
  type Resolved,
  wordAttr,
} from "./op-def.js";
import { dimAxis, oobOf, oobSpec } from "./attributes.js";

/**
 * Definition of the attribute `level`: the version of PyPTO's rules by which an operator is checked. By
 * default, the PyPTO rule profile determines the version.
 */
export const level = {
  key: "level",
  help: "what PyPTO takes, instead of what the profile says: specification, documented (its pages) or head (its code)",
  kind: "word",
  words: pyptoLevels,
} as const satisfies AttrSpec;

type Ranks = readonly [lowest: number, highest: number];

interface Page {
  readonly operator: string;
  /** Before the numbers of its sentences. */
  readonly prefix: "PG" | "PS";
  readonly dtypes: Readonly<Record<PyptoLevel, readonly DType[]>>;
  /** Types that only the Ascend 950 takes. */
  readonly newerTypes: readonly DType[];
  readonly dataRanks: Readonly<Record<PyptoLevel, Ranks>>;
  readonly indexRanks: Readonly<Record<PyptoLevel, Ranks>>;
}

/**
 * Both pages have one kind of parameter table, and its sentences have the same numbers; 9 and up are PG's
 * alone.
 */
const sentence = {
  dtypes: 1,
  noEmptyData: 2,
  dataRanks: 3,
  indexTypes: 6,
  noEmptyIndex: 7,
  indexRanks: 8,
  sameRank: 13,
  offDim: 14,
} as const;

/** Types that the specification's page has of gather. */
const specified: readonly DType[] = ["f32", "f16", "bf16", "i16", "i32"];
/** Types that pages and code have of gather. */
const elementTypes: readonly DType[] = ["f32", "f16", "bf16", "i32", "u32", "i16", "u16"];
/** Types that pages and code have of index_select on every chip. */
const rowTypes: readonly DType[] = [...elementTypes, "i8", "u8"];

/** Returns the same for every level: the specification has no page of the operator. */
const everyLevel = <T>(value: T): Readonly<Record<PyptoLevel, T>> => ({
  specification: value,
  documented: value,
  head: value,
});

const specifiedRanks = {
  specification: [2, 4],
  documented: [1, 5],
  head: [1, 5],
} as const satisfies Readonly<Record<PyptoLevel, Ranks>>;
const gatherPage: Page = {
  operator: "pypto.gather",
  prefix: "PG",
  // PyPTO's own table of tests has i8 and u8, its page and its code have not.
  dtypes: { specification: specified, documented: elementTypes, head: rowTypes },
  newerTypes: [],
  dataRanks: specifiedRanks,
  indexRanks: specifiedRanks,
};

/**
 * Types that the 950 alone has: pypto-index_select.md, constraint 4, and CheckGatherParamsInvalid of
 * indexing.cpp, at 883e7df.
 */
const newerTypes: readonly DType[] = ["bool", "f8e4m3fn", "f8e5m2", "f8e8m0fnu"];
const indexSelectPage: Page = {
  operator: "pypto.index_select",
  prefix: "PS",
  dtypes: everyLevel([...rowTypes, ...newerTypes]),
  newerTypes,
  dataRanks: everyLevel([1, 4]),
  indexRanks: everyLevel([1, 2]),
};

/** Returns the level that a program states; undefined where its profile says it. */
const statedLevel = ({ attrs }: OpInputs): PyptoLevel | undefined =>
  pyptoLevels.find((name) => name === wordAttr(attrs, "level"));

/**
 * Returns the version (level) of PyPTO's rules for a program: the operator's attribute `level`, or the level
 * of the PyPTO rule profile. A program without a profile has level `head`.
 */
export const levelOf = (inputs: OpInputs): PyptoLevel =>
  statedLevel(inputs) ?? profileFacts[inputs.profile ?? "head"].level;

/**
 * Returns a hint for an input that PyPTO's rules reject: the flag or attribute that selects the first later
 * version (level) of the rules that accepts the input. Empty if there is none. `takes`: true if a level
 * accepts the input.
 */
export function laterLevel(inputs: OpInputs, takes: (level: PyptoLevel) => boolean): string {
  const stated = levelOf(inputs);
  const later = pyptoLevels.slice(pyptoLevels.indexOf(stated) + 1).find(takes);
  if (later === undefined) return "";
  const [profile = "head"] = profiles.filter((name) => profileFacts[name].level === later);
  // A text states its level itself, and takes no flag for it.
  const level = inputs.span === undefined ? `--level ${later}` : `level = ${later}`;
  const instead = statedLevel(inputs) === undefined ? `--profile ${profile}` : level;
  return `${instead} takes it (${profileFacts[profile].stands})`;
}

/** Returns the operator that refuses, its level and its rule: `pypto.gather at level head (PG1)`. */
const cited = (inputs: OpInputs, page: Page, which: keyof typeof sentence): string =>
  `${page.operator} at level ${levelOf(inputs)} (${page.prefix}${sentence[which]})`;

/**
 * Throws a RuleError (TC104) if the data's type is supported only by the Ascend 950 and the target is another
 * Ascend core.
 */
function checkChip(inputs: OpInputs, page: Page): void {
  const { target, data } = inputs;
  if (target === undefined || !page.newerTypes.includes(data.dtype)) return;
  if (!targetFacts[target.kind].runsPto || target.isa === "a5") return;
  const { name, title } = targets.ascend950;
  breakRule(
    "TC104",
    inputs,
    `${cited(inputs, page, "dtypes")} takes data of type ${data.dtype} on the 950 alone, not on ${target.name}`,
    `--target ${name} takes it (${title.split(":")[0] ?? name}), or gather u8`,
  );
}

/**
 * Throws a RuleError if a PyPTO operator does not support an input: element type (TC104), empty tensor
 * (TC103) or rank (TC102). `page`: limits for each level (version of PyPTO's rules).
 */
function checkSupport(inputs: OpInputs, page: Page): void {
  const level = levelOf(inputs);
  const { dtype } = inputs.data;
  checkDType(inputs, "data", page.dtypes[level], cited(inputs, page, "dtypes"), () =>
    laterLevel(inputs, (level) => page.dtypes[level].includes(dtype)),
  );
  checkChip(inputs, page);
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
    const rank = shape.length;
    checkRank(inputs, operand, ...page[ranks][level], cited(inputs, page, ranks), () =>
      laterLevel(inputs, (level) => page[ranks][level][0] <= rank && rank <= page[ranks][level][1]),
    );
  }
}

/** Returns the dispute on a type that PyPTO's operator tests gather, and its code and page do not take. */
const testedAlone = ({ data: { dtype } }: OpInputs): NonNullable<Resolved["disputed"]> => ({
  message: `PyPTO contradicts itself on ${dtype} of pypto.gather: its operator tests run it on boards, and its code refuses it`,
  notes: [
    "taken by: hicann/pypto framework/tests/st/operation/test_case/GatherElement_st_test_cases.csv at 883e7df (2026-08-22), tests 38 to 45",
    "refused by: hicann/pypto framework/src/interface/operation/vector/indexing.cpp at 883e7df (2026-08-22), GatherElements; --profile pages refuses it too",
  ],
});

function takenByGather(inputs: OpInputs): Resolved["disputed"] {
  checkSupport(inputs, gatherPage);
  return elementTypes.includes(inputs.data.dtype) ? undefined : testedAlone(inputs);
}

function takenByIndexSelect(inputs: OpInputs): undefined {
  checkSupport(inputs, indexSelectPage);
}

/** Operator pypto.gather: selects elements along a dim. */
export const pyptoGather = defineOperator({
  maxElements,
  name: "pypto.gather",
  kind: "gather_elements",
  framework: "pypto",
  attrs: { dim: dimAxis, level, oob: oobSpec("error") },
  takes: takenByGather,
  resolve(inputs) {
    const disputed = takenByGather(inputs);
    checkSameRank(inputs, cited(inputs, gatherPage, "sameRank"));
    const axis = axisOf(inputs, "dim");
    checkElements(inputs, axis, false, cited(inputs, gatherPage, "offDim"));
    const [data, indices] = [inputs.data.shape, inputs.indices.shape];
    const policy = { negative: "illegal", oob: oobOf(inputs) } as const;
    const resolved = resolvedAs({ op: "gather_elements", axis, data, indices }, policy);
    return { ...resolved, ...defined({ disputed }) };
  },
});

/** Operator pypto.index_select: selects slices along a dim. */
export const pyptoIndexSelect = defineOperator({
  maxElements,
  name: "pypto.index_select",
  kind: "gather",
  framework: "pypto",
  // Their table of tests is named Gather; that of pypto.gather is named GatherElement.
  testName: "gather",
  attrs: { dim: dimAxis, level, oob: oobSpec("error") },
  takes: takenByIndexSelect,
  resolve(inputs) {
    takenByIndexSelect(inputs);
    const axis = axisOf(inputs, "dim");
    const [data, indices] = [inputs.data.shape, inputs.indices.shape];
    const policy = { negative: "illegal", oob: oobOf(inputs) } as const;
    return resolvedAs({ op: "gather", axis, data, indices }, policy);
  },
});
