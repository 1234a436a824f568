/** A rule of the IR that a function breaks: TC201 with the rule's number. */
import { error, type Diagnostic } from "../diagnostic.js";
import type { Span } from "../types.js";

export const broken = (rule: string, message: string, span: Span | undefined): Diagnostic =>
  error("TC201", `${rule}: ${message}`, { span, data: { rule } });
