/** Diagnostics in full: code, sentence, numbers, what to do. */
import type { Diagnostic } from "../../../ir/index.js";

const words = { error: "Error", warning: "Warning", hint: "Hint" } as const;

/** Renders a list of diagnostics with code, message, notes and hint. */
export const Diagnostics = ({ list }: { readonly list: readonly Diagnostic[] }) => (
  <ul class="diagnostics">
    {list.map(({ code, severity, message, notes = [], hint }) => (
      <li class={severity}>
        <strong>
          {words[severity]} {code}
        </strong>{" "}
        {message}
        {notes.map((note) => (
          <div class="soft">{note}</div>
        ))}
        {hint === undefined ? null : (
          <div>
            Try: <code>{hint}</code>
          </div>
        )}
      </li>
    ))}
  </ul>
);
