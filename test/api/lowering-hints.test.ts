/** A gather that cannot have the instructions that are asked for: each way out that is named was tried, and is legal. */
import { describe, expect, it } from "vitest";
import { gatherClasses } from "../../ir/index.js";
import { runHere } from "../support/run-here.js";

const gathers = {
  rows: ["--op", "gather", "--data", "f32[1000,64]", "--indices", "i32[300]"],
  elements: ["--op", "gather_elements", "--data", "f32[64,32]", "--indices", "i32[64,32]"],
} as const;
const cases = Object.entries(gathers).flatMap(([name, flags]) =>
  gatherClasses.flatMap((lowering) =>
    (name === "rows" ? [[], ["--residency", "gm"]] : [[]]).map(
      (more) => [name, lowering, more.join(" "), [...flags, ...more]] as const,
    ),
  ),
);

/** Alternatives of a hint, each as words; those flags replace the ones that were given. */
const ways = (hint: string): string[][] => hint.split(" or ").map((way) => way.trim().split(" "));
const replaced = (flags: readonly string[], way: readonly string[]): string[] => {
  const kept = flags.flatMap((word, k) =>
    k % 2 === 0 && !way.includes(word) ? [word, flags[k + 1] ?? ""] : [],
  );
  return [...kept, ...way];
};

describe("--lowering that a gather cannot have", () => {
  it.each(cases)("%s, %s %s", async (_, lowering, _more, flags) => {
    const given = [...flags, "--lowering", lowering];
    const compiled = await runHere(["compile", "--no-config", ...given]);
    if (compiled.status === 0) return;
    const [, hint = ""] = / = hint: (.*)/.exec(compiled.stderr) ?? [];
    expect(hint, compiled.stderr).toMatch(/^--/);
    for (const way of ways(hint)) {
      const { status, stderr } = await runHere(["compile", "--no-config", ...replaced(given, way)]);
      expect(status, `${hint}: ${way.join(" ")}: ${stderr}`).toBe(0);
    }
    const { stdout } = await runHere(["explain", "--no-config", ...given]);
    expect(stdout).not.toMatch(/that would fit is 0|shorter dim/);
    for (const [, flags = ""] of stdout.matchAll(/^ {2}(--.*?): about/gm)) {
      for (const way of ways(flags)) {
        const { status } = await runHere(["explain", "--no-config", ...replaced(given, way)]);
        expect(status, flags).toBe(0);
      }
    }
  });

  it("is MGATHER for rows in global memory, under a policy that it has", async () => {
    const { stderr } = await runHere(["compile", "--no-config", ...gathers.rows, "--lowering", "mgather"]);
    expect(stderr).toContain("= hint: --residency gm --oob clamp or ");
  });
});
