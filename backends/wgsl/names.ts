/** Members of the struct that tells a kernel its sizes. */
import { isSymbolName } from "../../ir/symbols/symbols.js";

/** Returns the member for a number that sizes tell: `dim_N` for the symbol N, the number's own name for what the compiler derives. */
export const memberName = (name: string): string => (isSymbolName(name) ? `dim_${name}` : name);

/** Returns the member as it is read. */
export const sizeName = (name: string): string => `sizes.${memberName(name)}`;
