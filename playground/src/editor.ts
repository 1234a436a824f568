/**
 * The editor of programs: the language server's diagnostics, fixes, completions and hovers, from a worker.
 */
import type { CompletionContext } from "@codemirror/autocomplete";
import {
  defaultKeymap,
  history,
  historyKeymap,
  isolateHistory,
  redo,
  redoDepth,
  undo,
  undoDepth,
} from "@codemirror/commands";
import { lintGutter, linter, lintKeymap, type Diagnostic as Lint } from "@codemirror/lint";
import { Compartment, EditorState, type Extension, type Text } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  hoverTooltip,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import type { TextPosition, TextRange } from "../../src/lsp/analysis.js";
import { tirHighlighting } from "./tir-highlighting.js";
import type { Problem } from "./jobs/messages.js";
import type { Client } from "./jobs/client.js";

/**
 * Controls of the code editor on the page: replace the text, move the cursor, undo, redo, and remove the
 * editor.
 */
export interface Editor {
  /**
   * Replaces the text as one undo step. With `joined`, changes in quick succession form one step together, as
   * when a slider is dragged.
   */
  setText(text: string, step: "own" | "joined"): void;
  goTo(place: TextPosition): void;
  undo(): void;
  redo(): void;
  destroy(): void;
}

/** Numbers of steps of the editor's history that can be undone and redone. */
export interface HistoryDepth {
  readonly undo: number;
  readonly redo: number;
}

/**
 * Options of {@link createEditor}: the initial text, the worker that analyses programs, and callbacks for
 * changes of the text and of the history.
 */
export interface EditorOptions {
  readonly text: string;
  readonly worker: Client;
  readonly onText: (text: string) => void;
  readonly onHistory: (depth: HistoryDepth) => void;
}

const lintDelayMs = 200;

/**
 * Creates a CodeMirror editor for `.tir` programs inside `parent`. The worker supplies diagnostics, fixes,
 * completions and hover texts.
 */
export function createEditor(
  parent: HTMLElement,
  { text, worker, onText, onHistory }: EditorOptions,
): Editor {
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        EditorView.lineWrapping,
        tirHighlighting,
        problems(worker),
        lintGutter(),
        hoverTexts(worker),
        completion(worker),
        keymap.of([...historyKeymap, ...lintKeymap, ...defaultKeymap]),
        EditorView.contentAttributes.of({ "data-testid": "program", "aria-label": "program" }),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          onText(update.state.doc.toString());
          onHistory({ undo: undoDepth(update.state), redo: redoDepth(update.state) });
        }),
      ],
    }),
  });
  return {
    setText(next, step) {
      const changes = difference(view.state.doc.toString(), next);
      if (changes === undefined) return;
      const annotations = step === "own" ? [isolateHistory.of("full")] : [];
      // History joins what is typed.
      view.dispatch({ changes, annotations, userEvent: "input.type" });
    },
    goTo(place) {
      view.dispatch({ selection: { anchor: offsetOf(view.state.doc, place) }, scrollIntoView: true });
      view.focus();
    },
    undo: () => undo(view),
    redo: () => redo(view),
    destroy() {
      view.destroy();
    },
  };
}

/** Returns the extension that shows diagnostics and fixes. */
const problems = (worker: Client): Extension =>
  linter(
    async (view) => {
      const { doc } = view.state;
      const found = await worker.call("problems", { text: doc.toString() });
      if (view.state.doc !== doc) return [];
      return found.map((problem) => lintOf(problem, doc));
    },
    { delay: lintDelayMs },
  );

/** Returns the extension that shows hover texts. */
const hoverTexts = (worker: Client): Extension =>
  hoverTooltip(async (view, pos) => {
    const line = view.state.doc.lineAt(pos);
    const place = { line: line.number - 1, column: pos - line.from };
    const said = await worker.call("hover", { text: view.state.doc.toString(), ...place });
    if (said === null) return null;
    return {
      pos,
      create: () => {
        const dom = document.createElement("div");
        dom.className = "hover";
        dom.textContent = said;
        return { dom };
      },
    };
  });

/**
 * Returns the extension that completes words. It is loaded when the editor first has the focus: the first
 * verdict does not wait for it.
 */
function completion(worker: Client): Extension {
  const complete = async ({ state, pos, explicit }: CompletionContext) => {
    const line = state.doc.lineAt(pos);
    if (!explicit && !/[\w.{,="]$/.test(line.text.slice(0, pos - line.from))) return null;
    const found = await worker.call("complete", {
      text: state.doc.toString(),
      line: line.number - 1,
      column: pos - line.from,
    });
    return found === null ? null : { from: line.from + found.from, options: [...found.options] };
  };
  const loaded = new Compartment();
  const load = async (view: EditorView): Promise<void> => {
    const { autocompletion, completionKeymap } = await import("@codemirror/autocomplete");
    const extension = [autocompletion({ override: [complete] }), keymap.of(completionKeymap)];
    view.dispatch({ effects: loaded.reconfigure(extension) });
  };
  let isLoaded = false;
  const onFocus = EditorView.domEventHandlers({
    focus(_, view) {
      if (!isLoaded) void load(view);
      isLoaded = true;
    },
  });
  return [loaded.of([]), onFocus];
}

/**
 * Returns the edit that turns `before` into `after`, without the common prefix and suffix. `from` and `to`
 * are character offsets in `before`. Returns undefined if the texts are equal.
 */
function difference(
  before: string,
  after: string,
): { readonly from: number; readonly to: number; readonly insert: string } | undefined {
  if (before === after) return undefined;
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  return { from: start, to: before.length - end, insert: after.slice(start, after.length - end) };
}

function offsetOf(doc: Text, { line, column }: TextPosition): number {
  const found = doc.line(Math.min(Math.max(1, line + 1), doc.lines));
  return Math.min(found.from + column, found.to);
}

const offsetsOf = (doc: Text, { start, end }: TextRange): { readonly from: number; readonly to: number } => ({
  from: offsetOf(doc, start),
  to: offsetOf(doc, end),
});

/**
 * Converts a diagnostic from a worker to a CodeMirror diagnostic. A fix of the problem becomes an action in
 * the editor.
 */
function lintOf({ diagnostic, range, fix }: Problem, doc: Text): Lint {
  const { code, severity, message, notes = [], hint } = diagnostic;
  return {
    ...offsetsOf(doc, range),
    severity,
    source: code,
    message: [message, ...notes, ...(hint === undefined ? [] : [`Try: ${hint}`])].join("\n"),
    ...(fix === undefined
      ? {}
      : {
          actions: [
            {
              name: `Use ${fix.title}`,
              apply(view: EditorView) {
                view.dispatch({ changes: { ...offsetsOf(view.state.doc, fix.range), insert: fix.text } });
              },
            },
          ],
        }),
  };
}
