/** The program of a page state. */
import { defined } from "../../../ir/defined.js";
import type { Asked } from "../jobs/program.js";
import type { PageState } from "../page-state.js";

/** Returns the program and the sizes of a page state, as a worker takes them. */
export const askedOf = ({ text, func, sizes }: PageState): Asked => ({ text, sizes, ...defined({ func }) });

/** Returns a key of the program of a page state. Page states with the same program have the same key. */
export const keyOf = ({ text, func }: PageState): string => `${func ?? ""}\n${text}`;
