/** The page: program, tile with its verdict, and map beside one another; below, what becomes of the program. */
import { defined } from "../../ir/defined.js";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { entryOf } from "../../ir/entry-of.js";
import { formatEntry } from "../../ir/schedule.js";
import type { Span } from "../../ir/shape.js";
import type { Editor, HistoryDepth } from "./editor.js";
import { gallery } from "./gallery.js";
import { fragmentOf, leftBehind, stateOf } from "./link.js";
import type { PageState } from "./page-state.js";
import { Action } from "./view/action.js";
import { ComparedView } from "./view/compared.js";
import { CopyAs } from "./view/copy-as.js";
import { VerdictRefuses } from "./view/diagnostics.js";
import { Choice, InvalidFields } from "./view/field.js";
import { ProgramForm } from "./view/program-form.js";
import { RunView } from "./view/run.js";
import { SizesForm } from "./view/sizes-form.js";
import { ScheduleForm } from "./view/schedule-form.js";
import { SpaceMapView } from "./view/space-map.js";
import { TabPanel } from "./view/tab-panel.js";
import { Tabs } from "./view/tabs.js";
import { TileSliders } from "./view/tile-sliders.js";
import { failedAnswer } from "./view/use-answer.js";
import { VerdictView } from "./view/verdict.js";
import type { Opened, Shown, Vocabulary, WithInputs } from "./jobs/messages.js";
import { entriesOf, type ScheduleText } from "./jobs/flags.js";
import type { Change } from "./jobs/program.js";
import { long, quick } from "./workers.js";

const noInputs = {};
const linkDelayMs = 250;

/** A link's fragment that this page wrote itself changes nothing. */
let written = "";

/**
 * Renders the playground page: editor, tile and verdict, and map beside one another, results below. `first` is
 * the initial state of the page.
 */
