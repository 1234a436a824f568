/** Strings of others that hold terminal escapes: ids, targets, files and their lines. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { visible } from "../../src/cli/visible.js";
import { runHere } from "../support/run-here.js";

const escape = "\u001b[2Jx\u009b31m";
const folder = mkdtempSync(join(tmpdir(), `tilec-${escape}`));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});
const file = (name: string, content: unknown): string => {
  writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));
  return join(folder, name);
};
const test = {
  id: `id${escape}`,
  op: "gather",
  dialect: "onnx",
  data: { dtype: "i32", shape: [3], values: [1, 2, 3] },
  indices: { dtype: "i32", shape: [1], values: [2] },
  output: { dtype: "i32", shape: [1], values: [1] },
  expect: "ok",
};
const program = (target: string, comment: string): string =>
  `func @f(%x: tensor<3xf32>, %i: tensor<2xi32>) -> tensor<2xf32> target("${target}") { ${comment}
  %y = onnx.gathr %x, %i {axis = 0} // ${escape}
  return %y
}
`;

it("keeps tabs and the ends of lines, and makes JSON of JSON", () => {
  expect(visible("a\tb\r\nc\rd\u0007")).toBe("a\tb\r\nc\\u000dd\\u0007");
  expect(JSON.parse(visible(JSON.stringify({ id: escape })))).toEqual({ id: escape });
});

it.each([
  ["a case id", () => ["check", file("a.json", [test])]],
  ["a case id in JSON", () => ["check", file("a.json", [test]), "--json"]],
  ["a case id in GitHub's annotations", () => ["check", file("a.json", [test]), "--reporter", "github"]],
  ["a case id in JUnit's XML", () => ["check", file("a.json", [test]), "--reporter", "junit"]],
  ["a target", () => ["explain", file("b.tir", program(`t${escape}`, "").replace("gathr", "gather"))]],
  ["a line of a file and its name", () => ["compile", file("c.tir", program("cpu", `// ${escape}`))]],
  ["a name of a file that is not there", () => ["compile", join(folder, "none.tir")]],
  ["an option", () => ["compile", `--${escape}`]],
] as const)("shows control characters of %s, and prints none", async (_, args) => {
  const { stdout, stderr } = await runHere(args());
  expect(stdout + stderr).toMatch(/\\u001b|\ufffd|%1B/);
  expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n\t]/u);
});
