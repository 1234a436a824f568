/** tilec/testing: what `tilec check` runs, for test runners. */
export { checkCase, type CheckContext, type CheckResult } from "./check-case.js";
export { fileCheck, parseChecks, vacuousChecks, type Check, type CheckFailure } from "./filecheck.js";
export { runTextTest, type TextTestOptions } from "./text-test.js";
export { readCaseList, readCases, type Case, type MalformedCase } from "../formats/cases.js";
