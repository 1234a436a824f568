/** Diagnostics of an error in one gather of a model, which leaves the other gathers unaffected. */
import type { Diagnostic } from "../../ir/index.js";
import { faultsOf } from "../../ir/faults.js";
import { PassError } from "../../passes/index.js";
import { ConfigError } from "../config/config-error.js";
import { writeReproducer } from "./reproducer.js";
import { UsageError } from "./usage-error.js";

/**
 * Returns the diagnostics of an error that concerns one gather of a model. For a bug in a built-in pass it
 * also writes a reproducer. Rethrows errors that concern the whole command: a wrong flag or config file.
 * `name` is the gather's name for `--func`.
 */
export function gatherFaults(thrown: unknown, name: string): readonly Diagnostic[] {
  if (thrown instanceof UsageError || thrown instanceof ConfigError) throw thrown;
  if (thrown instanceof PassError) {
    if (!thrown.builtIn) return thrown.faults;
    writeReproducer(thrown, `the model's @${name}, --func ${name}`);
  }
  return faultsOf(thrown);
}
