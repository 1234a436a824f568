/** A rule of the IR that a function breaks: TC201 with the rule's number, TC301 where it is the full-load rule. */
import { error, type Diagnostic } from "../diagnostic.js";
import type { Span } from "../types.js";

export const broken = (
  rule: string,
  message: string,
  span: Span | undefined,
  more: { readonly code?: "TC201" | "TC301"; readonly hint?: string } = {},
): Diagnostic => {
  const { code = "TC201", hint } = more;
  return error(code, `${rule}: ${message}`, {
    span,
    data: { rule },
    ...(hint === undefined ? {} : { hint }),
  });
};
