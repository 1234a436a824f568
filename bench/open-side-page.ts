/** A side in a page of a Chromium of its own. */
import { rolldown } from "rolldown";
import { openPage } from "../test/support/chromium.js";
import { builtFile } from "./built.js";
import type { Side } from "./side.js";

/** The module of this repository that the page loads as a file of its own. */
const served = "/dist/bench/side-page.js";

/**
 * Bundles the tilec build in a folder into one JavaScript module that measures the build in a browser page.
 * Resolves to the code of the module. Each measured call makes `launches` launches.
 */
async function pageScript(folder: string, launches: number): Promise<string> {
  const wanted = `import { serveSide } from "${served}";
import { compile, onnx, program, targets } from ${JSON.stringify(builtFile(folder, "tilec"))};
import { createRunner } from ${JSON.stringify(builtFile(folder, "tilec/webgpu"))};
await serveSide({ compile, onnx, program, targets, createRunner }, ${launches});`;
  const bundle = await rolldown({
    input: "wanted",
    platform: "browser",
    external: [served],
    plugins: [
      {
        name: "wanted",
        resolveId: (id) => (id === "wanted" ? id : null),
        load: (id) => (id === "wanted" ? wanted : null),
      },
    ],
  });
  const { output } = await bundle.generate({ codeSplitting: false });
  await bundle.close();
  return output[0].code;
}

/**
 * Opens a browser page that loads the tilec build in `folder`. Resolves to a {@link Side} (object that
 * measures a tilec build) for the WebGPU kernels of the build. Rejects if the browser does not start or has
 * no WebGPU.
 */
export async function openSidePage(folder: string, launches: number, gpu: boolean): Promise<Side> {
  const script = await pageScript(folder, launches);
  const opened = await openPage("<!doctype html><title>bench:webgpu</title>", gpu);
  const { page, log } = opened;
  try {
    await page.addScriptTag({ content: script, type: "module" });
    await page.waitForFunction("globalThis.side !== undefined");
  } catch (thrown) {
    for (const line of log) console.error(line);
    await opened.close();
    throw thrown;
  }
  return {
    open: (key) => page.evaluate(`side.open(${JSON.stringify(key)})`),
    turn: (calls) => page.evaluate(`side.turn(${calls})`),
    async close() {
      await page.evaluate("side.close()");
      await opened.close();
    },
  };
}
