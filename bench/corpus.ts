/** The programs of the conformance cases that compile, without their schedules. */
import { readdirSync, readFileSync } from "node:fs";
import { packageFile } from "../src/device/package-files.js";
import { readCases } from "../src/formats/cases.js";
import type { ProgramDescription } from "../src/index.js";

export function corpus(): readonly ProgramDescription[] {
  const folder = packageFile("test/conformance/cases/");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .flatMap((name) => readCases(readFileSync(folder + name, "utf8"), name))
    .filter((test) => test.expectedError === undefined || test.expectedError === "index")
    .flatMap((test) => (test.program === undefined ? [] : [{ ...test.program, schedule: {} }]));
}
