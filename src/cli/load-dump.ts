/** Programs of a graph that PyPTO dumped: its gathers, each under the tile that the dump shows. */
import {
  defined,
  at,
  CompileError,
  defaultProfile,
  error,
  invariant,
  profileFacts,
  profiles,
  type Diagnostic,
  type Profile,
  type Schedule,
  type TensorType,
} from "../../ir/index.js";
import { tryProgram } from "../api/program.js";
import { dumpedGathers, otherVersion, type DumpedGather } from "../formats/pypto-dump.js";
import { withFlags, type LoadedProgram } from "./loaded-program.js";
import type { ProgramFlags, ProjectFlags } from "./options.js";
import { printDiagnostics } from "./terminal.js";
import { UsageError } from "./usage-error.js";

/**
 * Loads the gathers of a PyPTO dump, or only the gather at the location of `--case`. Throws a CompileError if
 * no gather can be read. Throws a UsageError if the dump has no gather, or none at the location.
 */
export function loadDump(
  dump: unknown,
  file: string,
  flags: ProgramFlags & ProjectFlags,
): readonly (LoadedProgram & { readonly id: string })[] {
  printDiagnostics(otherVersion(dump, file));
  const placed = distinct(dumpedGathers(dump, file));
  const chosen = placed.filter(({ place }) => flags.case === undefined || place === flags.case);
  if (placed.length === 0)
    throw new UsageError(
      `${file} has no gather`,
      "GATHER, GATHER_ELEMENT and GATHER_IN_UB are judged, of pypto.index_select, gather and gather_in_ub",
    );
  if (chosen.length === 0)
    throw new UsageError(
      `${file} has no gather at ${flags.case ?? ""}`,
      placed.map(({ place }) => place).join(", "),
    );
  const profile = profiles.find((name) => name === flags.profile) ?? flags.project.profile ?? defaultProfile;
  const refused: Diagnostic[] = [];
  const programs = chosen.flatMap((gather, k) => {
    const result =
      "why" in gather
        ? { ok: false as const, diagnostics: [error("TC020", gather.why)] }
        : tryProgram({
            ...described(gather, profile),
            name: chosen.length === 1 ? "main" : `gather_${k + 1}`,
          });
    if (result.ok) return [{ id: gather.place, func: withFlags(result.func, flags) }];
    refused.push(
      ...result.diagnostics.map((one) => ({ ...one, message: `${gather.place}: ${one.message}` })),
    );
    return [];
  });
  if (programs.length === 0) throw new CompileError(refused);
  printDiagnostics(refused.map((diagnostic) => ({ ...diagnostic, severity: "warning" as const })));
  return programs;
}

/** Numbers the gathers of one place. */
/** Returns the locations of the gathers in a PyPTO dump, as accepted by `--case`. */
export const dumpLocations = (dump: unknown, file: string): readonly string[] =>
  distinct(dumpedGathers(dump, file)).map(({ place }) => place);

/**
 * Returns the gathers with distinct locations (`place`). A second gather at one location gets ` #2`, a third
 * gets ` #3`.
 */
function distinct<T extends { readonly place: string }>(gathers: readonly T[]): readonly T[] {
  const times = new Map<string, number>();
  return gathers.map((gather) => {
    const time = (times.get(gather.place) ?? 0) + 1;
    times.set(gather.place, time);
    return time === 1 ? gather : { ...gather, place: `${gather.place} #${time}` };
  });
}

/**
 * Returns a gather of a PyPTO dump in the form that {@link tryProgram} takes. Applies a view if `profile` has
 * a rule on views and the data of a `pypto.gather` was cut from a larger tensor along the gather dim. The
 * data then gets the larger tensor's extent along that dim, and the schedule's view the extent of the cut.
 */
function described({ op, attrs, inputs, tile, viewOf, inUb }: DumpedGather, profile: Profile) {
  const [data, indices, ...others] = inputs;
  invariant(data !== undefined && indices !== undefined, "a gather reads data and indices");
  const viewed =
    op === "pypto.gather" && profileFacts[profile].pinsView
      ? cutAlong(data, viewOf, attrs["dim"])
      : undefined;
  const schedule: Schedule = {
    ...defined({ tile }),
    ...defined({ view: viewed && indices.shape.with(viewed.dim, at(data.shape, viewed.dim)) }),
    ...(inUb === true ? { residency: "ub" } : {}),
  };
  return {
    op,
    attrs,
    data: viewed === undefined ? data : { ...data, shape: data.shape.with(viewed.dim, viewed.extent) },
    indices,
    others,
    schedule,
  };
}

/**
 * Returns the gather dim, and the extent of the tensor of shape `viewOf` along that dim, if the data was cut
 * from the tensor along the dim. Undefined for any other data. `given`: attribute `dim`, which may be
 * negative.
 */
function cutAlong(
  { shape }: TensorType,
  viewOf: readonly number[] | undefined,
  given: unknown,
): { readonly dim: number; readonly extent: number } | undefined {
  if (viewOf === undefined || viewOf.length !== shape.length || typeof given !== "number") return undefined;
  const dim = given < 0 ? given + shape.length : given;
  const extent = viewOf[dim] ?? 0;
  return extent > (shape[dim] ?? 0) ? { dim, extent } : undefined;
}
