/** Compared schedules as one list, the fewest cycles first; a button applies one. */
import type { ScheduleText } from "../jobs/flags.js";
import type { Asked } from "../jobs/program.js";
import { quick } from "../workers.js";
import { useSettled } from "./space-map.js";
import { useAnswer } from "./use-answer.js";

interface Props {
  readonly asked: Asked;
  /** Everything that the list depends on. */
  readonly of: string;
  readonly onChoice: (entries: readonly ScheduleText[]) => void;
}

/**
 * Renders a table of the current schedule and the alternatives, sorted by cycles in ascending order, with a
 * button that applies each alternative. Renders nothing for fewer than two schedules.
 */
export function ComparedView({ asked, of, onChoice }: Props) {
  const settled = useSettled(of);
  const found = useAnswer(quick, "compared", settled === "" ? undefined : asked, settled);
  if (settled === "" || found.state !== "done" || found.answer.length < 2) return null;
  return (
    <section aria-label="compared schedules" data-testid="compared">
      <h2>Compared schedules</h2>
      <div class="scroll" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">cycles</th>
              <th scope="col">schedule</th>
              <th scope="col">why</th>
            </tr>
          </thead>
          <tbody>
            {found.answer.map(({ why, flags, entries, cycles }) => (
              <tr class={flags === "" ? "now" : ""} data-cycles={cycles}>
                <td class="number">{cycles.toLocaleString("en")}</td>
                <td>
                  {flags === "" ? (
                    "this one"
                  ) : (
                    <button
                      type="button"
                      // The list is for an earlier text until that has settled.
                      disabled={settled !== of}
                      onClick={() => {
                        onChoice(entries);
                      }}
                    >
                      {flags}
                    </button>
                  )}
                </td>
                <td>{flags === "" ? "" : why}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
