/** The verdict of PyPTO's pages on a program that is judged by the specification's page. */
import {
  bufferBytes,
  isLegal,
  nearestLegal,
  ownOrSmallest,
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

/** Verdict of another profile on the same program and schedule. */
export interface ProfileVerdict {
  readonly profile: Profile;
  /** Where the profile stands. */
  readonly stands: string;
  /** True if the stated tile is legal under the profile, or some tile where none is stated. */
  readonly legal: boolean;
  /** True if that is another verdict than the program's own. */
  readonly turns: boolean;
  /** The nearest legal schedules under the profile, the largest tile first; empty where it is legal as it stands, or none is. */
  readonly nearest: readonly ResolvedSchedule[];
}

/**
 * Returns the verdict of PyPTO's pages on a program; undefined for one under another profile than `strict`. `access` is its access level, and
 * `legal` its own verdict.
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
  if (other === undefined) return { profile: newer, stands, legal: false, turns: legal, nearest: [] };
  const residencies = residenciesOf(other, target);
  const tilings = residencies.map((residency) => withDefaults(other, residency, target));
  const bound = bufferBytes(other, target).every(({ pass }) => pass);
  // A typed view stays as it is, also where no tile is typed.
  const holds = bound && tilings.some((tiling) => isLegal(ownOrSmallest(tiling)));
  return {
    profile: newer,
    stands,
    legal: holds,
    turns: holds !== legal,
    nearest:
      holds || !bound
        ? []
        : nearestLegal(spokenOf(other, residencies, target)).map(({ schedule }) => schedule),
  };
}

/** Returns the line that says how the verdict turns; undefined where it does not. */
export const turnedText = (verdict: ProfileVerdict | undefined): string | undefined =>
  verdict?.turns === true
    ? `under profile ${verdict.profile} (${verdict.stands}): ${verdict.legal ? "legal" : "refused"}; --profile ${verdict.profile}`
    : undefined;
