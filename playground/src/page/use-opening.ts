/** Files and examples that the user opens in place of the page's program. */
import { useState } from "preact/hooks";
import { defined } from "../../../ir/defined.js";
import type { Opened } from "../jobs/messages.js";
import { long, quick } from "../workers.js";
import { errorTexts } from "./error-text.js";
import type { PageEditor } from "./use-editor.js";
import type { HeldState } from "./use-page-state.js";

/** Example that the page shows, and functions that open another example or a file. */
export interface Opening {
  /** Id of the chosen example; empty if the program is from elsewhere. */
  readonly example: string;
  /** Opens an example; does nothing if `id` is empty. */
  readonly openExample: (id: string) => void;
  readonly openFile: (file: File) => void;
}

/**
 * Returns the chosen example and functions that open examples and files. A function replaces the page's state
 * and the editor's text, and passes messages on the file or example to `setNotes`, errors included.
 */
export function useOpening(
  { latest, replace }: Pick<HeldState, "latest" | "replace">,
  { setText }: Pick<PageEditor, "setText">,
  setNotes: (notes: readonly string[]) => void,
): Opening {
  const [example, setExample] = useState("");
  const load = ({ text, func, notes, inputs }: Opened): void => {
    const { func: _, ...others } = latest();
    setNotes(notes);
    replace({ ...others, text, inputs, ...defined({ func }) });
    setText(text, "own");
  };
  const openFile = async (file: File): Promise<void> => {
    const { text, func, inputs } = latest();
    const bytes = new Uint8Array(await file.arrayBuffer());
    load(await long.call("open", { text, ...defined({ func }), inputs, name: file.name, bytes }));
    setExample("");
  };
  const openExample = async (id: string): Promise<void> => {
    setExample(id);
    load(await quick.call("example", { id }));
  };
  const noteErrors = (opening: Promise<void>): void => {
    opening.catch((thrown: unknown) => {
      setNotes(errorTexts(thrown));
    });
  };
  return {
    example,
    openExample: (id) => {
      if (id !== "") noteErrors(openExample(id));
    },
    openFile: (file) => {
      noteErrors(openFile(file));
    },
  };
}
