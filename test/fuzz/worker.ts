/** Runs items and tells its parent about each before it begins, so that a hang or a crash has a name. */
import { createRunner } from "../../backends/webgpu/index.js";
import { acquireGpu } from "../../src/device/node.js";
import { isRefusal, itemsOf, kinds, type Kind, type Outcome } from "./items.js";

export type Message =
  | { readonly type: "device"; readonly description: string }
  | { readonly type: "begin"; readonly seed: number; readonly kind: Kind; readonly input: string }
  | { readonly type: "end"; readonly kind: Kind; readonly outcome: Outcome }
  | { readonly type: "finding"; readonly message: string }
  | { readonly type: "done"; readonly seeds: number };

const tell = (message: Message): void => void process.send?.(message);

async function main(): Promise<void> {
  const [first, seconds, only] = process.argv.slice(2, 5).map(Number);
  const kind = kinds.find((name) => name === process.argv[5]);
  if (first === undefined || seconds === undefined)
    throw new Error("worker <seed> <seconds> [only one] [kind]");
  // Dawn clamps an address out of bounds and so would hide a missing check.
  const found = await acquireGpu({ toggles: ["disable_robustness"] });
  const runner = found.ok ? await createRunner(found.gpu.device) : undefined;
  tell({ type: "device", description: found.ok ? found.gpu.description : `none, ${found.problem.message}` });
  const end = Date.now() + seconds * 1000;
  let seed = first;
  do {
    for (const item of itemsOf(seed, runner, kind)) {
      if (kind !== undefined && item.kind !== kind) continue;
      tell({ type: "begin", seed, kind: item.kind, input: item.input });
      try {
        for (const outcome of [await item.run()].flat()) tell({ type: "end", kind: item.kind, outcome });
      } catch (thrown) {
        if (!isRefusal(thrown)) {
          tell({
            type: "finding",
            message: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown),
          });
          return;
        }
        tell({ type: "end", kind: item.kind, outcome: "refused" });
      }
    }
    seed++;
    // Lets messages and the device's callbacks through.
    await new Promise((resolve) => setImmediate(resolve));
  } while (only !== 1 && Date.now() < end);
  tell({ type: "done", seeds: seed - first });
}

await main();
process.disconnect();
// Dawn's threads would keep the process alive.
setTimeout(() => process.exit(0), 100).unref();
