/** The page of PyPTO's operator tests: the verdict on each tile under each profile on each Ascend target. */
import { readFileSync } from "node:fs";
import { findOp, profileFacts, profiles, type Attrs, type Diagnostic, type Profile } from "../../ir/index.js";
import { tryProgram } from "../../src/api/program.js";
import { pypto, targets, tryCompile } from "../../src/index.js";
import { parseType } from "../../src/cli/flag-values.js";
import { refusal } from "../support/refusal.js";

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

/** An operator test of PyPTO that writes through an index. Most of them run on boards. */
export interface WriteTest {
  readonly id: string;
  readonly op: `pypto.${string}`;
  /** Types of the inputs: what is written, the indices, the values. */
  readonly inputs: readonly [string, string, ...string[]];
  readonly attrs: Attrs;
  readonly view: readonly number[];
  readonly tile: readonly number[];
}

/** The tests. */
export const boardTests = JSON.parse(
  readFileSync(new URL("../conformance/pypto-board-tests.json", import.meta.url), "utf8"),
) as { readonly gathers: readonly BoardTest[]; readonly writes: readonly WriteTest[] };

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

/** Returns the first diagnostic that refuses a write's tile; undefined where it is legal, or where the operator is none of tilec's. */
export function writeRefusal(
  { op, inputs, attrs, tile, view }: WriteTest,
  profile: Profile,
  target: (typeof boardTargets)[number],
): Diagnostic | undefined {
  const [data, indices, ...others] = inputs.map((type) => parseType(type, "input"));
  if (data === undefined || indices === undefined) throw new Error(`${op} has no indices`);
  const program = tryProgram({ op, attrs, data, indices, others });
  if (!program.ok) return program.diagnostics[0];
  const result = tryCompile(program.func, { profile, tile, view, target });
  return result.ok ? undefined : result.diagnostics.find(({ severity }) => severity === "error");
}

/** Returns the verdict on a write's tile: `legal`, a code, or that tilec does not have the operator. */
export const writeVerdict = (
  test: WriteTest,
  profile: Profile,
  target: (typeof boardTargets)[number],
): string =>
  findOp(test.op) === undefined ? "no operator" : (writeRefusal(test, profile, target)?.code ?? "legal");

/** Returns one verdict where all targets have it, and each with its targets otherwise. */
function cell<T>(
  test: T,
  profile: Profile,
  verdictOn: (test: T, profile: Profile, target: (typeof boardTargets)[number]) => string,
): string {
  const byVerdict = new Map<string, string[]>();
  for (const target of boardTargets) {
    const verdict = verdictOn(test, profile, target);
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
    const verdicts = profiles.map((profile) => cell(test, profile, boardVerdict));
    return [id, op, data, indices, String(axis), view.join(), tile.join(), ...verdicts];
  });
  const writes = boardTests.writes.map((test) => {
    const { id, op, inputs, attrs, view, tile } = test;
    const options = Object.entries(attrs).map(([key, value]) => `${key} ${String(value)}`);
    const verdicts = profiles.map((profile) => cell(test, profile, writeVerdict));
    return [id, op, inputs.join(" "), options.join(", "), view.join(), tile.join(), ...verdicts];
  });
  const writeHeader = ["test", "operator", "inputs", "attributes", "view", "tile", ...profiles];
  const countsOf = (list: readonly (readonly string[])[]): readonly string[] =>
    profiles.map(
      (profile, k) =>
        `- \`${profile}\` (${profileFacts[profile].stands}): ${list.filter((row) => row.at(k - profiles.length) === "legal").length} of ${list.length} legal on every target.`,
    );
  const line = (entries: readonly string[]): string => `| ${entries.join(" | ")} |`;
  const header = ["test", "operator", "data", "indices", "dim", "view", "tile", ...profiles];
  return [
    "# PyPTO's operator tests",
    "",
    "Which tiles of PyPTO's own tests are legal: the gathers among its operator tests that run on boards (hicann/pypto `framework/tests/st/operation/test_case` at 883e7df, 2026-08-22), each with the verdict on its tile",
    `under each profile ([tiling-rules.md](tiling-rules.md#full-load)) on ${boardTargets.map(({ name }) => name).join(", ")}. A code is that of the refusal ([diagnostics.md](diagnostics.md)). \`npm run docs:pypto\` writes this page.`,
    "",
    ...countsOf(rows),
    "",
    line(header),
    line(header.map(() => "---")),
    ...rows.map(line),
    "",
    "## Writes",
    "",
    "The tests of the operators that write through an index, on their own tiles and views ([tiling-rules.md](tiling-rules.md#scatters)). Those of scatter with a number as its source do not run on boards.",
    "",
    ...countsOf(writes),
    "",
    line(writeHeader),
    line(writeHeader.map(() => "---")),
    ...writes.map(line),
    "",
  ].join("\n");
}
