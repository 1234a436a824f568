/** A search by milliseconds on a machine whose times are stated: the same on every run. */
import { targets, tune, type Func, type TuneResult } from "../../src/index.js";
import type { Measurement } from "../../src/tune/search-ms.js";

/** The default takes 0.05 ms, every other schedule more or less than that; the third fails. */
export function timedSearch(op: Func, budget: number): Promise<TuneResult> {
  const times = new Map<string, number>();
  return tune(op, {
    target: targets.cpu,
    objective: "ms",
    budget,
    measure: {
      backend: "sim",
      open: () => ({
        device: "stated",
        measure({ schedule }): Promise<Measurement> {
          const name = JSON.stringify(schedule);
          const place = times.get(name) ?? times.size;
          times.set(name, place);
          if (place === 2)
            return Promise.resolve({ status: "error", code: "TC506", reason: "it is the third" });
          return Promise.resolve({
            status: "measured",
            nanoseconds: [50_000 + (place % 2 === 0 ? 9_000 : -1_000) * place],
          });
        },
        close: () => undefined,
      }),
    },
  });
}
