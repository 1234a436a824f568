/** The verdict of PyPTO's pages on a program that is judged by the specification's page. */
import {
  bufferBytes,
  defined,
  isLegal,
  judge,
  nearestLegal,
  statedOrSmallest,
  profileFacts,
  type AccessFunc,
  type Func,
  type Profile,
  type ResolvedSchedule,
  type Target,
} from "../../ir/index.js";
import { residenciesOf, spokenOf, withDefaults } from "../../passes/index.js";
import { accessUnder } from "./access.js";
import type { CompileOptions } from "./compile.js";

/** The profile that a verdict of `strict` is compared with. */
const newer: Profile = "pages";

/** Verdict on a program under a profile other than the program's own. */
export interface ProfileVerdict {
  readonly profile: Profile;
  /** Source of the profile, such as `PyPTO's documentation since 2026-04-02`. */
  readonly stands: string;
  /** True if the stated tile is legal under the profile; without a stated tile, if some tile is legal. */
  readonly legal: boolean;
  /** True if `legal` differs from the verdict under the program's own profile. */
  readonly turns: boolean;
  /** Reason of a refusal: a rule of the dialect or of tiling, with its numbers; absent where it is legal. */
  readonly reason?: string;
  /**
   * The nearest legal schedules under the profile, the largest tile first; empty where it is legal as it
   * stands, or none is.
   */
  readonly nearest: readonly ResolvedSchedule[];
}

/**
 * Returns the verdict on a program under the profile `pages`; undefined if the program's profile is not
 * `strict`. `legal`: true if the program is legal under `strict`.
 */
export function pagesVerdict(
  program: Func,
  options: CompileOptions,
  {
    access,
    target,
    legal,
  }: { readonly access: AccessFunc; readonly target: Target; readonly legal: boolean },
): ProfileVerdict | undefined {
  if ((access.schedule.profile ?? "strict") !== "strict") return undefined;
  const { stands } = profileFacts[newer];
  const other = accessUnder(newer, program, options);
  // The pages do not take its types or its ranks.
  if (!other.ok) {
    const reason = other.diagnostics.map(({ message }) => message).join("; ");
    return { profile: newer, stands, legal: false, turns: legal, reason, nearest: [] };
  }
  const taken = other.access;
  const residencies = residenciesOf(taken, target);
  const tilings = residencies.map((residency) => withDefaults(taken, residency, target));
  const unbound = bufferBytes(taken, target).find(({ pass }) => !pass);
  // A typed view stays as it is, also where no tile is typed.
  if (unbound === undefined && tilings.some((tiling) => isLegal(statedOrSmallest(tiling))))
    return { profile: newer, stands, legal: true, turns: !legal, nearest: [] };
  const spoken = spokenOf(taken, residencies, target);
  const broken = unbound ?? judge(statedOrSmallest(spoken)).find(({ pass }) => !pass);
  return {
    profile: newer,
    stands,
    legal: false,
    turns: legal,
    ...defined({ reason: broken?.detail }),
    nearest: unbound === undefined ? nearestLegal(spoken).map(({ schedule }) => schedule) : [],
  };
}

/**
 * Returns a line of text about a program that is legal under only one of two PyPTO rule profiles. Undefined
 * if the profiles agree.
 */
export function turnedText(verdict: ProfileVerdict | undefined): string | undefined {
  if (verdict?.turns !== true) return undefined;
  const { profile, stands, legal, reason } = verdict;
  const because = legal || reason === undefined ? "" : `, because ${reason}`;
  return `${legal ? "legal" : "refused"} under ${stands} (--profile ${profile})${because}`;
}
