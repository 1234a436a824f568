/** Statistics of how neighbouring values in the index tensor differ. */
import type { HostTensor } from "../memory.js";
import type { IndexLocality } from "../report.js";
import { indexValues } from "./index-values.js";

/**
 * Returns statistics of neighbouring values of an index tensor: the fractions of repeated values and of steps
 * by 1, and the mean absolute difference.
 */
export function indexLocality(indices: HostTensor): IndexLocality {
  const values = indexValues(indices);
  const count = values.length;
  let [repeated, consecutive, distance] = [0, 0, 0];
  let before = values[0] ?? 0;
  for (let k = 1; k < count; k++) {
    const value = values[k] ?? 0;
    const step = value - before;
    if (step === 0) repeated++;
    if (step === 1) consecutive++;
    distance += Math.abs(step);
    before = value;
  }
  const pairs = Math.max(1, count - 1);
  return {
    count,
    repeated: repeated / pairs,
    consecutive: consecutive / pairs,
    meanDistance: distance / pairs,
  };
}
