/** tilec/testing: what `tilec check` runs, and checks of kernels, for any test runner. */
export { assertThat, type Assertions, type SkipContext } from "./assert-that.js";
export { caseTests, type CaseOptions, type CaseTest } from "./case-tests.js";
export { checkCase, type CheckContext, type CheckResult } from "./check-case.js";
export type { ReferenceOptions } from "./compare.js";
export { foreignKernel, type ForeignFunction } from "./foreign/foreign-kernel.js";
export type { ForeignWgsl } from "./foreign/foreign-wgsl.js";
export { fileCheck, parseChecks, vacuousChecks, type Check, type CheckFailure } from "./filecheck.js";
export type { Limits } from "./measured.js";
export type { Subject } from "./subject.js";
export { runTextTest, type TextTestOptions } from "./text-test.js";
export { readCaseList, readCases, type Case, type MalformedCase } from "../formats/cases.js";
export { clockVersion } from "../../ir/index.js";
