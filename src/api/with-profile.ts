/** The profile that a project gives to programs that state none. */
import type { Func, Profile } from "../../ir/index.js";

/**
 * Returns a program with `profile` in its schedule. A tile program, and a program that states a profile, are
 * returned unchanged; so is any program if `profile` is undefined.
 */
export const withProfile = (func: Func, profile: Profile | undefined): Func =>
  profile === undefined || func.level === "tile" || func.schedule.profile !== undefined
    ? func
    : { ...func, schedule: { ...func.schedule, profile } };
