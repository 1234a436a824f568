/** The profile that a project gives to programs that state none. */
import type { Func, Profile } from "../../ir/index.js";

/** Returns a program with `profile` in its schedule where it states none; a tile program, and any where there is no profile, as it is. */
export const withProfile = (func: Func, profile: Profile | undefined): Func =>
  profile === undefined || func.level === "tile" || func.schedule.profile !== undefined
    ? func
    : { ...func, schedule: { ...func.schedule, profile } };
