/** The out-of-range policy is an attribute of every operator; only its default differs by dialect. */
import { outOfBoundsPolicies, type OutOfBounds } from "../access.js";
import { wordAttr, type AttrSpec, type OpInputs } from "./op-def.js";

export const oobSpec = (fallback: OutOfBounds): AttrSpec => ({
  kind: "word",
  words: outOfBoundsPolicies,
  default: fallback,
});

export const oobOf = (inputs: OpInputs): OutOfBounds => wordAttr(inputs.attrs, "oob") as OutOfBounds;
