/** Schedules with the text of their program. */
import { readFileSync } from "node:fs";

type Line = Readonly<Record<string, string | number | boolean>>;
const lines = (name: string): Line[] =>
  readFileSync(new URL(name, import.meta.url), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
const texts = new Map(lines("programs.jsonl").map(({ program, text }) => [program, text]));
export const schedules = lines("schedules.jsonl").map((line) => ({
  ...line,
  text: texts.get(line["program"]),
}));
