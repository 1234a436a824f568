/**
 * Additions of a project to tilec's own parts, for a command line or an editor: the parts of a config file,
 * or none.
 */
import type { Backend } from "../../backends/backend.js";
import type { Operators } from "../../ir/ops/op-def.js";
import type { Profile } from "../../ir/schedule.js";
import type { Target } from "../../ir/target.js";
import type { Pass } from "../../passes/pass.js";
import { lookUpTarget } from "../formats/look-up-target.js";

/**
 * Project of a command: the validated contents of the config file, and the function that looks up targets.
 */
export interface Project {
  /** Path of the config file, for messages. Absent: there is no config file. */
  readonly config?: string;
  /**
   * Flags that make another command read the same config file, or no config file. Absent if that command
   * finds the same file by itself.
   */
  readonly flags?: readonly string[];
  readonly passes: readonly Pass[];
  /** Pipeline that compiles if `--pipeline` is not given; absent: the built-in pipeline. */
  readonly pipeline?: readonly Pass[];
  /** The profile of programs that state none; absent: `strict`. */
  readonly profile?: Profile;
  readonly targets: readonly Target[];
  /** The built-in operators and those of the config; absent: the built-in ones alone. */
  readonly operators?: Operators;
  readonly backends: ReadonlyMap<string, Backend>;
  /** A target by name, or from a file. */
  readonly findTarget: (name: string) => Target | undefined;
}

/** Project of a command that has no config file: built-in targets, operators and passes only. */
export const noProject: Project = { passes: [], targets: [], backends: new Map(), findTarget: lookUpTarget };
