/** A backend of a config as commands run it: under its name there, and what it throws as a diagnostic. */
import { CompileError, error, RunError } from "../../ir/index.js";
import type { Backend, HostInputs } from "../../backends/index.js";
import { checkPrepared } from "../api/backends.js";
import { whyNotLoaded } from "./why-not-loaded.js";

/**
 * Returns a wrapper of a config file's backend that throws a RunError (TC611) if the backend crashes.
 * `shown`: file name for messages.
 */
export function projectBackend(name: string, file: string, shown: string, backend: Backend): Backend {
  const origin = `backends.${name} of ${shown}`;
  const guarded = async <T>(action: () => T | Promise<T>): Promise<T> => {
    try {
      return await action();
    } catch (thrown) {
      if (thrown instanceof CompileError || thrown instanceof RunError) throw thrown;
      const notes = [`${name} is ${origin}`];
      throw new RunError([error("TC611", `${name} crashed: ${whyNotLoaded(thrown, file)}`, { notes })]);
    }
  };
  return {
    name,
    origin,
    prepare: (kernel) =>
      guarded(async () => {
        const prepared = await backend.prepare(kernel);
        checkPrepared({ name, origin }, prepared);
        return {
          // Copies: other backends read the same inputs.
          run: (inputs, options) => guarded(() => prepared.run(copied(inputs), options)),
          release() {
            prepared.release();
          },
        };
      }),
  };
}

const copied = (inputs: HostInputs): HostInputs =>
  Object.fromEntries(
    Object.entries(inputs).map(([key, tensor]) => [key, { ...tensor, bytes: tensor.bytes.slice() }]),
  );
