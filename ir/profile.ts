/**
 * The interpretations of PyPTO's full-load rule, and where each one stands.
 *
 * PyPTO's page of `gather` has changed: until 2026-04-02 its constraint 4 pinned the tile along dim to the
 * view; since then the tile may cut index and result there. Its code has never read the view. Each
 * interpretation is a profile, chosen by name.
 */
import { profiles, type Profile, type Schedule } from "./schedule.js";

/**
 * Sources for the element types and ranks that PyPTO's operators accept. `specification`: PyPTO's
 * specification, which includes only `pypto.gather`. `documented`: PyPTO's documentation. `head`: PyPTO's
 * code.
 */
export const pyptoLevels = ["specification", "documented", "head"] as const;
/** Source for the element types and ranks that PyPTO's operators accept; see {@link pyptoLevels}. */
export type PyptoLevel = (typeof pyptoLevels)[number];

/** An interpretation of the full-load rule and its sources. */
interface ProfileFacts {
  /** True if the view along a shared dim covers the longer of input and index. */
  readonly pinsView: boolean;
  /** True if the tile along a shared dim is the view. */
  readonly pinsTile: boolean;
  /** Types and ranks that PyPTO's operators take under the profile, where no level is given. */
  readonly level: PyptoLevel;
  /** True if a tile of rows stays strictly below the buffer, as PyPTO's pages have it (`<`). */
  readonly rowsUnderBudget: boolean;
  /**
   * Citation of the code that reads the first entries of a tile of more entries than the output has dims;
   * absent where a page asks for as many.
   */
  readonly longerTiles?: string;
  /** Source of the profile, in one line. */
  readonly stands: string;
  /** Citation of the rule that the input is whole along its gather dim. */
  readonly fullInput: string;
  /** Citation of the rule on the view. */
  readonly view: string;
  /** Citation of the rule on the tile. */
  readonly tile: string;
}

const page = "hicann/pypto docs/zh/api/operation/pypto-gather.md";
/** The page that the specification is. */
const specification = `${page} at 2b2bb56`;
/** PyPTO's pages today. */
const current = `${page} at 883e7df (2026-08-22; so since 3d2141b, 2026-04-02)`;
const code =
  "hicann/pypto framework/src/interface/operation/vector/indexing.cpp at 883e7df (2026-08-22), TiledGatherElementOperation";

/**
 * Rules of each PyPTO rule profile, with the sources of the rules. A rule profile is an interpretation of
 * PyPTO's full-load rule.
 */
export const profileFacts = {
  strict: {
    pinsView: true,
    pinsTile: true,
    level: "specification",
    rowsUnderBudget: false,
    stands: "PyPTO's specification",
    fullInput: `${specification}, rule 3`,
    view: `${specification}, rule 3`,
    tile: `${specification}, rule 4`,
  },
  pages: {
    pinsView: true,
    pinsTile: false,
    level: "documented",
    rowsUnderBudget: true,
    stands: "PyPTO's documentation since 2026-04-02",
    fullInput: `${current}, rules 3 and 4`,
    view: `${current}, rule 3`,
    tile: `${current}, rule 4`,
  },
  head: {
    pinsView: false,
    pinsTile: false,
    level: "head",
    rowsUnderBudget: true,
    stands: "PyPTO's code at 883e7df (2026-08-22)",
    longerTiles:
      "hicann/pypto framework/src/interface/operation/tile_shape_verifier.h at 883e7df (2026-08-22), VerifyTileShapeSize: no fewer entries than dims",
    fullInput: code,
    view: code,
    tile: code,
  },
} as const satisfies Readonly<Record<Profile, ProfileFacts>>;

/** Default PyPTO rule profile. A rule profile is an interpretation of PyPTO's full-load rule. */
export const defaultProfile: Profile = "strict";

/**
 * Returns the rules and sources of a schedule's PyPTO rule profile, or of the default profile for a schedule
 * without one.
 */
export const profileOf = ({ profile = defaultProfile }: Pick<Schedule, "profile">): ProfileFacts =>
  profileFacts[profile];

/**
 * Returns the name of a schedule's PyPTO rule profile for a message; `none` if the schedule has no profile.
 */
export const profileName = ({ profile }: Pick<Schedule, "profile">): string => profile ?? "none";

/**
 * Returns the PyPTO rule profiles to try if `profile` rejects a program. The list is empty for the last
 * profile, `head`.
 */
export const laterProfiles = (profile: Profile): readonly Profile[] =>
  profiles.slice(profiles.indexOf(profile) + 1);
