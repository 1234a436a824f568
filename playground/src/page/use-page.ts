/** Data of the page that its parts draw, and functions that change the data. */
import { useCallback, useEffect, useLayoutEffect, useState } from "preact/hooks";
import { entryOf } from "../../../ir/entry-of.js";
import type { ScheduleText } from "../jobs/flags.js";
import type { Shown, Vocabulary, WithInputs } from "../jobs/messages.js";
import type { Asked } from "../jobs/program.js";
import type { Inputs, PageState } from "../page-state.js";
import { quick } from "../workers.js";
import { errorTexts } from "./error-text.js";
import { askedOf, keyOf } from "./page-program.js";
import { useChanges } from "./use-changes.js";
import { useDrop } from "./use-drop.js";
import { useEditor, type PageEditor } from "./use-editor.js";
import { useLink } from "./use-link.js";
import { useOpening, type Opening } from "./use-opening.js";
import { usePageState } from "./use-page-state.js";
import { useVerdict } from "./use-verdict.js";

/** State of the page, the values that the parts of the page draw, and the functions that change the state. */
export interface Page extends Opening {
  readonly state: PageState;
  readonly update: (change: Partial<PageState>) => void;
  readonly editor: PageEditor;
  /** Content for the program that was checked last; undefined until the compiler is loaded. */
  readonly shown: Shown | undefined;
  /** Value of `shown`; undefined until the options of the drop-down lists are also loaded. */
  readonly judged: Shown | undefined;
  /** Key of the text that `shown` belongs to. */
  readonly of: string;
  /** True while `shown` belongs to an earlier text. */
  readonly waits: boolean;
  readonly vocabulary: Vocabulary | undefined;
  /** Messages on opened files, examples and links. */
  readonly notes: readonly string[];
  /** Labels of the fields whose text is invalid. */
  readonly invalid: readonly string[];
  readonly setInvalid: (label: string, wrong: boolean) => void;
  /** Program and sizes, as a worker takes them. */
  readonly asked: Asked;
  /** Program, sizes and inputs, as a worker takes them. */
  readonly withInputs: WithInputs;
  readonly change: ReturnType<typeof useChanges>;
  readonly setSchedule: (entries: readonly ScheduleText[]) => void;
}

const noInputs: Inputs = {};

/**
 * Returns the state of the page (initially `first`), the values that the parts of the page draw, and the
 * functions that change the state.
 */
export function usePage(first: PageState): Page {
  const { state, latest, replace, update } = usePageState(first);
  const [vocabulary, setVocabulary] = useState<Vocabulary>();
  const [notes, setNotes] = useState<readonly string[]>([]);
  const [invalid, setInvalids] = useState<readonly string[]>([]);
  const setInvalid = useCallback((label: string, wrong: boolean): void => {
    setInvalids((labels) => [...labels.filter((one) => one !== label), ...(wrong ? [label] : [])]);
  }, []);

  useEffect(() => {
    void quick.call("vocabulary", null).then(setVocabulary);
  }, []);

  const { shown, of, isJudged, show } = useVerdict(state, (thrown) => {
    setNotes(errorTexts(thrown));
  });
  // The first verdict does not wait for the editor.
  const editor = useEditor(
    isJudged,
    () => latest().text,
    (text) => {
      update({ text });
    },
  );

  const opening = useOpening({ latest, replace }, editor, setNotes);
  useLink(state, (linked) => {
    if (linked === undefined) {
      setNotes(["The link holds no program of this page: it was cut, or made by something else."]);
      return;
    }
    replace(linked);
    editor.setText(linked.text, "own");
  });

  const change = useChanges((next, step) => {
    performance.mark("changed");
    return quick.call("edit", { ...askedOf(latest()), change: next }).then(({ text, shown: fresh }) => {
      const judging = show(keyOf({ ...latest(), text }), Promise.resolve(fresh));
      update({ text });
      editor.setText(text, step);
      return judging;
    });
  });
  useVerdictTime(shown);
  useDrop(opening.openFile);

  return {
    state,
    update,
    editor,
    shown,
    judged: vocabulary === undefined ? undefined : shown,
    of,
    waits: of !== keyOf(state),
    vocabulary,
    notes,
    invalid,
    setInvalid,
    ...opening,
    asked: askedOf(state),
    withInputs: {
      ...askedOf(state),
      inputs: entryOf(state.inputs, shown?.name ?? "") ?? noInputs,
      seed: state.seed,
    },
    change,
    setSchedule: (entries) => {
      void change({ kind: "schedule", entries }, "own");
    },
  };
}

/**
 * Measures, as `verdict`, the time from the mark `changed` until the page shows the verdict on the change.
 */
function useVerdictTime(shown: Shown | undefined): void {
  useLayoutEffect(() => {
    if (shown !== undefined && performance.getEntriesByName("changed").length > 0) {
      performance.measure("verdict", "changed");
      performance.clearMarks("changed");
    }
  }, [shown]);
}
