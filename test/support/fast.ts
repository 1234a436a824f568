/** The fast executor in both its ways: WebAssembly in a memory of its own, and the caller's arrays where they are. */
import { planDirect } from "../../backends/direct/plan.js";
import { runDirect } from "../../backends/direct/run.js";
import type { HostInputs } from "../../backends/memory.js";
import { FastExecutor } from "../../backends/sim/index.js";
import type { TileFunc } from "../../ir/index.js";
import { byteCount } from "../../ir/types.js";
import { CompileError, RunError } from "../../src/index.js";
import { operandOf } from "./operands.js";

type Outcome = Uint8Array | CompileError | RunError;

function outcomeOf(run: () => Uint8Array): Outcome {
  try {
    return run();
  } catch (thrown) {
    if (thrown instanceof CompileError || thrown instanceof RunError) return thrown;
    throw thrown;
  }
}

const shown = (outcome: Outcome): string =>
  outcome instanceof Uint8Array
    ? Buffer.from(outcome).toString("base64")
    : JSON.stringify(outcome.diagnostics);

/** The output of both, whichever a call would take. Throws the error of both, and an Error where they differ. */
export function fastOutput({ tile }: { readonly tile: TileFunc }, inputs: HostInputs): Uint8Array {
  const wasm = outcomeOf(() => FastExecutor.create(tile).run(inputs).output.slice());
  const plan = planDirect(tile);
  if (plan !== undefined) {
    const direct = outcomeOf(() => {
      const output = new Uint8Array(byteCount(operandOf(tile, "output").type));
      runDirect(plan, inputs, output);
      return output;
    });
    if (shown(direct) !== shown(wasm)) throw new Error(`in place: ${shown(direct)}\ncopied: ${shown(wasm)}`);
  }
  if (wasm instanceof Uint8Array) return wasm;
  throw wasm;
}
