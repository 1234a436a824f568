/** Every shared case that compiles for an Ascend target, on the judge of PTO-ISA kernels, bit for bit. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { meanBytes, findTarget, inputOf, parseModule, targetFacts, type Target } from "../../../ir/index.js";
import { program, type ProgramDescription } from "../../../src/api/program.js";
import { readCases, type Case } from "../../../src/formats/cases.js";
import { CompileError, RunError, runOn, targets, tryCompile, type Kernel } from "../../../src/index.js";
import { fits, hostInputsOf, isForPto } from "../../support/case-kernel.js";
import { cppCompiler, ptoJob, runPto, type PtoJob } from "../../support/pto.js";

const folder = new URL("../../conformance/cases/", import.meta.url);
const files = readdirSync(folder).sort();

/** The case's own target where that is an Ascend core, else `ascend-a2`; and the 950, whose TGATHER takes further sizes. */
function targetsOf(test: Case): readonly Target[] {
  const own = findTarget(test.options.target ?? "");
  const first = own !== undefined && targetFacts[own.kind].runsPto ? own : targets.ascendA2;
  const [data] = Object.values(test.inputs);
  const size = meanBytes(data!.type.dtype);
  const differs =
    !first.vectorGatherBytes.includes(size) && targets.ascend950.vectorGatherBytes.includes(size);
  return differs ? [first, targets.ascend950] : [first];
}

function compiled(test: Case, target: Target): Kernel | undefined {
  const [written] = test.tir === undefined ? [] : parseModule(test.tir, test.id).module.funcs;
  try {
    if (written === undefined && test.program === undefined) return undefined;
    const { target: _, ...untargeted } = test.program ?? {};
    const result = tryCompile(written ?? program(untargeted as ProgramDescription), {
      target,
      ...(test.bind === undefined ? {} : { bind: test.bind }),
    });
    return result.ok ? result.kernel : undefined;
  } catch (thrown) {
    if (!(thrown instanceof CompileError)) throw thrown;
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
    if (!(thrown instanceof RunError)) throw thrown;
    return undefined;
  }
}

describe("the shared cases as PTO-ISA kernels", () => {
  it("give the reference's bits, or tell of the bad index", { timeout: 900_000 }, async (context) => {
    if (cppCompiler() === undefined) return context.skip();
    const jobs: PtoJob[] = [];
    const made: { readonly id: string; readonly kernel: Kernel; readonly inputs: Inputs }[] = [];
    let refused = 0;
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
          if (!isForPto(kernel.tile)) {
            expect(() => kernel.pto()).toThrow(expect.objectContaining({ diagnostics: [beyondForm] }));
            refused++;
            continue;
          }
          const inputs = hostInputsOf(test, kernel.tile);
          jobs.push(
            ptoJob(
              kernel,
              `k${jobs.length}`,
              Object.values(inputs).map(({ bytes }) => bytes),
            ),
          );
          made.push({ id: `${test.id} on ${target.name}`, kernel, inputs });
        }
      }
    }
    expect(jobs.length).toBeGreaterThan(300);
    expect(refused).toBeGreaterThan(0);
    // The compiler reads the kernels while the reference runs.
    const judged = runPto(jobs);
    const wanted: (Uint8Array | undefined)[] = [];
    for (const { kernel, inputs } of made) {
      wanted.push(await expected(kernel, inputs));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const wrong = (await judged).flatMap(({ fault, status, output }, k) => {
      const { id } = made[k]!;
      const bytes = wanted[k];
      if (fault !== "") return [`${id}: ${fault}`];
      if (status !== (bytes === undefined)) return [`${id}: status ${status}`];
      return bytes === undefined || Buffer.compare(bytes, output) === 0 ? [] : [`${id}: other bits`];
    });
    expect(wrong).toEqual([]);
  });
});
