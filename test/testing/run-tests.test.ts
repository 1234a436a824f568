import { expect, it } from "vitest";
import { CompileError, error, RunError } from "../../ir/index.js";
import type { CheckResult } from "../../src/testing/check-case.js";
import { runTests, type Test } from "../../src/testing/run-tests.js";

const place = { file: "a.json", line: 3 };
const pass = (id: string): Test => ({
  id,
  ...place,
  run: (backends) =>
    Promise.resolve(backends.map((backend): CheckResult => ({ id, backend, status: "pass" }))),
});
const throwing = (id: string, thrown: Error): Test => ({ id, ...place, run: () => Promise.reject(thrown) });

it("a test that throws fails on every backend, and the others run", async () => {
  const full = new CompileError([error("TC010", "cannot write out.npy: no space left")]);
  const bug = new TypeError("undefined is not a function");
  const done: string[] = [];
  const { results, bugs } = await runTests(
    [pass("a"), throwing("b", full), throwing("c", bug), pass("d")],
    ["reference", "sim"],
    { contextOf: () => ({}), onDone: ({ id }) => done.push(id) },
  );
  const took = { ...place, milliseconds: expect.any(Number) as number };
  const failed = (id: string, backend: string, why: object) => ({
    ...took,
    id,
    backend,
    status: "fail",
    ...why,
  });
  const [disk, ours] = [
    { code: "TC010", message: "cannot write out.npy: no space left" },
    { message: "a bug in tilec: undefined is not a function" },
  ];
  expect(results).toEqual([
    { ...took, id: "a", backend: "reference", status: "pass" },
    { ...took, id: "a", backend: "sim", status: "pass" },
    failed("b", "reference", disk),
    failed("b", "sim", disk),
    failed("c", "reference", ours),
    failed("c", "sim", ours),
    { ...took, id: "d", backend: "reference", status: "pass" },
    { ...took, id: "d", backend: "sim", status: "pass" },
  ]);
  expect(bugs).toEqual([{ id: "c", thrown: bug }]);
  expect(done).toEqual(["a", "b", "c", "d"]);
});

it("bail leaves out what comes after the first test that fails", async () => {
  const tests = [pass("a"), throwing("b", new RunError([error("TC601", "bad index")])), pass("c"), pass("d")];
  const { results, notRun } = await runTests(tests, ["sim"], { contextOf: () => ({}), bail: true });
  expect([results.map(({ id }) => id), notRun]).toEqual([["a", "b"], 2]);
});