export function App({ first }: { readonly first: PageState }) {
  const [state, setState] = useState(first);
  const [{ shown, of }, setShown] = useState<Judged>({ of: "" });
  const [vocabulary, setVocabulary] = useState<Vocabulary>();
  const [notes, setNotes] = useState<readonly string[]>([]);
  const [example, setExample] = useState("");
  const [depth, setDepth] = useState<HistoryDepth>({ undo: 0, redo: 0 });
  const [invalid, setInvalid] = useState<readonly string[]>([]);
  const editor = useRef<Editor>(null);
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef(state);
  latest.current = state;
  const update = useCallback((change: Partial<PageState>): void => {
    latest.current = { ...latest.current, ...change };
    setState(latest.current);
  }, []);

  const tellInvalid = useCallback((label: string, wrong: boolean): void => {
    setInvalid((labels) => [...labels.filter((one) => one !== label), ...(wrong ? [label] : [])]);
  }, []);

  useEffect(() => {
    void quick.call("vocabulary", null).then(setVocabulary);
  }, []);

  // The editor is half of the page's code: the first verdict does not wait for it.
  const [isJudged, setJudged] = useState(false);
  const [hasEditor, setHasEditor] = useState(false);
  useEffect(() => {
    if (!isJudged) return undefined;
    let current = true;
    void import("./editor.js").then(({ createEditor }) => {
      const parent = place.current;
      if (!current || parent === null) return;
      setHasEditor(true);
      editor.current = createEditor(parent, {
        text: latest.current.text,
        worker: quick,
        onText: (text) => {
          update({ text });
        },
        onHistory: setDepth,
      });
    });
    return () => {
      current = false;
      editor.current?.destroy();
    };
  }, [isJudged]);

  const known = useRef("");
  const show = useVerdict(setShown);
  useEffect(() => {
    const key = keyOf(state);
    if (known.current === key) return;
    known.current = key;
    show(key, quick.call("show", askedOf(state)))
      .catch((thrown: unknown) => {
        known.current = "";
        setNotes(wordsOf(thrown));
      })
      .finally(() => {
        setJudged(true);
      });
  }, [state.text, state.func]);

  const load = useCallback((opened: Opened, inputs = opened.inputs): void => {
    const { text, func, notes: said } = opened;
    const { func: _, ...others } = latest.current;
    setNotes(said);
    latest.current = { ...others, text, inputs, ...defined({ func }) };
    setState(latest.current);
    editor.current?.setText(text, "own");
  }, []);

  useEffect(() => {
    const timer = setTimeout(() => {
      void fragmentOf(state).then((fragment) => {
        written = `#${fragment}`;
        history.replaceState(null, "", written);
      });
    }, linkDelayMs);
    return () => {
      clearTimeout(timer);
    };
  }, [state]);

  useEffect(() => {
    const follow = (): void => {
      if (location.hash === written || location.hash === "") return;
      void stateOf(location.hash.slice(1)).then((linked) => {
        if (linked === undefined) {
          setNotes(["The link holds no program of this page: it was cut, or made by something else."]);
          return;
        }
        latest.current = linked;
        setState(linked);
        editor.current?.setText(linked.text, "own");
      });
    };
    addEventListener("hashchange", follow);
    return () => {
      removeEventListener("hashchange", follow);
    };
  }, []);

  const open = useCallback(async (file: File): Promise<void> => {
    try {
      const { text, func, inputs } = latest.current;
      const bytes = new Uint8Array(await file.arrayBuffer());
      const asked = { text, ...defined({ func }), inputs, name: file.name, bytes };
      load(await long.call("open", asked));
      setExample("");
    } catch (thrown) {
      setNotes(wordsOf(thrown));
    }
  }, []);
  useDrop(open);

  const choose = async (id: string): Promise<void> => {
    if (id === "") return;
    setExample(id);
    try {
      load(await quick.call("example", { id }));
    } catch (thrown) {
      setNotes(wordsOf(thrown));
    }
  };

  const change = useChanges((next, step) => {
    performance.mark("changed");
    const asked = askedOf(latest.current);
    return quick.call("edit", { ...asked, change: next }).then(({ text, shown: fresh }) => {
      known.current = keyOf({ ...latest.current, text });
      update({ text });
      editor.current?.setText(text, step);
      return show(known.current, Promise.resolve(fresh));
    });
  });
  useLayoutEffect(() => {
    if (shown !== undefined && performance.getEntriesByName("changed").length > 0) {
      performance.measure("verdict", "changed");
      performance.clearMarks("changed");
    }
  }, [shown]);

  const setSchedule = (entries: readonly ScheduleText[]): void => {
    void change({ kind: "schedule", entries }, "own");
  };
  const inputs = entryOf(state.inputs, shown?.name ?? "") ?? noInputs;
  const asked: WithInputs = { ...askedOf(state), inputs, seed: state.seed };
  /** Once its verdict is drawn, which needs the words of the forms too. */
  const judged = vocabulary === undefined ? undefined : shown;
  // Nothing runs on the verdict of another text: the inputs are those of the function that the verdict names.
  const waits = of !== keyOf(state);
  const legal = shown?.verdict.legal === true && !waits;
  const left = leftBehind(state);
  const goTo = ({ line, column }: Span): void => editor.current?.goTo({ line: line - 1, column: column - 1 });

  return (
    <InvalidFields.Provider value={tellInvalid}>
      <VerdictRefuses.Provider value={shown?.verdict.legal === false}>
        <header>
          <div class="title">
            <h1>tilec playground</h1>
            <p>
              Drag a tile of a gather kernel: see whether it fits a core's memory, its estimated cycles and
              its code. <a href="./docs/playground.html">Documentation</a>
            </p>
          </div>
          <Choice
            id="gallery"
            label="example"
            value={example}
            options={[["", "choose an example"], ...gallery.map(({ id, title }) => [id, title] as const)]}
            onChoice={(id) => void choose(id)}
          />
          <label class="file">
            Open a file
            <input
              type="file"
              accept=".tir,.json,.onnx,.npy"
              data-testid="open"
              onChange={(event) => {
                const [file] = event.currentTarget.files ?? [];
                if (file !== undefined) void open(file);
                event.currentTarget.value = "";
              }}
            />
          </label>
          <CopyAs
            asked={asked}
            link={async () => new URL(`#${await fragmentOf(state)}`, location.href).href}
          />
        </header>
        <div role="status" class="notes" data-testid="notes">
          {notes.map((note) => (
            <p>{note}</p>
          ))}
          {left.length === 0 ? null : (
            <p>A link leaves behind inputs that are too large for it: those of {left.join(", ")}.</p>
          )}
        </div>
        <main>
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
              <Action
                id="undo"
                why={depth.undo === 0 ? "nothing to undo" : ""}
                onAction={() => editor.current?.undo()}
              >
                Undo
              </Action>
              <Action
                id="redo"
                why={depth.redo === 0 ? "nothing to redo" : ""}
                onAction={() => editor.current?.redo()}
              >
                Redo
              </Action>
            </div>
            {hasEditor ? null : <pre class="editor">{state.text}</pre>}
            <div class="editor" ref={place} hidden={!hasEditor} />
            <RunView
              asked={asked}
              why={whyNoRun(judged, waits, invalid)}
              onSeed={(seed) => {
                update({ seed });
              }}
            />
          </section>
          <section class="middle" aria-label="tile and verdict">
            <h2>Tile, in elements</h2>
            {judged === undefined || vocabulary === undefined ? (
              <p role="status">Loading the compiler…</p>
            ) : (
              <>
                <TileSliders shown={judged} entry="tile" onChange={change} />
                <VerdictView
                  verdict={judged.verdict}
                  invalid={invalid}
                  waits={waits}
                  onPlace={goTo}
                  onSuggestion={setSchedule}
                />
                <ComparedView asked={askedOf(state)} of={legal ? of : ""} onChoice={setSchedule} />
              </>
            )}
          </section>
          <section class="right" aria-label="map">
            {judged === undefined ? null : (
              <SpaceMapView
                asked={askedOf(state)}
                space={judged.space}
                tile={(judged.schedule.tile ?? judged.verdict.explained?.schedule.tile ?? []).join()}
                onCell={({ tile, residency }) => {
                  const used = judged.verdict.explained?.schedule.residency;
                  const now = used === undefined ? undefined : formatEntry(used);
                  setSchedule([
                    { entry: "tile", text: tile.join() },
                    ...(now === residency ? [] : [{ entry: "residency" as const, text: residency }]),
                  ]);
                }}
              />
            )}
          </section>
          <section class="forms" aria-label="program and schedule as forms">
            {judged === undefined || vocabulary === undefined ? null : (
              <>
                <ProgramForm key={judged.name} shown={judged} vocabulary={vocabulary} onChange={change} />
                <SizesForm
                  symbols={judged.symbols}
                  sizes={state.sizes}
                  onSizes={(sizes) => {
                    update({ sizes });
                  }}
                />
                <ScheduleForm key={judged.name} shown={judged} vocabulary={vocabulary} onChange={change} />
              </>
            )}
          </section>
          <section class="results" aria-label="results">
            <Tabs
              tab={state.tab}
              onTab={(tab) => {
                update({ tab });
              }}
            />
            <div
              class="panel"
              role="tabpanel"
              id="panel"
              aria-labelledby={`tab-${state.tab}`}
              data-testid={`${state.tab}-panel`}
            >
              {/* The first verdict comes first: what the tabs show takes a worker of its own. */}
              {judged === undefined ? null : (
                <TabPanel
                  asked={asked}
                  tab={state.tab}
                  onUse={(flags, target) => void followFlags(change, flags, target, judged.target)}
                />
              )}
            </div>
          </section>
        </main>
      </VerdictRefuses.Provider>
    </InvalidFields.Provider>
  );
}

