/** The part of the page with the program's text and its run. */
import type { Page } from "../page/use-page.js";
import { Action } from "./action.js";
import { Choice } from "./field.js";
import { RunView } from "./run.js";

/** Renders the editor, the choice of a function, undo and redo, and the run on the backends. */
export function ProgramSection({ page }: { readonly page: Page }) {
  const { shown, editor, state, update } = page;
  return (
    <section class="left" aria-label="program and run">
      <div class="row bar">
        {shown !== undefined && shown.names.length > 1 ? (
          <Choice
            id="function"
            label="function"
            value={shown.name ?? ""}
            options={shown.names.map((name) => [name, `@${name}`])}
            onChoice={(func) => {
              update({ func });
            }}
          />
        ) : (
          <h2>Program</h2>
        )}
        <Action id="undo" why={editor.depth.undo === 0 ? "nothing to undo" : ""} onAction={editor.undo}>
          Undo
        </Action>
        <Action id="redo" why={editor.depth.redo === 0 ? "nothing to redo" : ""} onAction={editor.redo}>
          Redo
        </Action>
      </div>
      {editor.isLoaded ? null : <pre class="editor">{state.text}</pre>}
      <div class="editor" ref={editor.parent} hidden={!editor.isLoaded} />
      <RunView
        asked={page.withInputs}
        why={whyNoRun(page)}
        onSeed={(seed) => {
          update({ seed });
        }}
      />
    </section>
  );
}

/** Returns the reason why the program cannot run on the backends; an empty text if the program can run. */
function whyNoRun({ judged, waits, invalid }: Page): string {
  if (judged === undefined) return "the compiler is loading";
  if (invalid.length > 0) return `the field ${invalid.join(", ")} is not valid`;
  // The inputs are those of the function that the verdict names.
  if (waits) return "the verdict on the program is awaited";
  return judged.verdict.legal ? "" : "the program is refused";
}
