/**
 * A rule of the IR that a function breaks: TC201 with the rule's number, TC204 where it is the access map's,
 * TC301 where it is the full-load rule, TC104 where it is about element types, TC205 where it is about
 * values, TC304 where a region starts inside a byte.
 */
import { defined } from "../defined.js";
import { error, type Diagnostic } from "../diagnostic.js";
import type { Span } from "../types.js";

/** Diagnostic code that a broken rule of the verifier can have. */
export type BrokenCode = "TC104" | "TC205" | "TC201" | "TC204" | "TC301" | "TC304";

/**
 * Returns the diagnostic for a broken rule of the verifier. `rule`: identifier of the rule, for example `T3`.
 * `more`: code of the diagnostic (default TC201) and hint.
 */
export const broken = (
  rule: string,
  message: string,
  span: Span | undefined,
  more: { readonly code?: BrokenCode; readonly hint?: string } = {},
): Diagnostic => {
  const { code = "TC201", hint } = more;
  return error(code, `${rule}: ${message}`, {
    span,
    data: { rule },
    ...defined({ hint }),
  });
};
