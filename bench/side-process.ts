/** A process of `forkSide`: loads the build in a folder, and does what it is asked. */
import { importBuilt } from "./built.js";
import { tilec, tilecCall } from "./own-subjects.js";
import type { SimLibrary } from "./library.js";
import { localSide, type Side } from "./side.js";
import { expectedOf, inputsOf, workloadOf, type Inputs } from "./workloads.js";

const [folder = ""] = process.argv.slice(2);

interface Asked {
  readonly method: keyof Side;
  readonly args: readonly never[];
}

/** Of all threads of the process, which the other processes of the machine hardly change. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const wallMs = (): number => performance.now();

async function simSide(): Promise<Side> {
  const library = (await importBuilt(folder, ["tilec", "tilec/sim", "tilec/node"])) as SimLibrary;
  let kept: { readonly name: string; readonly inputs: Inputs; readonly expected: Uint8Array } | undefined;
  return localSide(async ({ workload: name, subject, threads }) => {
    const workload = workloadOf(name);
    if (kept?.name !== name) {
      const inputs = inputsOf(workload);
      kept = { name, inputs, expected: expectedOf(workload, inputs) };
    }
    const { inputs, expected } = kept;
    return {
      expected,
      subject:
        subject === "tilec-call"
          ? tilecCall(library, workload, inputs)
          : await tilec(library, workload, inputs, threads),
      now: threads === 1 ? cpuMs : wallMs,
    };
  });
}

const textOf = (thrown: unknown): string =>
  thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);

/** Whatever becomes of a promise, as the message that answers. */
function answer(value: Promise<unknown>): void {
  value.then(
    (found) => process.send?.({ value: found }),
    (thrown: unknown) => process.send?.({ error: textOf(thrown) }),
  );
}

const side = simSide();
answer(side.then(() => undefined));
process.on("message", ({ method, args }: Asked) => {
  answer(side.then((ready) => (ready[method] as (...args: readonly never[]) => Promise<unknown>)(...args)));
});
