/**
 * The programs of the conformance cases that compile, with nothing of their schedules but the profile, which
 * says what is taken.
 */
import { readdirSync, readFileSync } from "node:fs";
import { defined } from "../ir/index.js";
import { packageFile } from "../src/device/package-files.js";
import { readCases } from "../src/formats/cases.js";
import type { ProgramDescription } from "../src/index.js";

/**
 * Returns the programs of the conformance suite that are expected to compile. Their schedules are dropped,
 * except the profile.
 */
export function corpus(): readonly ProgramDescription[] {
  const folder = packageFile("test/conformance/cases/");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .flatMap((name) => readCases(readFileSync(folder + name, "utf8"), name))
    .filter((test) => test.expectedError === undefined || test.expectedError === "index")
    .flatMap(({ program }) => {
      if (program === undefined) return [];
      const { profile } = program.schedule ?? {};
      return [{ ...program, schedule: defined({ profile }) }];
    });
}
