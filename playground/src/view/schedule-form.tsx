/** Target and schedule: a field for each entry, and a slider for each dim of the view. */
import { profileFacts } from "../../../ir/profile.js";
import { formatEntry, profiles, type Schedule } from "../../../ir/schedule.js";
import { scheduleEntries, wordsOf } from "../../../ir/schedule-entries.js";
import type { Shown, Vocabulary } from "../jobs/messages.js";
import type { ScheduleText } from "../jobs/flags.js";
import type { Change } from "../jobs/program.js";
import { Choice, TextField } from "./field.js";
import { isSchedulable, TileSliders } from "./tile-sliders.js";

interface Props {
  readonly shown: Shown;
  readonly vocabulary: Vocabulary;
  readonly onChange: (change: Change) => Promise<string>;
}

const chosen = ["", "default"] as const;

/** Help texts of schedule entries that need more words than the command line has for them. */
const helpFor: Readonly<Partial<Record<keyof Schedule, string>>> = {
  profile: profiles.map((name) => `${name}: ${profileFacts[name].stands}`).join("; "),
  residency: "ub: a full load into the unified buffer; gm: rows straight from global memory",
};

/**
 * Renders the form for target and schedule: a field for each schedule entry, and a slider for each dim of the
 * view.
 */
export function ScheduleForm({ shown, vocabulary, onChange }: Props) {
  const { schedule, target, level } = shown;
  const off = !isSchedulable(shown);
  const set = (entry: ScheduleText["entry"], text: string): Promise<string> =>
    onChange({ kind: "schedule", entries: [{ entry, text }] });
  const text = (entry: keyof Schedule): string => {
    const value = schedule[entry];
    return value === undefined ? "" : formatEntry(value);
  };
  return (
    <fieldset class="form">
      <legend>Target and schedule</legend>
      {level === "tile" ? (
        <p class="soft wide">A tile program has its schedule in its statements: change it in the editor.</p>
      ) : null}
      <Choice
        id="target"
        label="target"
        value={target ?? vocabulary.targets[0]?.name ?? ""}
        disabled={level === undefined}
        options={vocabulary.targets.map(({ name }) => [name, name])}
        help={vocabulary.targets.find(({ name }) => name === target)?.title ?? ""}
        onChoice={(name) => void onChange({ kind: "target", target: name })}
      />
      {Object.values(scheduleEntries).map((entry) => {
        const value = text(entry.key);
        const words = wordsOf(entry);
        const field = {
          id: entry.key,
          label: entry.text,
          help: helpFor[entry.key] ?? `${entry.help}${entry.usage ?? ""}; empty: the default`,
          value,
          disabled: off,
        };
        if (words.length === 0)
          return <TextField {...field} key={entry.key} onText={(typed) => set(entry.key, typed)} />;
        const options = [...new Set([...words, value])].filter((word) => word !== "");
        return (
          <Choice
            {...field}
            key={entry.key}
            options={[chosen, ...options.map((word) => [word, word] as const)]}
            onChoice={(word) => void set(entry.key, word)}
          />
        );
      })}
      <div class="wide">
        <TileSliders shown={shown} entry="view" onChange={onChange} />
      </div>
    </fieldset>
  );
}
