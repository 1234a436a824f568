/** The library in a real browser, without Node: the built files in a headless Chromium with WebGPU. */
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPage, type OpenPage } from "../support/chromium.js";
import type { PageResult } from "./page.js";

const html = `<!doctype html><title>tilec</title>
<script type="module" src="/dist/test/browser/bundle.js"></script>`;

/** The page's module with the packages that it needs, as a page's bundler makes it. */
async function bundlePage(): Promise<void> {
  const file = (name: string): string =>
    fileURLToPath(new URL(`../../dist/test/browser/${name}`, import.meta.url));
  const bundle = await rolldown({ input: file("page.js"), platform: "browser" });
  await bundle.write({ file: file("bundle.js"), format: "esm" });
  await bundle.close();
}

const folder = new URL("../conformance/cases/", import.meta.url);
let opened: OpenPage | undefined;

beforeAll(async () => {
  await bundlePage();
  try {
    opened = await openPage(html);
    await opened.page.waitForFunction("globalThis.runCases !== undefined");
  } catch (thrown) {
    const reason = [String(thrown), ...(opened?.log ?? [])].join("\n");
    if (process.env["CI"] === "true") throw new Error(`no Chromium in CI: ${reason}`);
    console.warn(`SKIPPED, no Chromium: ${reason}`);
  }
});

afterAll(async () => {
  await opened?.close();
});

describe("in Chromium", () => {
  it.for(readdirSync(folder))("%s passes on reference, the simulation and WebGPU", async (name, context) => {
    if (opened === undefined) return context.skip();
    const result = await opened.page.evaluate<PageResult>(`runCases(${JSON.stringify(name)})`);
    expect(result.failures).toEqual([]);
    expect(result.checked).toBeGreaterThan(0);
    expect(result.adapter).not.toBe(" ");
  });

  it("the fast executor runs on two threads of a page that is cross-origin isolated", async (context) => {
    if (opened === undefined) return context.skip();
    expect(await opened.page.evaluate("runThreads()")).toEqual([0, 6399]);
  });
});
