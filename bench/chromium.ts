/**
 * The page of bench:webgpu, bench:values and bench:scatter in Chromium, where every subject runs on one
 * adapter.
 */
import { openPage } from "../test/support/chromium.js";
import type { ScatterRows } from "./page-scatters.js";
import type { Row } from "./rows.js";
import type { Workload } from "./workloads.js";

/** Names of the npm packages that the WebGPU benchmark page loads in the browser. */
export const pagePeers = [
  "onnxruntime-web",
  "@jax-js/jax",
  "@tensorflow/tfjs-core",
  "@tensorflow/tfjs-backend-cpu",
  "@tensorflow/tfjs-backend-webgpu",
];

const html = `<!doctype html><title>bench:webgpu</title>
${["core", "backend-cpu", "backend-webgpu"]
  .map(
    (part) => `<script src="/bench/node_modules/@tensorflow/tfjs-${part}/dist/tf-${part}.min.js"></script>`,
  )
  .join("\n")}
<script type="module" src="/dist/bench/page.js"></script>`;

/**
 * Description of the WebGPU adapter that the benchmark page uses. `software` is true if the adapter
 * is implemented in software.
 */
export interface Adapter extends Readonly<Record<string, string | boolean>> {
  readonly software: boolean;
}

/** Controls of a browser page that runs the WebGPU benchmarks, with the page's log and adapter. */
export interface BenchPage {
  readonly adapter: Adapter;
  readonly log: readonly string[];
  /**
   * Measures the implementations of a workload in rounds; each run makes `launches` launches. An
   * implementation that cannot run is left out, with a line in the log.
   */
  run(workload: Workload, rounds: number, launches: number): Promise<readonly Row[]>;
  /** The embedding of bench:values, as `run` does. */
  runEmbedding(rounds: number, launches: number): Promise<readonly Row[]>;
  /** Measures a scatter by its number in `scatters`. Returns the implementations that cannot run, too. */
  runScatter(number: number, rounds: number): Promise<ScatterRows>;
  close(): Promise<void>;
}

/**
 * Opens the benchmark page in a browser and resolves to the controls of the page. If `gpu` is true, the
 * installed Chrome with the machine's GPU is used. Rejects if the browser does not start or has no WebGPU.
 */
export async function openBenchPage(gpu = false): Promise<BenchPage> {
  const opened = await openPage(html, gpu);
  const { page, log } = opened;
  try {
    await page.waitForFunction("globalThis.runWorkload !== undefined");
    return {
      adapter: await page.evaluate<Adapter>("adapterInfo()"),
      log,
      run: ({ name }, rounds, launches) =>
        page.evaluate<readonly Row[]>(`runWorkload(${JSON.stringify(name)}, ${rounds}, ${launches})`),
      runEmbedding: (rounds, launches) =>
        page.evaluate<readonly Row[]>(`runEmbedding(${rounds}, ${launches})`),
      runScatter: (number, rounds) => page.evaluate<ScatterRows>(`runScatter(${number}, ${rounds})`),
      close: () => opened.close(),
    };
  } catch (thrown) {
    for (const line of log) console.error(line);
    await opened.close();
    throw thrown;
  }
}
