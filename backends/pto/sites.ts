/** Index values read by the scalar unit and resolved one by one: `ir/policy.ts` as a C++ function. */
import { inputOf } from "../../ir/func.js";
import { assertNever, at, bitsOf, invariant, isSigned, type DType } from "../../ir/types.js";
import type { Context } from "./context.js";
import type { PtoGather, PtoPlan } from "./plan.js";

/** The type in which an index is compared. */
const compared = (dtype: DType): string => `${isSigned(dtype) ? "" : "u"}int${bitsOf(dtype)}_t`;

const resolver = ({ names }: PtoPlan): string => `${names.entryPoint}_index`;

/** Declares `inside` and `s0`, `s1`, … at a point; their names. */
export function emitSites(
  context: Context,
  { sites, rules }: PtoGather,
  tiles: readonly string[],
  dims: readonly string[],
): readonly string[] {
  const { out, plan } = context;
  const names: string[] = [];
  out.line("bool inside = true;");
  sites.forEach(({ site: s, table, form }) => {
    invariant(table !== undefined, "PTO-ISA's index values are read");
    const type = compared(inputOf(plan.func, table).type.dtype);
    const { below, fromEnd } = at(rules, s);
    const raw = `${at(tiles, table - 1)}.GetValue(${context.form(form, dims, names)})`;
    const given = `(${type})${raw}, ${below}, ${fromEnd === undefined ? "false" : "true"}, inside`;
    out.line(`const int64_t s${s} = ${resolver(plan)}<${type}>(${given});`);
    names.push(`s${s}`);
  });
  return names;
}

/** The function that `emitSites` calls; n is 0 where the data has no element. */
export function resolverLines(plan: PtoPlan, { rules }: PtoGather): string[] {
  const { outside } = at(rules, 0);
  const otherwise = (): string[] => {
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
  };
  return [
    "// The element that an index names among n, and whether there is one.",
    "template <typename T>",
    `AICORE inline int64_t ${resolver(plan)}(T raw, int64_t n, bool from_end, bool& inside)`,
    "{",
    "    if (raw >= 0 && (uint64_t)raw < (uint64_t)n) return (int64_t)raw;",
    "    if (from_end && raw < 0 && (int64_t)raw >= -n) return (int64_t)raw + n;",
    ...otherwise(),
    "    inside = false;",
    "    return 0;",
    "}",
  ];
}
