/**
 * The search by what is exact: cycles of the clock, or bytes. The answer is the same on every machine and in
 * every order.
 */
import { pause, sliceMs } from "../../backends/long-run.js";
import { concluded } from "./conclude.js";
import { costedBy, type Costed } from "./costed.js";
import { cut, inShard } from "./cut.js";
import { deadlineOf, defaultBudget, scheduleLabel, type Search } from "./options.js";
import type { Candidate, TuneResult } from "./result.js";

/**
 * Searches schedules by estimated cycles or by bytes, and resolves to the result. The result is the same on
 * every machine if the budget is not a time and the search is not aborted.
 */
export async function searchExact(search: Search): Promise<TuneResult> {
  const { task, space, defaultId, options } = search;
  const { budget = defaultBudget, shard, cached, signal } = options;
  const list = cut(space, defaultId, budget);
  const mine = list.filter(({ facts }) => facts.id === defaultId || inShard(facts.id, shard));
  options.onSpace?.(
    task,
    space,
    [
      { why: "budget", count: space.entries.length - list.length },
      { why: "length", count: space.longTiles },
    ],
    defaultId,
  );
  const ends = deadlineOf(budget);
  const candidates: Candidate[] = [];
  let until = performance.now() + sliceMs;
  for (const entry of mine) {
    if (candidates.length > 0 && (signal?.aborted === true || performance.now() > ends)) break;
    // Passes of the user's say more of a candidate than its cost.
    const before = task.passes === undefined ? cached?.get(entry.facts.id) : undefined;
    const candidate: Candidate =
      before?.cost === undefined
        ? estimated(costedBy(search, entry))
        : { ...entry.facts, ...before.cost, status: "estimated" };
    candidates.push(candidate);
    if (before?.cost === undefined) options.onCandidate?.(candidate);
    options.onProgress?.(candidates.length, mine.length, scheduleLabel(entry));
    if (performance.now() < until) continue;
    await pause(0);
    until = performance.now() + sliceMs;
  }
  return concluded(search, candidates, { listed: list, complete: candidates.length === mine.length });
}

const estimated = ({ facts, refusal }: Costed): Candidate =>
  refusal === undefined ? { ...facts, status: "estimated" } : { ...facts, ...refusal };
