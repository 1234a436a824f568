/** Elements made from terms on every backend, against a loop that rounds each step: fixed numbers of terms and bags, all reductions. */
import { describe } from "vitest";
import { randomSum } from "../support/random-sum.js";
import { hasRightBits } from "../support/right-bits.js";

describe("a sum over terms", () => {
  hasRightBits(randomSum, {
    oracle: "the loop",
    executors: { programs: 1500, outputs: 600, errors: 60 },
    webgpu: { programs: 100 },
  });
});
