/** The fast executor in its ways: WebAssembly in a memory of its own, with whole inputs and with named rows, and the caller's arrays where they are. */
import { copyNamed, planNamed } from "../../backends/direct/named-inputs.js";
import { planDirect } from "../../backends/direct/plan.js";
import { runDirect } from "../../backends/direct/run.js";
import type { HostInputs } from "../../backends/memory.js";
import type { BackendKernel } from "../../backends/backend.js";
import { FastExecutor, simulateBytes, type Executor } from "../../backends/sim/index.js";
import type { TileFunc } from "../../ir/index.js";
import { byteCount } from "../../ir/types.js";
import { CompileError, type RunError } from "../../src/index.js";
import { operandOf } from "./operands.js";
import { diagnosticsOf, errorOf } from "./refusal.js";

type Outcome = Uint8Array | CompileError | RunError;

function outcomeOf(run: () => Uint8Array): Outcome {
  try {
    return run();
  } catch (thrown) {
    return errorOf(thrown);
  }
}

const shown = (outcome: Outcome): string =>
  outcome instanceof Uint8Array
    ? Buffer.from(outcome).toString("base64")
    : JSON.stringify(outcome.diagnostics);

/** What a kernel makes of the rows that it names, where everything else it could read is other bits. */
function outputOfNamed(tile: TileFunc, inputs: HostInputs): Uint8Array {
  const executor = FastExecutor.create(tile);
  const named = planNamed(tile);
  const own = Object.fromEntries(named.map(({ key }) => [key, executor.inputs[key]!]));
  for (const { bytes } of Object.values(own)) bytes.fill(0xa5);
  for (const { bytes, touched } of copyNamed(named, inputs, own))
    if (touched < bytes) throw new Error(`${bytes} B lie in pages of ${touched} B`);
  return executor.run({ ...inputs, ...own }).output.slice();
}

/** The output of all, whichever a call would take. Throws the error of all, and an Error where they differ. */
export function fastOutput({ tile }: { readonly tile: TileFunc }, inputs: HostInputs): Uint8Array {
  const wasm = outcomeOf(() => FastExecutor.create(tile).run(inputs).output.slice());
  const compare = (how: string, other: Outcome): void => {
    const isSame =
      other instanceof Uint8Array && wasm instanceof Uint8Array
        ? Buffer.compare(other, wasm) === 0
        : shown(other) === shown(wasm);
    if (!isSame) throw new Error(`${how}: ${shown(other)}\ncopied: ${shown(wasm)}`);
  };
  if (!(wasm instanceof CompileError))
    compare(
      "named rows",
      outcomeOf(() => outputOfNamed(tile, inputs)),
    );
  const plan = planDirect(tile);
  if (plan !== undefined) {
    const direct = outcomeOf(() => {
      const output = new Uint8Array(byteCount(operandOf(tile, "output").type));
      runDirect(plan, inputs, output);
      return output;
    });
    compare("in place", direct);
  }
  if (wasm instanceof Uint8Array) return wasm;
  throw wasm;
}

/** Result of an executor: the output with the parts of the report that all executors share, or the error that ended the run. */
export function outcomeOn(executor: Executor, kernel: BackendKernel, inputs: HostInputs): unknown {
  try {
    const { output, report } = simulateBytes(kernel, inputs, { executor });
    const { executor: _, copiedBytes: __, ...counts } = report;
    return [counts, executor === "fast" ? fastOutput(kernel, inputs) : Uint8Array.from(output)];
  } catch (thrown) {
    return diagnosticsOf(thrown);
  }
}
