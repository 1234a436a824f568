/** The figures of docs/tuning.md are those that its commands give. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { gathers } from "../../bench/gathers.js";
import { formatEntry, formatShape, targets, type ResolvedSchedule } from "../../ir/index.js";
import { tune } from "../../src/index.js";
import { runHere } from "../support/run-here.js";
import { root } from "../support/root.js";

const page = readFileSync(`${root}docs/tuning.md`, "utf8");
const between = (from: string, to: string): string => page.split(from)[1]?.split(to)[0] ?? "";
const rowsOf = (text: string): string[][] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(2)
    .map((line) => line.split("|").slice(1, -1))
    .map((cells) => cells.map((cell) => cell.replaceAll("`", "").trim()));
const shown = ({ residency, tile }: ResolvedSchedule): string =>
  `${formatEntry(residency)} ${formatShape(tile)}`;

it("states the five programs by commands whose results its table has", async () => {
  const section = between("## Five programs", "## ");
  const commands = section.split("\n").filter((line) => line.startsWith("npx tilec tune"));
  const rows = rowsOf(section);
  expect([commands.length, rows.length]).toEqual([5, 5]);
  for (const [k, [name, best, cycles]] of rows.entries()) {
    const { stdout } = await runHere([...(commands[k]?.split(" ").slice(2) ?? []), "--json"]);
    const result = JSON.parse(stdout) as { best: { schedule: ResolvedSchedule; cycles: number } };
    expect([name, shown(result.best.schedule), String(result.best.cycles)]).toEqual([name, best, cycles]);
  }
});

describe("the table of searches", () => {
  const rows = rowsOf(between("<!-- table:tune -->", "<!-- /table:tune -->"));
  it("has a row for each gather, none of which is over the grid's best", () => {
    expect(rows.map(([name]) => name)).toEqual(gathers.map(([name]) => name));
    for (const [, , , , over] of rows) expect(Number(over)).toBeLessThanOrEqual(0);
  });

  /** Grids of more candidates take seconds each. */
  const quick = rows.filter((cells) => Number(cells[7]) <= 250);
  it.each(quick.map(([name = "", best, cycles]) => ({ name, best, cycles })))(
    "$name: what 50 costings find is as the page says",
    async ({ name, best, cycles }) => {
      const [, func] = gathers.find(([known]) => known === name)!;
      const found = await tune(func, { target: targets.ascendA2, residency: "auto", budget: 50 });
      expect([shown(found.best.schedule), String(found.best.cycles)]).toEqual([best, cycles]);
    },
  );
  it("is held to by half of its rows", () => {
    expect(quick.length).toBeGreaterThanOrEqual(8);
  });
});
