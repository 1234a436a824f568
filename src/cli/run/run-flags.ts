/** The flags of `tilec run`. */
import type { ListFlags } from "../list/list-flags.js";
import type { ProgramFlags } from "../options.js";
import type { OutputFlags } from "../outputs.js";
import type { ExecutorFlags } from "../parse-backends.js";
import type { PipelineFlags } from "../pipeline-flags.js";
import type { UlpFlags } from "../ulp.js";

/** Flags of `tilec run`. */
export interface RunFlags
  extends ProgramFlags, PipelineFlags, OutputFlags, ListFlags, UlpFlags, ExecutorFlags {
  readonly backend: string;
  readonly input: readonly string[];
  readonly out: readonly string[];
  readonly seed?: string;
  readonly against?: string;
  readonly trace?: string;
  readonly compare?: string;
  readonly json?: boolean;
}
