import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Backend } from "../../backends/index.js";
import { FastExecutor } from "../../backends/sim/index.js";
import { CompileError, parseModule, printModule } from "../../ir/index.js";
import { caseProgram } from "../../src/formats/case-program.js";
import { compile, type Kernel } from "../../src/index.js";
import { readCases, type Case } from "../../src/formats/cases.js";
import { checkCase, type CheckResult } from "../../src/testing/check-case.js";
import { runnerOr } from "../support/gpu.js";
import { codesOf } from "../support/refusal.js";

const folder = new URL("scatter/", import.meta.url);

describe.each(readdirSync(folder).sort())("%s", (name) => {
  const cases = readCases(readFileSync(new URL(name, folder), "utf8"), name);

  it("passes on reference and sim", async () => {
    expect(cases.length).toBeGreaterThan(0);
    const results = [];
    for (const test of cases) results.push(...(await checkCase(test, ["reference", "sim"], {})));
    expect(results.filter(({ status }) => status !== "pass")).toEqual([]);
  });

  it("passes on the fast executor", async () => {
    const results = [];
    for (const test of cases) results.push(...(await checkCase(test, ["sim"], { executor: "fast" })));
    expect(results.length).toBeGreaterThanOrEqual(cases.length);
    expect(results.filter(({ status }) => status !== "pass")).toEqual([]);
  });

  it("passes as code of WebAssembly, but for values that may lack an element", async () => {
    const results: CheckResult[] = [];
    let refused = 0;
    for (const test of cases) {
      const isRefused = await checkCase(test, [compiled], {}).then((all) => {
        results.push(...all.filter(({ code }) => code !== "TC505"));
        return all.some(({ code }) => code === "TC505");
      });
      if (isRefused) refused++;
    }
    expect(refused).toBeLessThanOrEqual(name === "maps.json" ? 3 : 0);
    expect(results.filter(({ status }) => status !== "pass")).toEqual([]);
  });

  it("passes on WebGPU", async (context) => {
    const runner = await runnerOr(context);
    const results = [];
    for (const test of cases) results.push(...(await checkCase(test, ["webgpu"], { runner })));
    expect(results.length).toBeGreaterThanOrEqual(cases.length);
    expect(results.filter(({ status }) => status !== "pass")).toEqual([]);
  });

  it("is a PyPTO program where it is one of PyPTO's operators, and refused elsewhere", () => {
    let printed = 0;
    for (const test of cases.filter(({ expectedError }) => expectedError === undefined)) {
      const kernel = kernelOf(test);
      const errors = codesOf(() => kernel.pypto());
      if (errors.length === 0) printed++;
      else expect(["TC102", "TC104", "TC505"]).toEqual(expect.arrayContaining([...errors]));
    }
    if (name === "pypto.json") expect(printed).toBeGreaterThan(cases.length / 3);
  });

  it("has tile programs that print and parse to the same value", () => {
    for (const test of cases.filter(({ expectedError }) => expectedError === undefined)) {
      const text = kernelOf(test).text("tile");
      const { module, diagnostics } = parseModule(text, test.id);
      expect(diagnostics).toEqual([]);
      expect(printModule(module)).toBe(text);
      expect(withoutSpans(module.funcs[0]?.operands)).toEqual(withoutSpans(kernelOf(test).tile.operands));
    }
  });

  it("has maps whose texts print and parse to the same value", () => {
    for (const { id, tir } of cases) {
      if (tir === undefined) continue;
      const { module, diagnostics } = parseModule(tir, id);
      expect(diagnostics).toEqual([]);
      const text = printModule(module);
      const again = parseModule(text, id);
      expect(again.diagnostics).toEqual([]);
      expect(printModule(again.module)).toBe(text);
      expect(withoutSpans(again.module)).toEqual(withoutSpans(module));
    }
  });
});

/** Code of WebAssembly in a memory of its own. */
const compiled: Backend = {
  name: "code",
  prepare({ tile }) {
    const executor = FastExecutor.create(tile);
    return {
      run: (inputs) => Promise.resolve({ output: Uint8Array.from(executor.run(inputs).output) }),
      release: () => undefined,
    };
  },
};

function kernelOf(test: Case): Kernel {
  const program = caseProgram(test);
  if (!program.ok) throw new CompileError(program.diagnostics);
  return compile(program.func);
}

/** A value without the places of its text. */
const withoutSpans = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, part: unknown) => (/span/i.test(key) ? undefined : part)));
