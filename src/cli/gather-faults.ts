/** Diagnostics of an error in one gather of a model, which leaves the other gathers unaffected. */
import type { Diagnostic } from "../../ir/index.js";
import { faultsOf } from "../../ir/faults.js";
import { PassError } from "../../passes/index.js";
import { ConfigError } from "../config/config-error.js";
import { writeReproducer } from "./reproducer.js";
import { UsageError } from "./usage-error.js";

/**
 * Returns the diagnostics for an error about one gather of a model. Rethrows an error in a flag or in the
 * config file. `name`: the gather's name for `--func`.
 */
export function gatherFaults(thrown: unknown, name: string): readonly Diagnostic[] {
  if (thrown instanceof UsageError || thrown instanceof ConfigError) throw thrown;
  if (thrown instanceof PassError) {
    if (!thrown.builtIn) return thrown.faults;
    writeReproducer(thrown, `the model's @${name}, --func ${name}`);
  }
  return faultsOf(thrown);
}
