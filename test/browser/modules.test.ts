/** Modules in a page: their bits and errors on the device of a headless Chromium are those of the reference. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { targets } from "../../ir/index.js";
import { compile } from "../../src/index.js";
import { emitModule } from "../../src/module/emit-module.js";
import { runtimeOf } from "../../src/module/runtime-of.js";
import { definitionOf, drawsOf } from "../../src/testing/draws.js";
import { openPage, type OpenPage } from "../support/chromium.js";
import { modulePrograms } from "../support/module-programs.js";
import { arraysOf, referenceOutcome } from "../support/modules.js";

let opened: OpenPage | undefined;

beforeAll(async () => {
  try {
    opened = await openPage("<!doctype html><title>modules</title>");
    await opened.page.evaluate(`(async () => {
      const adapter = await navigator.gpu.requestAdapter();
      globalThis.device = await adapter.requestDevice();
      globalThis.outcomes = async (code, draws) => {
        const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
        const gather = await (await import(url)).create(globalThis.device);
        const found = [];
        for (const inputs of draws) {
          const arrays = Object.fromEntries(Object.entries(inputs).map(([key, list]) =>
            [key, typeof list[0] === "string" ? list : Uint8Array.from(list)]));
          try {
            const [output] = Object.values((await gather.run(arrays)).outputs);
            found.push(ArrayBuffer.isView(output) ? [...new Uint8Array(output.buffer)] : output);
          } catch ({ code, message, point, site }) {
            found.push({ code, message, point, site });
          }
        }
        gather.dispose();
        return found;
      };
    })()`);
  } catch (thrown) {
    if (process.env["CI"] === "true") throw thrown;
    console.warn(`SKIPPED, no Chromium: ${String(thrown)}`);
    opened = undefined;
  }
});

afterAll(async () => {
  await opened?.close();
});

describe("a module in Chromium", () => {
  it.for(modulePrograms)("has the bits and the errors of the reference: $name", async ({ func }, context) => {
    if (opened === undefined) return context.skip();
    const kernel = compile(func, { target: targets.webgpu });
    const { code } = emitModule(kernel, "module", runtimeOf);
    const draws = [...drawsOf(kernel.tile, definitionOf(kernel), 11)].map(({ inputs }) => inputs);
    const lists = draws.map((inputs) =>
      Object.fromEntries(
        Object.entries(arraysOf(inputs)).map(([key, array]) => [key, Array.from(array as Uint8Array)]),
      ),
    );
    const found = await opened.page.evaluate(`outcomes(${JSON.stringify(code)}, ${JSON.stringify(lists)})`);
    const expected = [];
    for (const inputs of draws) expected.push(await referenceOutcome(kernel, inputs));
    expect(found).toEqual(expected);
  });
});
