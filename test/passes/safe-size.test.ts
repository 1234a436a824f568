/** TC905: what it says to type stays within the bytes that libraries leave alone, or it says nothing. */
import { describe, expect, it } from "vitest";
import { runHere } from "../support/run-here.js";

const explain = async (
  args: readonly string[],
): Promise<{ readonly status: number; readonly stderr: string }> =>
  runHere(["explain", "--target", "ascend-a2", ...args]);
const hintIn = (stderr: string): string | undefined => /TC905\][^]*?hint: (.*)/.exec(stderr)?.[1];

describe("a schedule above the safe size", () => {
  it.each([
    [
      "that another tile stays within",
      ["index_select", "f32[10000,384]", "i32[127]"],
      "127,384",
      /^--tile [\d,]+ --ub-bytes 188416$/,
    ],
    ["of rows that are staged whole", ["gather", "f32[1963,8]", "i32[1963,8]"], "1963,8", undefined],
  ])("%s", async (_, [op = "", data = "", indices = ""], tile, said) => {
    const program = ["--op", `pypto.${op}`, "--data", data, "--indices", indices, "--axis", "0"];
    const found = await explain([...program, "--tile", tile]);
    expect([found.status, found.stderr]).toEqual([0, expect.stringContaining("TC905")]);
    const hint = hintIn(found.stderr);
    if (said === undefined) {
      expect(hint).toBeUndefined();
      return;
    }
    expect(hint).toMatch(said);
    const followed = await explain([...program, ...(hint ?? "").split(" ")]);
    expect([followed.status, followed.stderr]).toEqual([0, expect.not.stringContaining("TC905")]);
  });
});
