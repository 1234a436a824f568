/** The page of PyPTO's operator tests: the verdict on each tile under each profile on each Ascend target. */
import { readFileSync } from "node:fs";
import { profileFacts, profiles, type Profile } from "../../ir/index.js";
import { pypto, targets, tryCompile } from "../../src/index.js";
import { parseType } from "../../src/cli/flag-values.js";
import { refusal } from "../dialects/refusal.js";

/** An operator test of PyPTO that runs on boards. */
export interface BoardTest {
  readonly id: string;
  readonly op: "pypto.gather" | "pypto.index_select";
  readonly data: string;
  readonly indices: string;
  readonly output: string;
  readonly axis: number;
  readonly view: readonly number[];
  readonly tile: readonly number[];
}

/** The tests, and the names of those of operators that tilec does not have. */
export const boardTests = JSON.parse(
  readFileSync(new URL("../conformance/pypto-board-tests.json", import.meta.url), "utf8"),
) as { readonly gathers: readonly BoardTest[]; readonly notYet: readonly string[] };

/** The machines that PyPTO compiles for. */
export const boardTargets = [targets.ascendA2, targets.ascendA3, targets.ascend950] as const;

/** Returns the program of a test. Throws a CompileError where the operator takes none of it at any level. */
export function boardProgram({ op, data, indices, axis }: BoardTest) {
  const [input, index] = [parseType(data, "data"), parseType(indices, "indices")];
  const args = { input: [input.dtype, input.shape], index: [index.dtype, index.shape], dim: axis } as const;
  return op === "pypto.gather" ? pypto.gather(args) : pypto.indexSelect(args);
}

/** Returns `legal`, or the code that refuses a test's tile. */
export function boardVerdict(
  test: BoardTest,
  profile: Profile,
  target: (typeof boardTargets)[number],
): string {
  const { tile, view } = test;
  const refused = refusal(() => boardProgram(test));
  if (refused !== undefined) return refused.code;
  const result = tryCompile(boardProgram(test), { profile, tile, view, target });
  return result.ok ? "legal" : (result.diagnostics[0]?.code ?? "refused");
}

/** Returns one verdict where all targets have it, and each with its targets otherwise. */
function cell(test: BoardTest, profile: Profile): string {
  const byVerdict = new Map<string, string[]>();
  for (const target of boardTargets) {
    const verdict = boardVerdict(test, profile, target);
    byVerdict.set(verdict, [...(byVerdict.get(verdict) ?? []), target.name]);
  }
  const [[only = ""] = [], ...others] = byVerdict;
  if (others.length === 0) return only;
  return [...byVerdict].map(([verdict, names]) => `${verdict} (${names.join(", ")})`).join(", ");
}

/** Returns the page. */
export function boardPage(): string {
  const rows = boardTests.gathers.map((test) => {
    const { id, op, data, indices, axis, view, tile } = test;
    const verdicts = profiles.map((profile) => cell(test, profile));
    return [id, op, data, indices, String(axis), view.join(), tile.join(), ...verdicts];
  });
  const counts = profiles.map(
    (profile, k) =>
      `- \`${profile}\` (${profileFacts[profile].stands}): ${rows.filter((row) => row.at(k - profiles.length) === "legal").length} of ${rows.length} legal on every target.`,
  );
  const line = (entries: readonly string[]): string => `| ${entries.join(" | ")} |`;
  const header = ["test", "operator", "data", "indices", "dim", "view", "tile", ...profiles];
  return [
    "# PyPTO's operator tests",
    "",
    "The gathers among PyPTO's own operator tests that run on boards (hicann/pypto `framework/tests/st/operation/test_case` at 883e7df, 2026-08-22), each with the verdict on its tile",
    `under each profile ([tiling-rules.md](tiling-rules.md#full-load)) on ${boardTargets.map(({ name }) => name).join(", ")}. A code is that of the refusal ([diagnostics.md](diagnostics.md)). \`npm run docs:pypto\` writes this page.`,
    "",
    ...counts,
    "",
    line(header),
    line(header.map(() => "---")),
    ...rows.map(line),
    "",
    `Of operators that tilec does not have, ${boardTests.notYet.length} tests are not judged.`,
    "",
  ].join("\n");
}
