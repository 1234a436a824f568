/** A side of bench:sim: the fast executor of a build. */
import type { SimLibrary } from "./library.js";
import { cpuMs, wallMs } from "./clocks.js";
import { kernelOf } from "./kernels.js";
import { tilec, tilecCall } from "./own-subjects.js";
import { keptTensors, localSide, type Side } from "./side.js";

/**
 * Returns a {@link Side} (object that measures a tilec build) for the fast executor (WebAssembly). `library`
 * is the API of the build. CPU time is measured with one thread, and wall-clock time with several threads.
 */
export function simSide(library: SimLibrary): Side {
  const tensorsOf = keptTensors();
  return localSide(async ({ workload: name, subject, threads }) => {
    const { workload, inputs, expected } = tensorsOf(name);
    const kernel = kernelOf(library, workload, library.targets.cpu);
    const given = { ...inputs };
    return {
      expected,
      subject:
        subject === "tilec-call"
          ? tilecCall(library, kernel, given)
          : await tilec(library, kernel, given, threads),
      now: threads === 1 ? cpuMs : wallMs,
    };
  });
}
