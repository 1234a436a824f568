/** Contents of the tabs. */
import { useEffect, useState } from "preact/hooks";
import type { Tab } from "../page-state.js";
import type { WithInputs } from "../jobs/messages.js";
import { formatSizes } from "../../../ir/symbols/bind.js";
import type { Asked } from "../jobs/program.js";
import { long, quick } from "../workers.js";
import { Charts } from "./charts.js";
import { RefusedWork } from "./diagnostics.js";
import { useSettled } from "./space-map.js";
import type { StepsView } from "./steps.js";
import type { TuneView } from "./tune.js";
import { useAnswer, type Answer } from "./use-answer.js";

interface Props {
  readonly asked: WithInputs;
  readonly tab: Tab;
  readonly onUse: (flags: string, target: string) => void;
}

/** Renders the content of the result tab named by `tab`. */
export function TabPanel({ asked, tab, onUse }: Props) {
  const { inputs: _, seed, ...plain } = asked;
  const { text, func = "", sizes = {} } = plain;
  const key = useSettled(`${func} ${formatSizes(sizes)} ${text}`);
  switch (tab) {
    case "ir":
      return <Passes asked={plain} asks={key} />;
    case "tile-ir":
    case "wgsl":
    case "pto":
      return <Code asked={plain} asks={`${tab} ${key}`} form={tab} />;
    case "timeline":
      return <TimelineView asked={plain} asks={key} />;
    case "steps":
      return <StepsTab asked={asked} asks={`${key} ${seed}`} />;
    case "tune":
      return <TuneTab asked={asked} onUse={onUse} />;
  }
}

/** Titles of the result tabs on the page. */
export const tabTitles: Readonly<Record<Tab, string>> = {
  ir: "Passes",
  "tile-ir": "Tile IR",
  wgsl: "WGSL",
  pto: "PTO C++",
  timeline: "Timeline",
  steps: "Steps",
  tune: "Tune",
};

interface Asks {
  readonly asked: Asked;
  readonly asks: string;
}

/** Renders the Passes tab: for each compiler pass, the changes that the pass makes to the program. */
function Passes({ asked, asks }: Asks) {
  const found = useAnswer(quick, "passes", asked, asks);
  // Markup of the report, which escapes what it holds.
  return (
    <Waited
      found={found}
      show={(markup) => <div class="passes" dangerouslySetInnerHTML={{ __html: markup }} />}
    />
  );
}

/** Renders the tab with the tile IR, WGSL or PTO-ISA C++ of the program. */
function Code({ asked, asks, form }: Asks & { readonly form: "tile-ir" | "wgsl" | "pto" }) {
  const found = useAnswer(quick, "code", { ...asked, form }, asks);
  return (
    <Waited
      found={found}
      show={(code) => (
        <pre tabIndex={0} data-testid={`${form}-text`}>
          {code}
        </pre>
      )}
    />
  );
}

/** Renders the Timeline tab: charts of the kernel's estimated timing. */
function TimelineView({ asked, asks }: Asks) {
  const found = useAnswer(long, "timeline", asked, asks);
  return (
    <Waited
      found={found}
      show={(timeline) => (
        <Charts
          id="timeline-charts"
          of={timeline}
          draw={async (width) => (await import("./pictures.js")).timelineMarkup(timeline, width)}
        />
      )}
    />
  );
}

function StepsTab(props: Parameters<typeof StepsView>[0]) {
  const View = useView(() => import("./steps.js").then(({ StepsView }) => StepsView));
  return View === undefined ? <p class="soft">Working…</p> : <View {...props} />;
}

function TuneTab(props: Parameters<typeof TuneView>[0]) {
  const View = useView(() => import("./tune.js").then(({ TuneView }) => TuneView));
  return View === undefined ? <p class="soft">Working…</p> : <View {...props} />;
}

/**
 * Returns the component of a tab, which `load` loads when the tab is first shown. Returns undefined while the
 * component loads.
 */
function useView<T extends object>(load: () => Promise<T>): T | undefined {
  const [view, setView] = useState<T>();
  useEffect(() => {
    void load().then((loaded) => {
      setView(() => loaded);
    });
  }, []);
  return view;
}

/**
 * Renders the state of a worker request: a wait message, diagnostics, an error message, or the result
 * rendered by `show`.
 */
function Waited<T>({
  found,
  show,
}: {
  readonly found: Answer<T>;
  readonly show: (answer: T) => preact.ComponentChild;
}) {
  switch (found.state) {
    case "waiting":
      return <p class="soft">Working…</p>;
    case "refused":
      return <RefusedWork list={found.diagnostics} />;
    case "failed":
      return <p>{found.message}</p>;
    case "done":
      return <>{show(found.answer)}</>;
  }
}
