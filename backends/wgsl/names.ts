/** Members of the struct that tells a kernel its sizes. */
import { isSymbolName } from "../../ir/symbols/symbols.js";

/**
 * Returns the struct member for a number that depends on dynamic sizes: `dim_N` for the symbol `N`. A number
 * that the compiler derives keeps its name.
 */
export const memberName = (name: string): string => (isSymbolName(name) ? `dim_${name}` : name);

/** Returns the WGSL text that reads a number from `sizes`. */
export const sizeName = (name: string): string => `sizes.${memberName(name)}`;
