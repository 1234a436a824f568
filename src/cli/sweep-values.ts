/** Parser of `--sweep`: a figure of the target, and its values. */
import { type Target, type TargetFigures } from "../../ir/index.js";
import { figureNames } from "../api/check-options.js";
import { hintFor } from "../../ir/did-you-mean.js";
import { scaledNumber } from "./flag-values.js";
import { UsageError } from "./usage-error.js";

const example = "--sweep ubBytes=64KiB..512KiB, --sweep cores=24,48";
/** Between the ends of a range. */
const between = 7;
/** Rates and costs take any number, everything else whole ones. */
const isInteger = (figure: string): boolean => !/PerCycle$|Cycles$|Mhz$/.test(figure);

/**
 * Parses the value of `--sweep`: a numeric parameter of the target and the values to try, as a list
 * (`cores=24,48`) or a range (`ubBytes=64KiB..512KiB`). Throws a UsageError for any other text.
 */
export function parseSweep(
  text: string,
  target: Target,
): { readonly figure: keyof TargetFigures; readonly values: readonly number[] } {
  const [, name = "", written = ""] = /^\s*(\w+)\s*=\s*(.+)$/.exec(text) ?? [];
  const figure = figureNames.find((other) => other === name);
  if (figure === undefined)
    throw new UsageError(
      `--sweep ${text}: ${name === "" ? "no figure is named" : `${name} is not a figure of a target`}`,
      hintFor(name, figureNames, example),
    );
  const numberOf = (word: string): number => {
    const value = scaledNumber(word);
    if (value === undefined || !(value > 0))
      throw new UsageError(`--sweep ${text}: ${word.trim()} is not a number above 0`, example);
    if (value > Number.MAX_SAFE_INTEGER)
      throw new UsageError(
        `--sweep ${text}: ${word.trim()} is over the limit of ${Number.MAX_SAFE_INTEGER}`,
        example,
      );
    return value;
  };
  const ends = written.split("..");
  if (ends.length > 2) throw new UsageError(`--sweep ${text} has more than two ends`, example);
  const [first = "", last] = ends;
  if (last === undefined) return { figure, values: first.split(",").map(numberOf) };
  const [least, max] = [numberOf(first), numberOf(last)];
  if (least >= max)
    throw new UsageError(`--sweep ${text}: the range must rise, and ${first} is not below ${last}`, example);
  const rounded = (value: number): number => {
    if (!isInteger(figure)) return Number(value.toPrecision(6));
    const unit = figure.endsWith("Bytes") && figure !== "blockBytes" ? target.blockBytes : 1;
    return Math.max(unit, unit * Math.round(value / unit));
  };
  const steps = Array.from({ length: between }, (_, k) => least * (max / least) ** ((k + 1) / (between + 1)));
  return { figure, values: [...new Set([least, ...steps.map(rounded), max])].sort((a, b) => a - b) };
}
