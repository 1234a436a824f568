/** Target and schedule: words, and a slider for each dim of the tile and of the view. */
import { formatBuffers, formatResidency } from "../../../ir/schedule.js";
import type { Shown, Vocabulary } from "../jobs/messages.js";
import type { ScheduleText } from "../jobs/flags.js";
import type { Change } from "../jobs/program.js";
import { Choice, TextField } from "./field.js";

interface Props {
  readonly shown: Shown;
  readonly vocabulary: Vocabulary;
  readonly onChange: (change: Change) => Promise<string>;
}

const chosen = ["", "default"] as const;

export function ScheduleForm({ shown, vocabulary, onChange }: Props) {
  const { schedule, target, level, output, verdict } = shown;
  const off = level === undefined || level === "tile";
  const set = (entry: ScheduleText["entry"], text: string): Promise<string> =>
    onChange({ kind: "schedule", entries: [{ entry, text }] });
  const used = verdict.explained?.schedule;
  const text = (entry: "tile" | "view" | "order"): string => schedule[entry]?.join() ?? "";
  const copies = schedule.buffers === undefined ? "" : formatBuffers(schedule.buffers);
  const residency = schedule.residency === undefined ? "" : formatResidency(schedule.residency);
  const residencies = [...new Set([...vocabulary.residencies, residency])].filter((word) => word !== "");
  const sliders = (entry: "tile" | "view", label: string) =>
    output.map((extent, d) => {
      const entries = schedule[entry] ?? used?.[entry] ?? output;
      const value = Math.min(entries[d] ?? extent, Math.max(1, extent));
      return (
        <label class="slider" key={`${entry}-${d}`}>
          <span>
            {label} dim {d}
          </span>
          <input
            type="range"
            data-testid={`${entry}-${d}`}
            min={1}
            max={Math.max(1, extent)}
            step={1}
            value={value}
            disabled={off}
            aria-valuetext={`${value} of ${extent} elements`}
            onInput={(event) => {
              const moved = Number(event.currentTarget.value);
              void set(entry, output.map((size, k) => (k === d ? moved : (entries[k] ?? size))).join());
            }}
          />
          <output>
            {value} / {extent}
          </output>
        </label>
      );
    });
  return (
    <fieldset class="form">
      <legend>Target and schedule</legend>
      <Choice
        id="target"
        label="target"
        value={target ?? vocabulary.targets[0]?.name ?? ""}
        disabled={level === undefined}
        options={vocabulary.targets.map(({ name }) => [name, name])}
        help={vocabulary.targets.find(({ name }) => name === target)?.title ?? ""}
        onChoice={(name) => void onChange({ kind: "target", target: name })}
      />
      <Choice
        id="profile"
        label="profile"
        help="strict: the written full-load rule; head: only the input's gather dim must be whole"
        value={schedule.profile ?? ""}
        disabled={off}
        options={[chosen, ...vocabulary.profiles.map((word) => [word, word] as const)]}
        onChoice={(word) => void set("profile", word)}
      />
      <Choice
        id="residency"
        label="residency"
        help="ub: a full load into the unified buffer; gm: rows straight from global memory"
        value={residency}
        disabled={off}
        options={[chosen, ...residencies.map((word) => [word, word] as const)]}
        onChoice={(word) => void set("residency", word)}
      />
      <TextField
        id="buffers"
        label="buffers"
        help="copies of what the loops move: 2, or by operand as in indices=2,output=2"
        value={copies}
        disabled={off}
        onText={(typed) => set("buffers", typed)}
      />
      <TextField
        id="order"
        label="order"
        help="output dims, outermost loop first, such as 1,0"
        value={text("order")}
        disabled={off}
        onText={(typed) => set("order", typed)}
      />
      <TextField
        id="tile"
        label="tile"
        help="extents over the output dims, such as 8,64; empty: the compiler's choice"
        value={text("tile")}
        disabled={off}
        onText={(typed) => set("tile", typed)}
      />
      <TextField
        id="view"
        label="view"
        help="splits the iteration before the tile does; empty: the whole output"
        value={text("view")}
        disabled={off}
        onText={(typed) => set("view", typed)}
      />
      <div class="sliders wide">
        {sliders("tile", "tile")}
        {sliders("view", "view")}
      </div>
    </fieldset>
  );
}
