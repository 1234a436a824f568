/** The profile that a project gives to programs that state none. */
import type { Func, Profile } from "../../ir/index.js";

/**
 * Returns a program with `profile` in its schedule. A profile is an interpretation of PyPTO's full-load rule.
 * A tile program, and a program that already states a profile, are returned unchanged. If `profile` is
 * undefined, any program is returned unchanged.
 */
export const withProfile = (func: Func, profile: Profile | undefined): Func =>
  profile === undefined || func.level === "tile" || func.schedule.profile !== undefined
    ? func
    : { ...func, schedule: { ...func.schedule, profile } };
