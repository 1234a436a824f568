/** Two builds in turns: the order, what is counted, and builds that cannot run. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { compareBuilds, inTurns } from "../../bench/against.js";
import { folderOf, workloadsOf } from "../../bench/arguments.js";
import { builtFile } from "../../bench/built.js";
import { forkSide } from "../../bench/fork-side.js";
import { openSidePage } from "../../bench/open-side-page.js";
import { localSide, type Side } from "../../bench/side.js";
import { root } from "../support/root.js";

const key = { workload: "W18", subject: "tilec", threads: 1 };

describe("turns", () => {
  it.each([
    [true, "ABBA"],
    [false, "BAAB"],
  ])("begin and end with the same build (own first: %s)", async (ownFirst, expected) => {
    let order = "";
    const turn = (name: string) => () => Promise.resolve((order += name));
    const [own, other] = await inTurns([turn("A"), turn("B")], ownFirst);
    expect(order).toBe(expected);
    expect(own.every((latest) => latest.endsWith("A"))).toBe(true);
    expect(other.every((latest) => latest.endsWith("B"))).toBe(true);
  });
});

describe("a comparison", () => {
  beforeAll(() => {
    vi.spyOn(console, "error").mockReturnValue();
  });
  afterAll(() => {
    vi.restoreAllMocks();
  });

  /** Its turns take these times, one after the other and over again. */
  function fakeSide(times: readonly number[], log: string[] = [], name = ""): Side {
    let turn = 0;
    return {
      open: () => Promise.resolve({ verified: name !== "wrong", leastMs: 4 }),
      turn(calls) {
        log.push(`${name}${calls}`);
        return Promise.resolve(times[turn++ % times.length] ?? NaN);
      },
      close: () => Promise.resolve(),
    };
  }

  it("divides this build's fastest turn by the other's, and takes the median of three places of memory", async () => {
    const start = () => Promise.resolve([fakeSide([9, 6, 8, 2, 3, 7]), fakeSide([2])] as const);
    const [row] = await compareBuilds(start, [key], 1);
    // The fastest of each two turns: 6, 2, 3.
    expect(row).toEqual({
      name: "W18 tilec 1",
      ms: [3, 2],
      ratio: { median: 1.5, low: 1.5, high: 1.5 },
      runs: 1,
      verdict: "slower",
      verified: true,
    });
  });

  it("starts both builds anew in each run, of which the spread is", async () => {
    const own = [3, 1, 2];
    const start = vi.fn(() => Promise.resolve([fakeSide([own.pop() ?? NaN]), fakeSide([1])] as const));
    const [row] = await compareBuilds(start, [key], 3);
    expect(start).toHaveBeenCalledTimes(3);
    expect(row?.ratio).toEqual({ median: 2, low: 1, high: 3 });
  });

  it("gives both builds as many calls, and each the first turn as often", async () => {
    const log: string[] = [];
    const start = () => Promise.resolve([fakeSide([1], log, "a"), fakeSide([1], log, "b")] as const);
    await compareBuilds(start, [key], 2);
    // 20 ms of calls that take 4.
    expect(log.join(" ")).toBe([...Array<string>(3).fill("a5 b5 b5 a5 b5 a5 a5 b5")].join(" "));
  });

  it("leaves out a later run that fails, and rejects where the first does", async () => {
    const failing: Side = { ...fakeSide([1]), open: () => Promise.reject(new Error("no thread started")) };
    const sides = [fakeSide([3]), failing, fakeSide([5])];
    const start = () => Promise.resolve([sides.shift() ?? failing, fakeSide([1])] as const);
    expect(await compareBuilds(start, [key], 3)).toMatchObject([{ runs: 2, ratio: { low: 3, high: 5 } }]);
    await expect(compareBuilds(start, [key], 3)).rejects.toThrow("no thread started");
  });

  it("is wrong where one build gives other bits", async () => {
    const start = () => Promise.resolve([fakeSide([1]), fakeSide([1], [], "wrong")] as const);
    expect((await compareBuilds(start, [key], 1))[0]?.verified).toBe(false);
  });
});

