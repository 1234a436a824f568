/** Values on every backend against exact binary fractions: random expressions, types, policies, targets and tiles. */
import { describe } from "vitest";
import { randomValue } from "../support/random-value.js";
import { hasRightBits } from "../support/right-bits.js";

describe("a value", () => {
  hasRightBits(randomValue, {
    oracle: "exact arithmetic",
    executors: { programs: 1500, outputs: 600, errors: 60 },
    webgpu: { programs: 100 },
  });
});
