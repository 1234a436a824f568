/** Case files with something wrong in them. */
import { writeFileSync } from "node:fs";
import { CompileError, elementCount } from "../../ir/index.js";
import { readCaseList } from "../../src/formats/cases.js";
import { tryProgram } from "../../src/index.js";
import type { CheckResult } from "../../src/testing/check-case.js";
import { judge } from "./command.js";
import { runHere } from "../support/run-here.js";
import { mutated, type Draw } from "./mutate.js";

/** One case with a value somewhere replaced by something else, a key mistyped, or its text damaged. */
export function mutatedCase(caseList: readonly unknown[], draw: Draw): string {
  const whole = JSON.stringify([caseList[draw(caseList.length)]]);
  if (draw(2) === 0) return new TextDecoder().decode(mutated(new TextEncoder().encode(whole), draw));
  const odd = [
    "null",
    "-1",
    "1e300",
    '"constructor"',
    "[]",
    "{}",
    "[[1]]",
    "true",
    '"NaN"',
    "2147483648",
    '"f32"',
    "4294967296",
    "9007199254740993",
    "0.5",
    "1e999",
    '"\\u0000"',
    `${"[".repeat(20_000)}${"]".repeat(20_000)}`,
  ];
  if (draw(8) === 0) {
    const keys = [...whole.matchAll(/"(\w+)":/g)].map(([, key = ""]) => key);
    const key = keys[draw(keys.length)] ?? "";
    return whole.replace(`"${key}":`, `"${["__proto__", `${key}s`, key.toUpperCase()][draw(3)] ?? ""}":`);
  }
  const values = [...whole.matchAll(/(?<=[:,[])(?:-?\d+|"[^"]*"|\[[^[\]]*\])(?=[,}\]])/g)];
  const place = values[draw(values.length)];
  if (place === undefined) return whole;
  return (
    whole.slice(0, place.index) + (odd[draw(odd.length)] ?? "") + whole.slice(place.index + place[0].length)
  );
}

/** Elements that a case may have to be run here. */
const mostElements = 4096;

/** `tilec check` on the file: each case passes, fails or is malformed, and says why. */
export async function runCases(cases: string): Promise<"accepted" | "refused"> {
  let small = true;
  try {
    for (const test of readCaseList(cases, "cases.json")) {
      if ("malformed" in test) continue;
      const built = tryProgram(test.program!);
      const sizes = [...Object.values(test.inputs), ...(built.ok ? built.func.operands : [])];
      small &&= sizes.every(({ type }) => elementCount(type.shape) <= mostElements);
    }
  } catch (thrown) {
    if (!(thrown instanceof CompileError)) throw thrown;
  }
  if (!small) return "refused";
  writeFileSync("hostile.json", cases);
  const args = ["check", "hostile.json", "--backend", "reference,sim", "--json"];
  const ran = await runHere(args);
  const { results = [] } = JSON.parse(ran.stdout) as { readonly results?: readonly CheckResult[] };
  if (results.some(({ status, message }) => status === "fail" && message === undefined))
    throw new Error(`a failure without a reason: ${ran.stdout}`);
  return judge(args, ran);
}
