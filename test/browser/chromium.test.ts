/** The library in a real browser, without Node: a bundle in a headless Chromium with WebGPU. */
import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPage, type OpenPage } from "../support/chromium.js";
import type { PageResult } from "./page.js";

const html = `<!doctype html><title>tilec</title>
<script type="module" src="/dist/test/browser/page.js"></script>`;

const folder = new URL("../conformance/cases/", import.meta.url);
let opened: OpenPage | undefined;

beforeAll(async () => {
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
