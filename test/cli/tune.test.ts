/** The search on the command line: what is killed, interrupted, split and merged loses nothing. */
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { printSchedule, type Schedule } from "../../ir/index.js";
import { runHere } from "../support/run-here.js";
import { root } from "../support/root.js";
import { scratchFolder } from "../support/scratch-folder.js";

const main = join(root, "dist/src/cli/main.js");
const folder = scratchFolder("tune");
const file = (name: string): string => join(folder, name);

const tilec = (...args: readonly string[]) => runHere(args);

/** The command in a process of its own. */
const spawned = (...args: readonly string[]) =>
  spawnSync(process.execPath, [main, ...args], { cwd: root, encoding: "utf8" });

const documentOf = ({
  status,
  stdout,
  stderr,
}: Pick<ReturnType<typeof spawned>, "status" | "stdout" | "stderr">) => {
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout) as {
    readonly best: {
      readonly id: string;
      readonly schedule: unknown;
      readonly cycles: number;
      readonly bytes: number;
      readonly ms?: number;
    };
    readonly default: { readonly id: string; readonly schedule: Schedule };
    readonly counts: Readonly<Record<string, number>>;
    readonly schema: number;
  };
};

const json = async (...args: readonly string[]) => documentOf(await tilec(...args, "--json"));

const gather = [
  "--op",
  "gather",
  "--data",
  "f32[300,200]",
  "--indices",
  "i32[64]",
  "--axis",
  "1",
  "--target",
  "ascend-a2",
];
const tune = ["tune", ...gather];
const merge = async (...files: readonly string[]): Promise<string> => {
  const { status, stdout, stderr } = await tilec("records", "merge", ...files.map(file));
  expect(status, stderr).toBe(0);
  return stdout;
};

/** Starts the command and does something once its records have so many lines. */
async function during(
  args: readonly string[],
  records: string,
  lines: number,
  act: (child: ReturnType<typeof spawn>) => void,
) {
  const child = spawn(process.execPath, [main, ...args], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  let acted = false;
  const watch = setInterval(() => {
    const count = existsSync(records) ? readFileSync(records, "utf8").split("\n").length : 0;
    if (count <= lines || acted) return;
    acted = true;
    act(child);
  }, 2);
  const { code, signal } = await new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.on("close", (exit, by) => {
      resolve({ code: exit, signal: by });
    });
  });
  clearInterval(watch);
  return { code, signal, stdout, stderr };
}

const candidatesIn = (name: string): number =>
  readFileSync(file(name), "utf8")
    .split("\n")
    .filter((line) => line.includes('"record":"candidate"') && line.endsWith("}")).length;

