/** What an editor's texts are read and compiled with. */
import type { Operators, Target } from "../../ir/index.js";
import type { Pass } from "../../passes/index.js";

export interface Settings {
  /** Resolves a target by name; built-in targets by default. */
  readonly findTarget?: (name: string) => Target | undefined;
  /** The pipeline that compiles; default: the built-in one. */
  readonly passes?: readonly Pass[];
  /** Those that texts may name; default: the built-in ones. */
  readonly operators?: Operators;
}

/** The part of the settings that the compiler takes: a text is read with the operators before it is compiled. */
export const compilingBy = ({ operators: _, ...options }: Settings): Omit<Settings, "operators"> => options;
