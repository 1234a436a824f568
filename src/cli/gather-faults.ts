/** What goes wrong with one gather of a model, which costs no other one. */
import type { Diagnostic } from "../../ir/index.js";
import { faultsOf } from "../../ir/faults.js";
import { PassError } from "../../passes/index.js";
import { ConfigError } from "../config/config-error.js";
import { writeReproducer } from "./reproducer.js";
import { UsageError } from "./usage-error.js";

/**
 * Returns what an error says of the gather that `--func NAME` takes. A pass of tilec's own that broke its promise leaves a file that
 * reproduces it. Throws what the whole command is refused for: a flag or a config file that cannot be used.
 */
export function gatherFaults(thrown: unknown, name: string): readonly Diagnostic[] {
  if (thrown instanceof UsageError || thrown instanceof ConfigError) throw thrown;
  if (thrown instanceof PassError) {
    if (!thrown.builtIn) return thrown.faults;
    writeReproducer(thrown, `the model's @${name}, --func ${name}`);
  }
  return faultsOf(thrown);
}
