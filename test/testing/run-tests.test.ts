import { expect, it } from "vitest";
import { CompileError, error, RunError } from "../../ir/index.js";
import { nameOf } from "../../src/api/backends.js";
import type { CheckResult } from "../../src/testing/check-case.js";
import { runTests, type Test } from "../../src/testing/run-tests.js";

const place = { file: "a.json", line: 3 };
const pass = (id: string): Test => ({
  id,
  ...place,
  begin: (backends) => () =>
    Promise.resolve(
      backends.map((backend): CheckResult => ({ id, backend: nameOf(backend), status: "pass" })),
    ),
});
const throwing = (id: string, thrown: Error): Test => ({
  id,
  ...place,
  begin: () => () => Promise.reject(thrown),
});

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

it("tests begin some turns ahead, run one after the other, and are told of in their order", async () => {
  const log: string[] = [];
  const tests = Array.from({ length: 20 }, (_, k): Test => ({
    ...pass(`${k}`),
    begin: (backends) => {
      log.push(`begin ${k}`);
      return async () => {
        log.push(`run ${k}`);
        await new Promise((resolve) => setTimeout(resolve, k === 3 ? 20 : 0));
        log.push(`end ${k}`);
        return backends.map((backend): CheckResult => ({
          id: `${k}`,
          backend: nameOf(backend),
          status: "pass",
        }));
      };
    },
  }));
  const { results } = await runTests(tests, ["sim"], { contextOf: () => ({}) });
  expect(results.map(({ id }) => id)).toEqual(tests.map(({ id }) => id));
  const runs = log.filter((line) => !line.startsWith("begin"));
  expect(runs).toEqual(tests.flatMap(({ id }) => [`run ${id}`, `end ${id}`]));
  const ahead = tests.map(({ id }) => {
    const before = log.slice(0, log.indexOf(`run ${id}`));
    return before.filter((line) => line.startsWith("begin")).length - Number(id) - 1;
  });
  // Bounded, so that memory is, and there while there is anything to begin.
  expect(ahead.slice(0, 12)).toEqual(new Array<number>(12).fill(8));
  expect(ahead.slice(12)).toEqual([7, 6, 5, 4, 3, 2, 1, 0]);
});

it("a test that throws as it begins fails in its turn, and takes no other along", async () => {
  const bug = new TypeError("undefined is not a function");
  const broken: Test = {
    ...pass("b"),
    begin() {
      throw bug;
    },
  };
  const { results, bugs } = await runTests([pass("a"), broken, pass("c")], ["sim"], {
    contextOf: () => ({}),
  });
  expect(results.map(({ id, status }) => `${id} ${status}`)).toEqual(["a pass", "b fail", "c pass"]);
  expect(bugs).toEqual([{ id: "b", thrown: bug }]);
});

it("bail leaves tests that have begun unrun", async () => {
  const run: string[] = [];
  const tests = ["a", "b", "c"].map((id): Test => ({
    ...pass(id),
    begin: (backends) => () => {
      run.push(id);
      return Promise.resolve(
        backends.map((backend) => ({ id, backend: nameOf(backend), status: "fail" as const })),
      );
    },
  }));
  const { results, notRun } = await runTests(tests, ["sim"], { contextOf: () => ({}), bail: true });
  expect([run, results.length, notRun]).toEqual([["a"], 1, 2]);
});
