/** Declarations of what a kernel binds: the struct of its sizes, and one variable for each buffer. */
import type { WgslContext } from "./context.js";
import { memberName } from "./names.js";
import { arrayOf } from "./plan.js";

/**
 * Emits the WGSL declarations of a kernel's bindings. A program with dynamic sizes also gets the struct of
 * its runtime parameters.
 */
export function emitBindings({ out, plan: { sizes, bindings } }: WgslContext): void {
  if (sizes.length > 0)
    out.line(`struct Sizes { ${sizes.map((name) => `${memberName(name)}: u32`).join(", ")} }`);
  for (const bound of bindings) {
    const { binding, name, access } = bound;
    const [space, type] =
      access === "uniform" ? ["uniform", "Sizes"] : [`storage, ${access}`, arrayOf(bound)];
    out.line(`@group(0) @binding(${binding}) var<${space}> ${name}: ${type};`);
  }
}
