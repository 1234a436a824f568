/** `npm start`: what the README's first command ends with. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

it("npm start shows the idle cores of its tile, the best schedule beside the default, and writes its page", () => {
  const main = fileURLToPath(new URL("../../dist/examples/sort-columns.js", import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [main], { encoding: "utf8" });
  expect(status, stderr).toBe(0);
  expect(stdout).toMatch(/^ +buffers 1, residency ub +\[1461, 4\].* MTE2 +47$/m);
  const cycles = (name: string): number[] =>
    [...stdout.matchAll(new RegExp(`^ +${name} +(\\d+) cycles, \\d+ idle cores: tile = `, "gm"))].map(
      (line) => Number(line[1]),
    );
  const [best, own] = [cycles("best"), cycles("default")];
  expect(best).toHaveLength(2);
  expect(best.every((figure, k) => figure <= (own[k] ?? 0))).toBe(true);
  const [, page = ""] = /: (\/.*\.html|[A-Z]:\\.*\.html)$/m.exec(stdout) ?? [];
  const [, shown] =
    /<td[^>]*>best(?:, default)?<\/td><td class="wide">[^<]*<\/td><td class="number">([\d,]+)</.exec(
      readFileSync(page, "utf8"),
    ) ?? [];
  expect(Number(shown?.replaceAll(",", ""))).toBe(Math.min(...best));
});
