/** Contents of a config file: a project's own passes, pipeline, operators, targets and backends. */
import type { Backend } from "../../backends/index.js";
import type { OpDef, Profile, Target } from "../../ir/index.js";
import type { Pass } from "../../passes/index.js";

/**
 * Contents of a config file: the default export of `tilec.config.ts`, `.js` or `.mjs`, or the value of
 * `tilec.config.json`.
 */
export interface Config {
  /**
   * Passes that `--pipeline`, `opt --pass` and the field `pipeline` can name in addition to the built-in
   * passes.
   */
  readonly passes?: readonly Pass[];
  /** Default of the flag `--pipeline`, in the same syntax: `default, mine after select-tile`. */
  readonly pipeline?: string;
  /** Profile of programs that state none. Absent: `strict`. */
  readonly profile?: Profile;
  /** Operators that programs, case files and `--op` can name, as `defineOperator` makes them. */
  readonly operators?: readonly OpDef[];
  /**
   * Targets that programs, case files and `--target` can name: values, or paths of target files from the
   * config's folder.
   */
  readonly targets?: readonly (Target | string)[];
  /** Backends that `--backend` can name, by that name. */
  readonly backends?: Readonly<Record<string, Backend>>;
}
