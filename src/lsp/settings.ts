/** Settings with which an editor's texts are read and compiled. */
import type { Operators, Profile, Target } from "../../ir/index.js";
import type { Pass } from "../../passes/index.js";

/** Settings with which the language server reads and compiles the texts of an editor. */
export interface Settings {
  /** Resolves a target by name; built-in targets by default. */
  readonly findTarget?: (name: string) => Target | undefined;
  /** Profile of programs that state none. Absent: `strict`. */
  readonly profile?: Profile;
  /** Passes that compile a text, in order. Default: the built-in pipeline. */
  readonly passes?: readonly Pass[];
  /** Operators that texts may name. Default: the built-in operators. */
  readonly operators?: Operators;
}

/** Returns the compiler options of the settings: all settings except `operators` and `profile`. */
export const compilingBy = ({
  operators: _,
  profile: __,
  ...options
}: Settings): Omit<Settings, "operators" | "profile"> => options;
