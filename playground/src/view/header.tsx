/** The head of the page: what it is, and from where a program comes. */
import { gallery } from "../gallery.js";
import { fragmentOf, leftBehind } from "../link.js";
import type { Page } from "../page/use-page.js";
import { CopyAs } from "./copy-as.js";
import { Choice } from "./field.js";

/**
 * Renders the header of the page: title, menu of examples, button that opens a file, and controls that copy
 * the program or a link to the page.
 */
export function Header({ page }: { readonly page: Page }) {
  return (
    <header>
      <div class="title">
        <h1>tilec playground</h1>
        <p>
          Drag a tile of a gather kernel: see whether it fits a core's memory, its estimated cycles and its
          code. <a href="./docs/playground.html">Documentation</a>
        </p>
      </div>
      <Choice
        id="gallery"
        label="example"
        value={page.example}
        options={[["", "choose an example"], ...gallery.map(({ id, title }) => [id, title] as const)]}
        onChoice={page.openExample}
      />
      <label class="file">
        Open a file
        <input
          type="file"
          accept=".tir,.json,.onnx,.npy"
          data-testid="open"
          onChange={(event) => {
            const [file] = event.currentTarget.files ?? [];
            if (file !== undefined) page.openFile(file);
            event.currentTarget.value = "";
          }}
        />
      </label>
      <CopyAs
        asked={page.withInputs}
        link={async () => new URL(`#${await fragmentOf(page.state)}`, location.href).href}
      />
    </header>
  );
}

/** Renders the messages about opened files, examples and links. */
export function Notes({ page: { notes, state } }: { readonly page: Page }) {
  const left = leftBehind(state);
  return (
    <div role="status" class="notes" data-testid="notes">
      {notes.map((note) => (
        <p>{note}</p>
      ))}
      {left.length === 0 ? null : (
        <p>A link leaves behind inputs that are too large for it: those of {left.join(", ")}.</p>
      )}
    </div>
  );
}
