/** Diagnostics in full: code, place, sentence, numbers, what to do. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Diagnostic } from "../../../ir/index.js";
import type { Span } from "../../../ir/shape.js";

const words = { error: "Error", warning: "Warning", hint: "Hint" } as const;

interface Props {
  readonly list: readonly Diagnostic[];
  /** Moves the cursor of the editor to the place of a diagnostic; without it no place is named. */
  readonly onPlace?: (span: Span) => void;
}

/** Renders a list of diagnostics with code, position, message, notes and hint. */
export const Diagnostics = ({ list, onPlace }: Props) => (
  <ul class="diagnostics">
    {list.map(({ code, severity, message, span, notes = [], hint }) => (
      <li
        class={severity}
        data-code={code}
        {...(span === undefined ? {} : { "data-line": span.line, "data-column": span.column })}
      >
        <strong>
          {words[severity]} {code}
        </strong>{" "}
        {onPlace === undefined || span === undefined ? null : (
          <>
            <button
              type="button"
              class="place"
              onClick={() => {
                onPlace(span);
              }}
            >
              line {span.line}
            </button>{" "}
          </>
        )}
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

/** Context that is true if the displayed program is refused. */
export const VerdictRefuses = createContext(false);

/**
 * Renders the diagnostics of a worker request that was refused. If the displayed program itself is refused
 * ({@link VerdictRefuses}), renders only a line that refers to the program's verdict.
 */
export const RefusedWork = ({ list }: Pick<Props, "list">) =>
  useContext(VerdictRefuses) ? (
    <p class="soft">Nothing to show: the verdict says why the program is refused.</p>
  ) : (
    <Diagnostics list={list} />
  );