describe("a build in a folder", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "tilec-test-"));
    const manifest = { name: "tilec", type: "module", exports: { ".": { default: "./made/elsewhere.js" } } };
    writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it("is found by the entry points of its own package.json", () => {
    expect(builtFile(root, "tilec/sim")).toBe(join(root, "dist/backends/sim/index.js"));
    expect(() => builtFile(folder, "tilec")).toThrow(join(folder, "made/elsewhere.js"));
  });

  it("is not looked for in the folders above", () => {
    expect(() => builtFile(join(root, "bench/no-such-folder"), "tilec")).toThrow("does not exist");
    expect(() => builtFile(join(root, "test"), "tilec")).toThrow("does not exist");
  });

  it("that is missing ends the process with a word", () => {
    const said = vi.spyOn(console, "error").mockReturnValue();
    const exit = vi.spyOn(process, "exit").mockImplementation((code) => {
      throw new Error(`exit code ${String(code)}`);
    });
    try {
      expect(() => folderOf(folder)).toThrow("exit code 2");
      expect(said.mock.calls.flat().join("\n")).toContain(`${folder} holds no build of tilec`);
    } finally {
      exit.mockRestore();
      said.mockRestore();
    }
  });

  it("that does not load says why", async () => {
    await expect(forkSide("sim", folder)).rejects.toThrow(/elsewhere|exports/);
  });
});

describe("a side", () => {
  it.for([
    ["the fast executor", () => forkSide("sim", root)],
    ["Dawn", () => forkSide("webgpu", root)],
    ["a page", () => openSidePage(root, 1, false)],
  ] as const)("on %s gives the plain loop's bits, and times its calls", async ([name, start], context) => {
    const side = await start().catch((thrown: unknown) => {
      if (name === "the fast executor" || process.env["CI"] === "true") throw thrown;
      console.warn(`SKIPPED, no side on ${name}: ${String(thrown)}`);
    });
    if (side === undefined) return context.skip();
    try {
      const { verified, leastMs } = await side.open(key);
      expect(verified).toBe(true);
      expect(leastMs).toBeGreaterThan(0);
      expect(await side.turn(3)).toBeGreaterThan(0);
      await expect(side.open({ ...key, workload: "W0" })).rejects.toThrow("no workload W0");
    } finally {
      await side.close();
    }
  });

  it("sees other bits", async () => {
    const subject = { subject: "", threads: 1, run: () => 1, output: () => Uint8Array.of(1) };
    const side = localSide(() => Promise.resolve({ subject, expected: Uint8Array.of(2), now: () => 0 }));
    expect(await side.open(key)).toMatchObject({ verified: false });
  });

  it("counts the fastest call of a turn but the first", async () => {
    const times = [9, 9, 9, 9, 1, 4, 3, 5];
    const subject = { subject: "", threads: 1, run: () => times.shift() ?? 9, output: () => Uint8Array.of() };
    const ready = { subject, expected: Uint8Array.of(), now: () => 0 };
    const side = localSide(() => Promise.resolve(ready), 0);
    // One call before the output is compared, and three that warm it up.
    expect((await side.open(key)).leastMs).toBe(9);
    expect(await side.turn(3)).toBe(3);
  });
});

describe("workloads by name", () => {
  it("are the ten unless others are named", () => {
    expect(workloadsOf(undefined).map(({ name }) => name)).toEqual([
      "W1",
      "W2",
      "W3",
      "W4",
      "W5",
      "W6",
      "W7",
      "W8",
      "W9",
      "W10",
    ]);
  });

  it("may be named by their group, each once", () => {
    expect(workloadsOf("W7,gate").map(({ name }) => name)).toEqual([
      "W7",
      "W1",
      "W18",
      "W19",
      "W20",
      "W21",
      "W22",
      "W23",
    ]);
  });
});
