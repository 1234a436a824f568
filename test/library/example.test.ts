/** `npm start`: what the README's first command ends with. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { root } from "../support/root.js";
import { runHere } from "../support/run-here.js";

it("npm start prints numbered steps, writes its page, and ends with commands that do as they say", async () => {
  const main = fileURLToPath(new URL("../../dist/examples/sort-columns.js", import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [main], { encoding: "utf8" });
  expect(status, stderr).toBe(0);
  expect([...stdout.matchAll(/^(\d)\. .*\n {3}\S/gm)].map(([, step]) => step)).toEqual([
    "1",
    "2",
    "3",
    "4",
    "5",
  ]);
  expect(stdout).toMatch(/^reference +23,376 B, every column ascends\nsim +23,376 B, every column ascends$/m);
  expect(stdout).toMatch(/^estimated +[\d,]+ cycles \(cost model \d+\)/m);
  const cycles = (name: string): number[] =>
    [...stdout.matchAll(new RegExp(`^ +${name} +([\\d,]+) cycles, \\d+ idle cores$`, "gm"))].map((line) =>
      Number(line[1]?.replaceAll(",", "")),
    );
  const [best, standard] = [cycles("best"), cycles("default")];
  expect(best).toHaveLength(2);
  expect(best.every((figure, k) => figure <= (standard[k] ?? 0))).toBe(true);
  const [, page = ""] = /: (\/.*\.html|[A-Z]:\\.*\.html)$/m.exec(stdout) ?? [];
  const [, shown] =
    /<td[^>]*>best(?:, default)?<\/td><td class="wide">[^<]*<\/td><td class="number">([\d,]+)</.exec(
      readFileSync(page, "utf8"),
    ) ?? [];
  expect(Number(shown?.replaceAll(",", ""))).toBe(Math.min(...best));
  const next = [...stdout.matchAll(/^ {2}npx tilec (.*?) {2,}(.*)$/gm)];
  expect(next).toHaveLength(3);
  for (const [, command = "", says = ""] of next)
    expect((await runHere(command.split(" "), root)).status, command).toBe(says.endsWith("refused") ? 1 : 0);
});
