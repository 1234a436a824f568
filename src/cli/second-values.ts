/** Flags that are given twice. */
import type { Command } from "commander";
import { collect } from "./collect.js";
import { UsageError } from "./usage-error.js";

/**
 * Makes a command throw a UsageError if a flag is given twice with different values. A flag that collects a
 * list may be repeated.
 */
export function refuseSecondValues(command: Command): void {
  const before = new Map<string, { readonly flag: string; readonly value: string }>();
  for (const option of command.options) {
    if (!(option.required || option.optional) || option.parseArg === collect) continue;
    command.on(`option:${option.name()}`, (given: string | null) => {
      // A flag whose value may be left out is given without one.
      const value = given ?? "nothing";
      const flag = `--${option.name()}`;
      const first = before.get(option.attributeName());
      if (first !== undefined && first.value !== value) {
        const second = first.flag === flag ? value : `${flag} ${value}`;
        throw new UsageError(`${first.flag} is given twice: ${first.value} and ${second}`);
      }
      before.set(option.attributeName(), { flag, value });
    });
  }
}
