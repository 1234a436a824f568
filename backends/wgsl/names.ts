/** Members of the struct that tells a kernel its sizes. */
import { isSymbolName } from "../../ir/symbols/symbols.js";

/**
 * Returns the member name of a runtime parameter in the WGSL struct `sizes`: `dim_N` for the symbol `N`, else
 * the name unchanged.
 */
export const memberName = (name: string): string => (isSymbolName(name) ? `dim_${name}` : name);

/** Returns the WGSL expression that reads a runtime parameter from the uniform struct `sizes`. */
export const sizeName = (name: string): string => `sizes.${memberName(name)}`;