describe("tune", () => {
  it("prints no default where the compiler refuses the program, and what it compares with", async () => {
    const long = ["--op", "gather", "--data", "f32[50257,64]", "--indices", "i32[16]", "--budget", "2"];
    const { stdout, stderr } = await tilec("tune", ...long, "--no-config");
    expect(stdout).toMatch(/ that of residency auto, /);
    expect(stdout).not.toContain("default");
    expect(stderr).toContain("hint[TC907]: no default: without a residency the program is refused");
    expect(stderr).toContain("= hint: --residency gm");
    const found = JSON.parse((await tilec("tune", ...long, "--no-config", "--json")).stdout) as object;
    expect(found).toMatchObject({
      default: { needs: "--residency auto" },
      diagnostics: [{ code: "TC907", hint: "--residency gm" }],
    });
  });

  it("prints the best, the default and what became of every candidate", async () => {
    const found = await json(...tune, "--budget", "20");
    expect(found.schema).toBe(1);
    expect(found.best.cycles).toBeGreaterThan(0);
    expect(found.best.bytes).toBeGreaterThan(0);
    expect(found.best).not.toHaveProperty("ms");
    expect(Object.keys(found.counts).sort()).toEqual([
      "error",
      "estimated",
      "measured",
      "pruned",
      "refused",
      "timeout",
      "wrong",
    ]);
    expect(found.counts["estimated"]).toBe(20);
    const { stdout } = await tilec(...tune, "--budget", "20");
    expect(stdout).toMatch(/beats the default|less than the default's/);
    expect(stdout).toMatch(/is busy \d+ % of the time/);
  });

  it("warns of a best schedule above the bytes that libraries leave alone, and of none with the flag that it names (TC905)", async () => {
    // Three tiles of 1900 rows of 32 B are 182,400 B: what the fastest instructions add goes beyond 188,416 B.
    const long = ["--op", "pypto.gather", "--data", "f32[1900,64]", "--indices", "i32[1900,64]"];
    const search = async (...flags: readonly string[]) => {
      const { stdout } = await tilec("tune", ...long, "--axis", "0", "--budget", "20", ...flags, "--json");
      return JSON.parse(stdout) as {
        readonly best: { readonly ubBytes: number };
        readonly diagnostics: readonly { readonly code: string; readonly hint?: string }[];
      };
    };
    const { best, diagnostics } = await search();
    expect(best.ubBytes).toBeGreaterThan(188_416);
    expect(diagnostics).toMatchObject([{ code: "TC905", hint: "--ub-bytes 188416" }]);
    const safe = await search(..."--ub-bytes 188416".split(" "));
    expect(safe.best.ubBytes).toBeLessThanOrEqual(188_416);
    expect(safe.diagnostics).toEqual([]);
  });

  it("refuses flags that mean nothing beside each other", async () => {
    for (const [flags, what] of [
      [["--budget", "0"], "--budget 0 must be 1 or more candidates, a time, or all"],
      [["--budget", "many"], "--budget many must be 1 or more candidates, a time, or all"],
      [["--resume"], "--resume needs --records, the file to continue"],
      [["--shard", "3/2"], "--shard 3/2 is not of the form i/n"],
      [["--threads", "2"], "--threads needs --objective ms"],
      [["--measure", "true"], "--measure needs --objective ms"],
      [["--backend", "webgpu"], "--backend webgpu needs --objective ms"],
      [["--objective", "ms", "--measure", "true", "--threads", "2"], "--threads needs --backend sim"],
    ] as const) {
      const { status, stderr } = await tilec(...tune, ...flags);
      expect(status, flags.join(" ")).toBe(2);
      expect(stderr).toContain(what);
    }
  });
});

describe("records of exact searches", () => {
  it.each(["cycles", "bytes"])(
    "are the same bytes from two processes, two shard counts and shuffled merges: %s",
    async (by) => {
      const search = [...tune, "--objective", by, "--budget", "30"];
      const one = await json(...search, "--records", file(`${by}-a`));
      const two = documentOf(spawned(...search, "--records", file(`${by}-b`), "--json"));
      expect(two.best).toEqual(one.best);
      for (const parts of [2, 3]) {
        for (let part = 1; part <= parts; part++) {
          await json(...search, "--shard", `${part}/${parts}`, "--records", file(`${by}-${part}-${parts}`));
        }
      }
      const whole = await merge(`${by}-a`);
      expect(await merge(`${by}-b`)).toBe(whole);
      expect(await merge(`${by}-2-2`, `${by}-1-2`)).toBe(whole);
      expect(await merge(`${by}-2-3`, `${by}-3-3`, `${by}-1-3`)).toBe(whole);
      expect(await merge(`${by}-3-3`, `${by}-a`, `${by}-1-3`, `${by}-2-3`, `${by}-1-3`)).toBe(whole);
      writeFileSync(file(`${by}-merged`), whole);
      expect((await json("records", "best", file(`${by}-merged`))).best.id).toBe(one.best.id);
    },
  );

  it("lose the candidate in flight at most to SIGKILL, and the resumed search nothing", async () => {
    const search = [...tune, "--budget", "300"];
    const whole = await json(...search, "--records", file("whole"));
    const killed = await during([...search, "--records", file("killed")], file("killed"), 40, (child) => {
      child.kill("SIGKILL");
    });
    expect(killed.signal).toBe("SIGKILL");
    const before = candidatesIn("killed");
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(300);
    // As a writer that was killed in the middle of a line leaves it.
    writeFileSync(file("killed"), '{"record":"candidate","tas', { flag: "a" });
    const resumed = await tilec(...search, "--records", file("killed"), "--resume", "--json");
    expect(resumed.stderr).toContain("1 line that was torn is skipped");
    expect((JSON.parse(resumed.stdout) as typeof whole).best).toEqual(whole.best);
    expect(candidatesIn("killed")).toBe(300);
    expect(await merge("killed")).toBe(await merge("whole"));
  });

  it("find the same best from three shards of which one was killed and resumed", async () => {
    const search = [...tune, "--budget", "240"];
    const whole = await json(...search);
    const shard = (part: number): string[] => [
      ...search,
      "--shard",
      `${part}/3`,
      "--records",
      file(`shard-${part}`),
    ];
    const [first, second, third] = await Promise.all([
      during(shard(1), file("shard-1"), Infinity, () => undefined),
      during(shard(2), file("shard-2"), 20, (child) => {
        child.kill("SIGKILL");
      }),
      during(shard(3), file("shard-3"), Infinity, () => undefined),
    ]);
    expect([first.code, third.code]).toEqual([0, 0]);
    expect(second.signal).toBe("SIGKILL");
    const partial = await merge("shard-1", "shard-2", "shard-3");
    await json(...shard(2), "--resume");
    const merged = await merge("shard-1", "shard-2", "shard-3");
    expect(merged.length).toBeGreaterThan(partial.length);
    writeFileSync(file("shards"), merged);
    expect((await json("records", "best", file("shards"))).best).toEqual(whole.best);
  });

  it("stop at SIGINT, keep what is there and say how to go on", async () => {
    const search = [...tune, "--budget", "all"];
    const stopped = await during([...search, "--records", file("stopped")], file("stopped"), 40, (child) => {
      child.kill("SIGINT");
    });
    expect(stopped.code).toBe(130);
    expect(stopped.stderr).toMatch(/stopped after \d+ candidates; --resume goes on/);
    expect(stopped.stdout).toContain("best");
    const before = candidatesIn("stopped");
    expect(before).toBeGreaterThan(0);
    const whole = await json(...search);
    expect(before).toBeLessThan(whole.counts["estimated"]!);
    expect((await json(...search, "--records", file("stopped"), "--resume")).best).toEqual(whole.best);
    expect(candidatesIn("stopped")).toBe(whole.counts["estimated"]);
  });

  it("are replayed by compile, whose strict form refuses another task", async () => {
    const found = await json(...tune, "--budget", "30", "--records", file("replay"));
    const compiled = await tilec("compile", ...gather, "--records", file("replay"), "--json");
    expect(compiled.status, compiled.stderr).toBe(0);
    const [kernel] = (JSON.parse(compiled.stdout) as { kernels: { schedule: unknown }[] }).kernels;
    expect(kernel?.schedule).toEqual(found.best.schedule);
    const other = ["compile", ...gather, "--profile", "head", "--records", file("replay")];
    expect(await tilec(...other)).toMatchObject({
      status: 0,
      stderr: expect.stringContaining("warning[TC017]") as string,
    });
    expect(await tilec(...other, "--strict")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("error[TC017]") as string,
    });
    expect((await tilec("compile", ...gather, "--strict")).status).toBe(2);
  });

  it("are pinned as a test that passes, and tells another clock from a regression", async () => {
    await json(...tune, "--budget", "10", "--records", file("pin"));
    const pin = file("best.tir");
    expect((await tilec("records", "pin", file("pin"), "--out", pin)).status).toBe(0);
    expect(await tilec("check", pin)).toMatchObject({ status: 0 });
    const text = readFileSync(pin, "utf8");
    writeFileSync(pin, text.replace(/estimated {4}([\d,]+) cycles/, "estimated    1$1 cycles"));
    expect(await tilec("check", pin)).toMatchObject({
      status: 1,
      stdout: expect.stringContaining("cycles") as string,
    });
    writeFileSync(pin, text.replace(/cost model (\d+)/, "cost model 9$1"));
    expect(await tilec("check", pin)).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/cost model 9\d+\).*cost model \d+\)/) as string,
    });
  });
});

