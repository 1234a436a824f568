/** Every shared case that compiles for a built-in Ascend target, on the judge of PTO-ISA kernels, bit for bit. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { mapOfTile } from "../../../backends/reference/defined-map.js";
import { inputsVerdict } from "../../../backends/reference/unmet-condition.js";
import { defined, findTarget, inputOf, parseModule, targetFacts, type Target } from "../../../ir/index.js";
import { program, type ProgramDescription } from "../../../src/api/program.js";
import { readCases, type Case } from "../../../src/formats/cases.js";
import { compile, type Kernel, runOn, targets } from "../../../src/index.js";
import { fits, hostInputsOf, isForPto, moves } from "../../support/case-kernel.js";
import { canTell, cppCompiler, onMachines, ptoJob, runPto, type PtoJob } from "../../support/pto.js";
import { diagnosticsOf, unlessRefused } from "../../support/refusal.js";

const folder = new URL("../../conformance/cases/", import.meta.url);
const files = readdirSync(folder).sort();

/** The case's own target where that is an Ascend core, and all that are built in. */
function targetsOf(test: Case): readonly Target[] {
  const own = findTarget(test.options.target ?? "");
  const all = [targets.ascendA2, targets.ascendA3, targets.ascend950];
  return own !== undefined && targetFacts[own.kind].runsPto ? [...new Set([own, ...all])] : all;
}

/** Kernels that one compiler reads. */
const mostOfUnit = 400;

function compiled(test: Case, target: Target): Kernel | undefined {
  const [written] = test.tir === undefined ? [] : parseModule(test.tir, test.id).module.funcs;
  if (written === undefined && test.program === undefined) return undefined;
  const { target: _, ...untargeted } = test.program ?? {};
  return unlessRefused(() =>
    compile(written ?? program(untargeted as ProgramDescription), {
      target,
      ...defined({ bind: test.bind }),
    }),
  );
}

/** What a kernel assumes; undefined where a step is refused. */
function conditionsOf(kernel: Kernel): ReturnType<Kernel["pto"]>["assumes"] | undefined {
  try {
    return kernel.pto().assumes;
  } catch (thrown) {
    expect(diagnosticsOf(thrown)).toEqual([beyondForm]);
    return undefined;
  }
}

const beyondForm = expect.objectContaining({ code: "TC505" }) as unknown;

type Inputs = Parameters<typeof runOn>[2];

/** The reference's bytes; undefined for an index out of range. */
async function expected(kernel: Kernel, inputs: Inputs): Promise<Uint8Array | undefined> {
  try {
    return (await runOn("reference", kernel, inputs)).output;
  } catch (thrown) {
    diagnosticsOf(thrown);
    return undefined;
  }
}

describe("the shared cases as PTO-ISA kernels", () => {
  it("give the reference's bits, or tell of the bad index", { timeout: 900_000 }, async (context) => {
    if (cppCompiler() === undefined) return context.skip();
    const jobs: PtoJob[] = [];
    const made: { readonly id: string; readonly kernel: Kernel; readonly inputs: Inputs }[] = [];
    let [refused, computed, conditional, otherBits] = [0, 0, 0, 0];
    for (const file of files) {
      for (const test of readCases(readFileSync(new URL(file, folder), "utf8"), file)) {
        for (const target of targetsOf(test)) {
          const kernel = compiled(test, target);
          if (kernel === undefined || !fits(test, kernel.tile)) continue;
          if (inputOf(kernel.tile, 0).type.dtype === "string") {
            expect(() => kernel.pto()).toThrow("strings do not exist in PTO-ISA");
            refused++;
            continue;
          }
          if (!moves(kernel.tile)) {
            const assumes = conditionsOf(kernel);
            if (assumes === undefined) {
              refused++;
              continue;
            }
            const inputs = hostInputsOf(test, kernel.tile);
            const { map, operands } = kernel.definition ?? mapOfTile(kernel.tile);
            if (inputsVerdict({ map, operands, inputs }, assumes).kind === "other bits") {
              otherBits++;
              continue;
            }
            computed++;
            if (assumes.length > 0) conditional++;
            const bytes = Object.values(inputs).map((input) => input.bytes);
            for (const job of onMachines(ptoJob(kernel, `k${jobs.length}`, bytes))) {
              jobs.push(job);
              made.push({ id: `${test.id} on ${target.name} ${JSON.stringify(job.floats)}`, kernel, inputs });
            }
            continue;
          }
          if (!isForPto(kernel.tile)) {
            expect(() => kernel.pto()).toThrow(expect.objectContaining({ diagnostics: [beyondForm] }));
            refused++;
            continue;
          }
          const inputs = hostInputsOf(test, kernel.tile);
          const bytes = Object.values(inputs).map((input) => input.bytes);
          jobs.push(ptoJob(kernel, `k${jobs.length}`, bytes));
          made.push({ id: `${test.id} on ${target.name}`, kernel, inputs });
        }
      }
    }
    expect(jobs.length).toBeGreaterThan(1200);
    expect(refused).toBeGreaterThan(0);
    expect(computed - conditional).toBeGreaterThan(15);
    expect(conditional).toBeGreaterThan(80);
    // Inputs of some cases are made of what no condition takes.
    expect(otherBits).toBeGreaterThan(0);
    // The compiler reads the kernels while the reference runs.
    const units = Array.from({ length: Math.ceil(jobs.length / mostOfUnit) }, (_, k) =>
      runPto(jobs.slice(k * mostOfUnit, (k + 1) * mostOfUnit)),
    );
    const wanted: (Uint8Array | undefined)[] = [];
    for (const { kernel, inputs } of made) {
      wanted.push(await expected(kernel, inputs));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const wrong = (await Promise.all(units)).flat().flatMap(({ fault, status, output }, k) => {
      const { id } = made[k]!;
      const bytes = wanted[k];
      if (fault !== "") return [`${id}: ${fault}`];
      if (status !== (bytes === undefined && canTell(jobs[k]!))) return [`${id}: status ${status}`];
      return bytes === undefined || Buffer.compare(bytes, output) === 0 ? [] : [`${id}: other bits`];
    });
    expect(wrong).toEqual([]);
  });
});
