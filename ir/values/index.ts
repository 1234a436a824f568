/** Values: what an output element is made from, and the bits that it then has. */
export {
  arithmeticTypes,
  castTo,
  countsItsElements,
  isArithmeticType,
  isFloat8Source,
  isIntegerOperation,
  isSourceType,
  isValueType,
  maxReductionElements,
  operations,
  reductions,
  reductionsIn,
  typeOf,
  valueTypes,
  type ArithmeticType,
  type Expression,
  type Float8SourceType,
  type IntegerOperation,
  type Operation,
  type Reduction,
  type SourceType,
  type ValueType,
} from "./expression.js";
export type { ExactWidth } from "./exact-width.js";
export {
  bitsOfNumber,
  floatFormats,
  integerRanges,
  isFloatValue,
  isRealSource,
  numberOf,
  type FloatValueType,
} from "./formats.js";
export { combination, type Combination } from "./combine.js";
export { accumulators, wordsOfSum, type StepwiseReduction } from "./ops.js";
export {
  evaluator,
  valuePlan,
  type Evaluator,
  type Taken,
  type ReductionSteps,
  type ValuePlan,
} from "./evaluator.js";
export { gridsOf, gridOfLast, gridOfSum, type GridResult, type ValueGrid } from "./grid.js";
export type { ValueStep } from "./steps.js";
