/** The editor of the program's text. It is half of the page's code, so that the page loads it last. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Span } from "../../../ir/shape.js";
import type { Editor, HistoryDepth } from "../editor.js";
import { quick } from "../workers.js";
import type { Step } from "./use-changes.js";

/** Editor of the page. The editor's code is loaded later; until then, the functions do nothing. */
export interface PageEditor {
  /** Reference to the element that contains the editor. */
  readonly parent: { readonly current: HTMLDivElement | null };
  /** False until the editor's code is loaded. */
  readonly isLoaded: boolean;
  /** Numbers of steps that can be undone and redone. */
  readonly depth: HistoryDepth;
  readonly setText: (text: string, step: Step) => void;
  readonly goTo: (place: Span) => void;
  readonly undo: () => void;
  readonly redo: () => void;
}

/**
 * Returns the editor of the page, whose functions do nothing until the editor's code is loaded. Loading
 * starts once `isAwaited` is true. The editor begins with the text that `textNow` returns, and calls `onText`
 * with each text that the user enters.
 */
export function useEditor(
  isAwaited: boolean,
  textNow: () => string,
  onText: (text: string) => void,
): PageEditor {
  const [isLoaded, setLoaded] = useState(false);
  const [depth, setDepth] = useState<HistoryDepth>({ undo: 0, redo: 0 });
  const editor = useRef<Editor>(null);
  const parent = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isAwaited) return undefined;
    let current = true;
    void import("../editor.js").then(({ createEditor }) => {
      if (!current || parent.current === null) return;
      setLoaded(true);
      editor.current = createEditor(parent.current, {
        text: textNow(),
        worker: quick,
        onText,
        onHistory: setDepth,
      });
    });
    return () => {
      current = false;
      editor.current?.destroy();
    };
  }, [isAwaited]);
  return {
    parent,
    isLoaded,
    depth,
    setText: (text, step) => editor.current?.setText(text, step),
    goTo: ({ line, column }) => editor.current?.goTo({ line: line - 1, column: column - 1 }),
    undo: () => editor.current?.undo(),
    redo: () => editor.current?.redo(),
  };
}
