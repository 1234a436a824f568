/** Effects of an index value out of range in code for PTO-ISA, by policy. */
import type { IndexRule, Outside } from "../../ir/policy.js";
import { assertNever } from "../../ir/types.js";

/**
 * Returns the effect of an index value out of range under a rule: `marked` (a flag is set), `clamped` (the
 * nearest element is used), or `none`.
 */
export function marksOf({ outside }: IndexRule): "none" | "clamped" | "marked" {
  switch (outside) {
    case "promised":
    case "remainder":
      return "none";
    case "nearest":
      return "clamped";
    case "none":
    case "report":
      return "marked";
    default:
      return assertNever(outside);
  }
}

/**
 * Returns the lines of C++ by which an out-of-range index value selects the nearest element, or the element
 * at the value modulo the extent. The list is empty for a policy that selects no element.
 */
export function otherwise(outside: Outside): string[] {
  switch (outside) {
    case "nearest":
      return ["    if (n > 0) return raw < 0 ? 0 : n - 1;"];
    case "remainder":
      return [
        "    if (n > 0) {",
        "        const int64_t rest = raw < 0 ? (int64_t)raw % n : (int64_t)((uint64_t)raw % (uint64_t)n);",
        "        return rest < 0 ? rest + n : rest;",
        "    }",
      ];
    case "none":
    case "report":
    case "promised":
      return [];
    default:
      return assertNever(outside);
  }
}
