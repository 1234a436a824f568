/** Sizes of symbols. */
import { GatherError } from "./gather-error.js";
import { sizedWith, type Sized } from "./host.js";
import type { Numbers } from "../../../backends/bad-index.js";
import type { ModulePlan } from "./plan.js";

/**
 * Returns the operands of a module for given sizes of the dynamic dims, with the values of all symbols.
 * Throws a GatherError (TC107) if a size is missing, unknown or invalid, or if a size of 0 leaves an operand
 * empty although the output has elements.
 */
export function sizedAt(plan: ModulePlan, stated: Numbers | null | undefined): Sized {
  const { name, symbols = [], numbers = () => ({}) } = plan;
  const sizes = stated ?? {};
  for (const given of Object.keys(sizes)) {
    if (!symbols.some((symbol) => symbol.name === given))
      throw new GatherError("TC107", `${name} has no size ${given}`, { given });
  }
  for (const { name: symbol, most } of symbols) {
    const size = sizes[symbol];
    if (size === undefined || !Number.isSafeInteger(size) || size < 0 || size > most)
      throw new GatherError("TC107", `size ${symbol} is ${size}, and takes 0 to ${most}`, {
        symbol,
        size,
        most,
      });
  }
  const sized = sizedWith(plan, numbers(sizes));
  // The code for all sizes has no case for an index that can name nothing.
  const [empty] = symbols.filter((symbol) => sizes[symbol.name] === 0);
  const none =
    sized.operands.some(({ elements }) => elements === 0) || Object.values(sized.numbers).includes(0);
  const { elements } = sized.output;
  if (empty !== undefined && none && elements > 0)
    throw new GatherError("TC107", `size ${empty.name} is 0, and the output has ${elements} elements`, {
      symbol: empty.name,
      size: 0,
    });
  return sized;
}
