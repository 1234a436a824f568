/** Operators of several frameworks that do alike. */
import type { Attrs, OpName } from "../../ir/index.js";
import type { TypePair } from "../../src/api/program.js";

/** An operator as the users of its framework write it. */
export interface Way {
  readonly op: OpName;
  /** As the framework's users write it. */
  readonly written: string;
  readonly attrs?: Attrs;
  readonly data?: TypePair;
  /** The index inputs. */
  readonly indices?: readonly TypePair[];
}

/** A computation that several operators have in common. */
export interface Same {
  readonly title: string;
  /** Absent: `##`. */
  readonly level?: string;
  readonly data: TypePair;
  readonly indices: readonly TypePair[];
  readonly ways: readonly Way[];
}