describe("records that were edited", () => {
  const edited = (name: string, edit: (line: Record<string, unknown>) => object | undefined): string => {
    const lines = readFileSync(file("honest"), "utf8").trimEnd().split("\n");
    const changed = lines.flatMap((line) => {
      const next = edit(JSON.parse(line) as Record<string, unknown>);
      return next === undefined ? [] : [JSON.stringify(next)];
    });
    writeFileSync(file(name), `${changed.join("\n")}\n`);
    return file(name);
  };
  const best = (name: string) => tilec("records", "best", name, "--json");

  it("are costed again: figures and hashes that do not fit are TC016 with file and line", async () => {
    const { best: winner } = await json(...tune, "--budget", "10", "--records", file("honest"));
    expect((await best(file("honest"))).status).toBe(0);
    const at = readFileSync(file("honest"), "utf8")
      .split("\n")
      .findIndex((line) => line.includes(`"candidate":"${winner.id}"`));
    const own = (line: Record<string, unknown>): boolean => line["candidate"] === winner.id;
    const cheap = edited("cheap", (line) => (own(line) ? { ...line, cycles: 1 } : line));
    const moved = edited("moved", (line) =>
      own(line) ? { ...line, schedule: { ...(line["schedule"] as object), cores: 1 } } : line,
    );
    for (const [name, why] of [
      [cheap, "cycles is 1, and its schedule has "],
      [moved, "its schedule is not that of candidate"],
    ] as const) {
      for (const command of ["best", "pin"]) {
        const { status, stderr } = await tilec("records", command, name);
        expect([status, stderr]).toEqual([
          1,
          expect.stringMatching(new RegExp(`TC016.*${name}:${at + 1}: ${why}`)),
        ]);
      }
    }
    const older = edited("older", (line) =>
      line["record"] === "candidate" ? { ...line, clock: 1, cycles: 1 } : line,
    );
    const again = await best(older);
    expect(JSON.parse(again.stdout)).toMatchObject({ best: { id: winner.id, cycles: winner.cycles } });
    expect(again.stderr).toMatch(/\d+ candidates of clock 1 are costed again by clock \d+/);
  });

  it.each([
    [
      "version",
      (l) => (l["record"] === "task" ? { ...l, versions: { ...(l["versions"] as object), records: 99 } } : l),
    ],
    ["task", (l) => (l["record"] === "task" ? undefined : l)],
    ["target", (l) => (l["record"] === "task" ? { ...l, target: {} } : l)],
    ["schedule", (l) => (l["record"] === "candidate" ? { ...l, schedule: {} } : l)],
  ] as readonly (readonly [string, (line: Record<string, unknown>) => object | undefined])[])(
    "are TC016 when they are read: %s",
    async (what, edit) => {
      for (const command of ["best", "merge"]) {
        const { status, stderr } = await tilec("records", command, edited(what, edit));
        expect([status, stderr]).toEqual([1, expect.stringMatching(/TC016.*:\d+: /)]);
        expect(stderr).toContain(what);
      }
    },
  );
});

