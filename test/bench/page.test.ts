/** The page of bench:webgpu: its subjects run, and give the output of the plain loop. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { openBenchPage, pagePeers, type BenchPage } from "../../bench/chromium.js";
import { installPeers, missingPeers } from "../../bench/peers.js";
import { workloads } from "../../bench/workloads.js";

let page: BenchPage | undefined;

beforeAll(async () => {
  try {
    const missing = missingPeers(pagePeers);
    if (missing.length > 0) throw new Error(`${missing.join(", ")}: not installed (${installPeers})`);
    page = await openBenchPage();
  } catch (thrown) {
    if (process.env["CI"] === "true") throw thrown;
    console.warn(`SKIPPED, no page: ${String(thrown)}`);
  }
});

afterAll(() => page?.close());

it("every subject gives the same bytes, and says how long it took", async (context) => {
  if (page === undefined) return context.skip();
  const rows = await page.run(
    workloads.find(({ name }) => name === "W3")!,
    1,
    1,
  );
  expect(
    rows.map(({ subject, verified }) => [subject, verified]),
    page.log.join("\n"),
  ).toEqual(
    ["tilec", "plain", "hand-vec4", "copy", "tilec-module", "onnxruntime-web", "jax-js", "tfjs"].map(
      (name) => [name, true],
    ),
  );
  for (const { medianMs } of rows) expect(medianMs).toBeGreaterThan(0);
});
