/**
 * npm run outputs -- record FILE [FOLDER …]: records what this build makes of the conformance cases, and of those of other
 * folders. npm run outputs -- compare BEFORE AFTER: lists what differs between two recordings; exit code 1 where anything does.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { packageFile } from "../../src/device/package-files.js";
import { differences, recordFolder, type Outputs } from "./record.js";

const [command, file, ...others] = process.argv.slice(2);
const read = (path: string): Outputs => JSON.parse(readFileSync(path, "utf8")) as Outputs;

if (command === "record" && file !== undefined) {
  const folders = [packageFile("test/conformance/cases"), ...others];
  const entries = folders.flatMap((folder, k) =>
    Object.entries(recordFolder(folder)).map(([part, text]) => [`${k} ${part}`, text] as const),
  );
  writeFileSync(file, JSON.stringify(Object.fromEntries(entries)));
  console.log(`${entries.length} parts`);
} else if (command === "compare" && file !== undefined && others.length === 1) {
  const [before, after] = [read(file), read(others.join())];
  const found = differences(before, after);
  for (const one of found) console.log(one);
  console.log(`${found.length} of ${Object.keys(before).length} parts differ`);
  process.exitCode = found.length === 0 ? 0 : 1;
} else {
  console.error("usage: npm run outputs -- record FILE [FOLDER …] | compare BEFORE AFTER");
  process.exitCode = 2;
}