/** Returns the reason why the program cannot run on the backends; empty if it can. */
function whyNoRun(judged: Shown | undefined, waits: boolean, invalid: readonly string[]): string {
  if (judged === undefined) return "the compiler is loading";
  if (invalid.length > 0) return `the field ${invalid.join(", ")} is not valid`;
  if (waits) return "the verdict on the program is awaited";
  return judged.verdict.legal ? "" : "the program is refused";
}

const askedOf = ({ text, func, sizes }: PageState) => ({
  text,
  sizes,
  ...defined({ func }),
});
const keyOf = ({ text, func }: PageState): string => `${func ?? ""}\n${text}`;

interface Judged {
  /** Absent until the compiler is loaded. */
  readonly shown?: Shown;
  /** The key of the state that it is of. */
  readonly of: string;
}

/**
 * Returns a callback that waits for the promise `coming`, and then calls `set` with the page data and `of`.
 * `of` is the key of the page state that the data belong to. If the callback is called again before `coming`
 * settles, the result or error of the earlier call is dropped.
 */
function useVerdict(set: (judged: Judged) => void): (of: string, coming: Promise<Shown>) => Promise<void> {
  const turn = useRef(0);
  return useCallback(async (of: string, coming: Promise<Shown>): Promise<void> => {
    const mine = ++turn.current;
    try {
      const shown = await coming;
      if (mine === turn.current) set({ shown, of });
    } catch (thrown) {
      if (mine === turn.current) throw thrown;
    }
  }, []);
}

