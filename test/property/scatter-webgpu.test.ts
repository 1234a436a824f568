/**
 * Random scatters on WebGPU against the oracle. By default seeds 0 to 59 run; the whole range is
 * `SCATTER_TRIALS=1000 npx vitest run test/property/scatter-webgpu.test.ts`, seeds 0 to 999.
 */
import { expect, it } from "vitest";
import { compile } from "../../src/index.js";
import { drawer } from "../fuzz/mutate.js";
import { outcomeOf, textOf } from "../oracle/scatter.js";
import { runnerOr } from "../support/gpu.js";
import { randomScatter } from "../support/random-scatter.js";
import { bytesOf, bytesOfElement, hostInputs } from "../support/scatter-inputs.js";
import { ended, type Ran } from "../support/scatter-outcome.js";
import { parsedAccess } from "../support/parsed.js";

const trials = Number(process.env["SCATTER_TRIALS"] ?? 60);

it("gives the oracle's bits, or its first point that ends the run", async (context) => {
  const runner = await runnerOr(context);
  const counts = { bits: 0, index: 0, duplicate: 0, refused: 0, inPlace: 0 };
  for (let seed = 0; seed < trials; seed++) {
    const scatter = randomScatter(drawer(seed * 23 + 7));
    const text = textOf(scatter);
    const func = parsedAccess(text);
    const points = scatter.domain.reduce((n, extent) => n * extent, 1);
    const elements = scatter.shape.reduce((n, extent) => n * extent, 1);
    const skips = scatter.indices.some(({ policy, excluded }) => policy === "skip" || excluded !== undefined);
    if (scatter.duplicates === "unique" && points > elements && !skips) {
      counts.refused++;
      continue;
    }
    const kernel = compile(func, { target: runner.target });
    const [inputs, before] = [hostInputs(scatter, func), hostInputs(scatter, func)];
    const result: Ran = await runner.runBytes(kernel, inputs).then((bytes) => ({ bytes }), ended);
    const outcome = outcomeOf(scatter);
    const size = bytesOfElement(scatter.type);
    // Where a promise is broken, a kernel says nothing.
    const isBroken = scatter.duplicates === "unique" && outcome.kind === "duplicate";
    if (outcome.kind === "bits") expect(result, text).toEqual({ bytes: bytesOf(outcome.bits, size) });
    else if (!isBroken) expect(result, text).toEqual(outcome);
    for (const [name, tensor] of Object.entries(inputs)) {
      const isWritten = name === "x" && scatter.inout && "bytes" in result;
      expect(tensor.bytes, `${name} of ${text}`).toEqual(isWritten ? result.bytes : before[name]?.bytes);
    }
    counts[outcome.kind]++;
    if (scatter.inout) counts.inPlace++;
  }
  expect(counts.bits).toBeGreaterThan(trials / 3);
  expect(counts.index).toBeGreaterThan(trials / 50);
  expect(counts.duplicate).toBeGreaterThan(trials / 30);
  expect(counts.inPlace).toBeGreaterThan(trials / 10);
  expect(counts.refused).toBeLessThan(trials / 10);
});
