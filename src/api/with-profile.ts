/** The profile that a project gives to programs that state none. */
import type { Func, Profile } from "../../ir/index.js";

/**
 * Returns a program with a PyPTO rule profile in the schedule. The program is unchanged if a profile is
 * already stated, if `profile` is undefined, or at tile level.
 */
export const withProfile = (func: Func, profile: Profile | undefined): Func =>
  profile === undefined || func.level === "tile" || func.schedule.profile !== undefined
    ? func
    : { ...func, schedule: { ...func.schedule, profile } };
