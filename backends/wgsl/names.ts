/** Members of the struct that tells a kernel its sizes. */
import { isSymbolName } from "../../ir/symbols/symbols.js";

/**
 * Returns the name of the member of the WGSL struct `sizes` that holds a runtime parameter: `dim_N` for the
 * symbol `N`. A name that the compiler derived is returned unchanged.
 */
export const memberName = (name: string): string => (isSymbolName(name) ? `dim_${name}` : name);

/** Returns the WGSL expression that reads a runtime parameter from the uniform struct `sizes`. */
export const sizeName = (name: string): string => `sizes.${memberName(name)}`;