describe("measured searches", () => {
  const small = [
    "tune",
    "--op",
    "gather_elements",
    "--data",
    "f32[64,64]",
    "--indices",
    "i32[64,64]",
    "--axis",
    "1",
    "--objective",
    "ms",
  ];

  const rows = [
    "tune",
    "--op",
    "gather",
    "--data",
    "f32[64,96]",
    "--indices",
    "i32[40]",
    "--axis",
    "1",
    "--objective",
    "ms",
    "--target",
    "ascend-a2",
  ];

  it("measure on the fast executor, verify every output and go on from records", async () => {
    const first = await json(...small, "--target", "cpu", "--budget", "6", "--records", file("ms"));
    expect(first.counts).toMatchObject({ measured: 6, wrong: 0, error: 0 });
    expect(first.best.ms).toBeGreaterThan(0);
    const lines = readFileSync(file("ms"), "utf8");
    expect(lines).toContain('"phase":"run-off"');
    const again = await json(
      ...small,
      "--target",
      "cpu",
      "--budget",
      "6",
      "--records",
      file("ms"),
      "--resume",
    );
    expect(again.counts).toMatchObject({ measured: 6 });
    // The run-off is run again; the search is not.
    const added = readFileSync(file("ms"), "utf8")
      .slice(lines.length)
      .split("\n")
      .filter((line) => line.includes('"record":"candidate"'));
    expect(added.every((line) => line.includes('"phase":"run-off"'))).toBe(true);
    const best = await tilec("records", "best", file("ms"), "--json");
    expect(best.status, best.stderr).toBe(0);
  });

  it("measure with several threads", async () => {
    expect((await json(...small, "--target", "cpu", "--budget", "3", "--threads", "2")).counts).toMatchObject(
      {
        measured: 3,
      },
    );
  });

  it("hand candidates to a command, believe its times, and find a wrong output", async () => {
    const script = (name: string, body: string): string => {
      writeFileSync(file(name), `set -e\ncd "$1"\n${body}`);
      return `sh ${file(name)}`;
    };
    const times = script(
      "times.sh",
      `cat ../data.npy ../indices.npy ../expected.npy tile.tir > /dev/null
gm=$(grep -c '"residency":"gm"' schedule.json || true)
set -- $(sed 's/.*"tile":\\[\\([0-9]*\\),\\([0-9]*\\)\\].*/\\1 \\2/' schedule.json)
echo "{\\"nanoseconds\\": [$((1000 + $1 * $2 + gm))]}"`,
    );
    const board = [...rows, "--measure", times, "--records", file("board")];
    const found = await json(...board, "--budget", "8");
    expect(found.counts).toMatchObject({ measured: 8, wrong: 0, error: 0 });
    const given = [...readFileSync(file("board"), "utf8").matchAll(/"nanoseconds":\[(\d+)/g)].map(([, ns]) =>
      Number(ns),
    );
    expect(found.best.ms).toBeCloseTo(Math.min(...given) / 1e6, 12);
    expect(found.best.id).not.toBe(found.default.id);
    const wrong = script(
      "wrong.sh",
      `{ head -c -1 ../expected.npy; tail -c 1 ../expected.npy | tr '\\000-\\377' '\\001-\\377\\000'; } > out.npy
echo '{"nanoseconds": [1000], "output": "out.npy"}'`,
    );
    const caught = await tilec(...rows, "--budget", "2", "--measure", wrong, "--json");
    expect(caught.status).toBe(1);
    expect(JSON.parse(caught.stdout)).toMatchObject({ counts: { wrong: 2, measured: 0 } });
    expect(caught.stderr).toContain("error[TC610]");
    const silent = await tilec(...rows, "--budget", "2", "--measure", "echo hello;:", "--json");
    expect(JSON.parse(silent.stdout)).toMatchObject({ counts: { error: 2 } });
  });

  it("keep the folders of candidates that failed, or of all, and show what the command says", async () => {
    const script = file("picky.sh");
    writeFileSync(script, 'echo looks at "$1" >&2\ncase "$1" in *-1) exit 3;; esac\necho 5\n');
    const picky = [...rows, "--budget", "3", "--measure", `sh ${script}`];
    const quiet = await tilec(...picky);
    const [, kept = ""] = /its files are in (\S+)/.exec(quiet.stderr) ?? [];
    expect(quiet.stderr).not.toMatch(/^looks at/m);
    expect(readdirSync(kept)).toContain("tile.tir");
    expect(readdirSync(join(kept, "..")).sort()).toEqual([
      "candidate-1",
      "data.npy",
      "expected.npy",
      "indices.npy",
    ]);
    rmSync(join(kept, ".."), { recursive: true });
    const all = await tilec(...picky, "--keep", file("boards"), "--verbose");
    expect(all.stderr).toMatch(/^looks at .*candidate-0$/m);
    expect(readdirSync(file("boards"))).toEqual(
      expect.arrayContaining(["candidate-0", "candidate-1", "candidate-2"]),
    );
    expect((await tilec(...tune, "--keep", file("boards"))).status).toBe(2);
    const removed = await tilec(...rows, "--budget", "2", "--measure", "echo 5;:");
    expect(removed.stderr).not.toContain("its files are in");
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("end at %s in the middle of a candidate, with %i", async (signal, status) => {
    const script = file("slow.sh");
    // Longer than the test may take.
    writeFileSync(script, "#!/bin/sh\nsleep 3600\n");
    chmodSync(script, 0o755);
    const stopped = await during(
      [...small, "--target", "ascend-a2", "--measure", script, "--records", file(signal)],
      file(signal),
      1,
      (child) => {
        child.kill(signal);
      },
    );
    expect(stopped.code).toBe(status);
  });

  it("add times from elsewhere to the records of a search by cycles", async () => {
    const found = await json(...tune, "--budget", "10", "--records", file("given"));
    const add = (id: string, ns: string) =>
      tilec("records", "add", file("given"), "--candidate", id, "--device", "board", "--ns", ns);
    expect((await add(found.default.id, "1000,1010")).status).toBe(0);
    expect((await add("none", "1")).status).toBe(1);
    expect((await add(found.default.id, "fast")).status).toBe(2);
    const { stdout } = await tilec("records", "best", file("given"), "--json");
    const { tasks } = JSON.parse(stdout) as { readonly tasks: readonly { readonly objective: string }[] };
    const [cycles, ms] = ["cycles", "ms"].map((objective) =>
      tasks.find((task) => task.objective === objective),
    );
    expect([tasks.length, cycles, ms]).toMatchObject([2, { devices: [] }, { devices: ["board"] }]);
  });
});

describe("pages on the command line", () => {
  it("--html and --svg write what was found, without and with --json", async () => {
    mkdirSync(file("pages"));
    const { best } = await json(
      ...tune,
      "--budget",
      "5",
      "--html",
      file("pages/t.html"),
      "--svg",
      file("pages/t.svg"),
    );
    expect(readFileSync(file("pages/t.html"), "utf8")).toContain(`id="s-${best.id}"`);
    expect(readFileSync(file("pages/t.svg"), "utf8")).toMatch(/^<svg xmlns=/);
  });

  it("--compare draws the schedule that is written, and the default", async () => {
    const trace = ["run", ...gather, "--tile", "7,64", "--seed", "1", "--trace", file("c.html"), "--compare"];
    const drawn = async (schedule: string): Promise<string> => {
      const { status, stderr } = await tilec(...trace, schedule);
      expect(status, stderr).toBe(0);
      return readFileSync(file("c.html"), "utf8");
    };
    const written = await drawn("tile = [32, 32], buffers = 1");
    expect(written).toMatch(/<strong>A<\/strong> <code>tile = \[7, 64\]/);
    expect(written).toMatch(/<strong>B<\/strong> <code>tile = \[32, 32\].*buffers = 1/);
    const { best } = await json(...tune, "--budget", "1");
    const { tile } = best.schedule as { readonly tile: readonly number[] };
    expect(await drawn("default")).toContain(`<strong>B</strong> <code>tile = [${tile.join(", ")}]`);
  });

  it("--compare default is tune's default where the target's residency leaves no legal tile", async () => {
    const large = ["--op", "gather", "--data", "f32[50257,64]", "--indices", "i32[64]", "--axis", "0"];
    const drawn = async (...flags: readonly string[]): Promise<string> => {
      const trace = ["--seed", "1", "--trace", file("d.html"), "--compare"];
      const { status, stderr } = await tilec("run", ...large, "--residency", "gm", ...trace, ...flags);
      expect(status, stderr).toBe(0);
      return readFileSync(file("d.html"), "utf8");
    };
    const { default: own } = await json("tune", ...large, "--budget", "1");
    const shown = printSchedule(own.schedule);
    expect(await drawn("default")).toContain(`<strong>B</strong> <code>${shown}`);
    expect(await drawn(`{${shown}}`)).toContain(`<strong>B</strong> <code>${shown}`);
  });

  it("says once why candidates did not run: an error where none did, a warning beside those that did", async () => {
    const timed = [...tune, "--objective", "ms", "--budget", "3", "--measure"];
    const none = await tilec(...timed, "echo no figure #");
    expect(none.stderr).toContain("error[TC702]: tile [");
    expect(none.stderr).toContain(
      "the command printed no list of nanoseconds such as [1200, 1210]: no figure",
    );
    expect(none.stderr.match(/did not run/g)).toHaveLength(1);
    expect(none.status).toBe(1);
    const once = file("measured-once");
    const some = await tilec(...timed, `test -e ${once} && echo gone || { touch ${once}; echo [1200]; } #`);
    expect(some.stderr).toContain("warning[TC702]: tile [");
    expect(some.status, some.stderr).toBe(0);
    expect((await tilec(...timed, "echo [1200, 1210] #")).stderr).not.toContain("did not run");
  });

  it("--compare says where a schedule is not one, and refuses one that is not legal", async () => {
    const trace = ["run", ...gather, "--seed", "1", "--trace", file("n.html"), "--compare"];
    for (const [schedule, code, says] of [
      ["tile = [32, 32", "TC002", "--compare:1:"],
      ["tiles = [32, 32]", "TC003", "a schedule has no entry tiles"],
      ["tile = [8, 8]} func", "TC002", "expected the end of the schedule; found func"],
      ["tile = [300, 64], buffers = 2", "TC401", "B"],
    ] as const) {
      const { status, stderr } = await tilec(...trace, schedule);
      expect(stderr).toContain(`error[${code}]`);
      expect(stderr).toContain(says);
      expect(status).not.toBe(0);
      expect(existsSync(file("n.html"))).toBe(false);
    }
  });
});
