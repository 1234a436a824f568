/** How neighbours in the index tensor follow one another. */
import { elementCount } from "../../ir/types.js";
import { indexReader, type HostTensor } from "../memory.js";
import type { IndexLocality } from "../report.js";

export function indexLocality(indices: HostTensor): IndexLocality {
  const read = indexReader(indices.bytes, indices.type.dtype);
  const count = elementCount(indices.type.shape);
  let [repeated, consecutive, distance] = [0, 0, 0];
  for (let k = 1; k < count; k++) {
    const step = read(k) - read(k - 1);
    if (step === 0) repeated++;
    if (step === 1) consecutive++;
    distance += Math.abs(step);
  }
  const pairs = Math.max(1, count - 1);
  return {
    count,
    repeated: repeated / pairs,
    consecutive: consecutive / pairs,
    meanDistance: distance / pairs,
  };
}