/**
 * Returns the messages that the page shows for a caught error. An error with diagnostics (a refused request)
 * gives one message for each diagnostic; any other error gives one message.
 */
function wordsOf(thrown: unknown): readonly string[] {
  const failed = failedAnswer(thrown);
  return failed.state === "refused"
    ? failed.diagnostics.map(
        ({ code, message, hint }) => `${code}: ${message}${hint === undefined ? "" : `. Try: ${hint}`}`,
      )
    : [failed.message];
}

type Step = Parameters<Editor["setText"]>[1];

/**
 * Returns a callback that passes changes of the program to `apply`, one at a time. A waiting change is
 * dropped when a later change of the same item arrives, such as the same schedule entry or attribute. `step`
 * states how the editor undoes the change: alone (`own`), or together with others in quick succession
 * (`joined`, the default). The callback's promise resolves to an error message, or to an empty string if the
 * change succeeded or was dropped.
 */
function useChanges(
  apply: (change: Change, step: Step) => Promise<void>,
): (change: Change, step?: Step) => Promise<string> {
  const latest = useRef(apply);
  latest.current = apply;
  const busy = useRef(Promise.resolve());
  const waiting = useRef(new Map<string, Change>());
  return useCallback((change: Change, step: Step = "joined"): Promise<string> => {
    const slot = slotOf(change);
    waiting.current.delete(slot);
    waiting.current.set(slot, change);
    const done = busy.current.then(async () => {
      if (waiting.current.get(slot) !== change) return "";
      waiting.current.delete(slot);
      try {
        await latest.current(change, step);
        return "";
      } catch (thrown) {
        return wordsOf(thrown).join(" ");
      }
    });
    busy.current = done.then(() => undefined);
    return done;
  }, []);
}

const slotOf = (change: Change): string => {
  switch (change.kind) {
    case "schedule":
      return `schedule ${change.entries.map(({ entry }) => entry).join()}`;
    case "type":
      return `type ${change.operand}`;
    case "attr":
      return `attr ${change.key}`;
    case "operator":
      return `operator ${Object.keys(change).join()}`;
    case "oob":
    case "target":
      return change.kind;
  }
};

/**
 * Changes the program's target to `target` and its schedule entries to those in `flags`, through the callback
 * `change`. The target is changed first, and only if it differs from `now`, the current target. Each change
 * is a separate undo step of the editor.
 */
async function followFlags(
  change: (change: Change, step: Step) => Promise<string>,
  flags: string,
  target: string,
  now: string | undefined,
): Promise<void> {
  if (target !== now) await change({ kind: "target", target }, "own");
  await change({ kind: "schedule", entries: entriesOf(flags) }, "own");
}

/**
 * Installs listeners that call `open` with the first file that is dropped on the page. The listeners run in
 * the capture phase, so that the editor does not insert the text of the file.
 */
function useDrop(open: (file: File) => Promise<void>): void {
  useEffect(() => {
    const over = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes("Files") === true) event.preventDefault();
    };
    const drop = (event: DragEvent): void => {
      const [file] = event.dataTransfer?.files ?? [];
      if (file === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      void open(file);
    };
    // Before the editor, which would take the text of a file.
    addEventListener("dragover", over, true);
    addEventListener("drop", drop, true);
    return () => {
      removeEventListener("dragover", over, true);
      removeEventListener("drop", drop, true);
    };
  }, []);
}
