/** Kernels that tilec did not write: a right one passes, and each planted bug is found. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { at, CompileError, parseModule, type Func } from "../../ir/index.js";
import { compile } from "../../src/index.js";
import { runCommand } from "../../src/device/run-command.js";
import { assertThat, foreignKernel } from "../../src/testing/index.js";
import { foreignTests } from "../../src/testing/foreign/foreign-tests.js";
import { evaluateSizes } from "../../src/testing/foreign/size-expression.js";
import { readDeclarations } from "../../src/testing/foreign/wgsl-declarations.js";
import {
  altered,
  bugNames,
  commandBugs,
  failingCommands,
  rightCommand,
  rightWgsl,
  wgslBugs,
} from "../support/foreign-bugs.js";
import { requireGpu } from "../support/gpu.js";
import { runHere } from "../support/run-here.js";
import { root } from "../support/root.js";

const example = join(root, "examples/foreign");
const program = join(example, "rows.tir");
const right = rightWgsl;

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tilec-foreign-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function gpuOr(context: TestContext): Promise<void> {
  if ((await requireGpu()) === undefined) context.skip();
}

const parse = (text: string): Func => at(parseModule(text, "rows.tir").module.funcs, 0);

const flags = [
  "--bind",
  "data=0,indices=1,output=2",
  "--uniform",
  "3=out0,out1,in0_0",
  "--override",
  "WORKGROUP=32",
];

const judged = (wgsl: string, more: readonly string[] = []) => {
  const file = join(folder, "mine.wgsl");
  writeFileSync(file, wgsl);
  const dispatch = ["--dispatch", "ceil(out0 * out1 / 64)"];
  return runHere(["check", program, "--kernel", file, "--json", ...flags, ...dispatch, ...more]);
};

interface Result {
  readonly id: string;
  readonly status: string;
  readonly code?: string;
  readonly message?: string;
}
const resultsOf = (stdout: string): readonly Result[] =>
  (JSON.parse(stdout) as { readonly results: readonly Result[] }).results;

describe("a WGSL kernel", () => {
  it("that is right passes on every draw", async (context) => {
    await gpuOr(context);
    const { status, stdout, stderr } = await judged(right);
    expect(stderr).toBe("");
    const results = resultsOf(stdout);
    expect(results.map((result) => result.status)).toEqual(Array.from({ length: 18 }, () => "pass"));
    expect(new Set(results.map(({ id }) => id)).size).toBe(18);
    expect(status).toBe(0);
  });

  for (const name of bugNames) {
    it(`with ${name} is found`, async (context) => {
      await gpuOr(context);
      const { code, said, wgsl } = wgslBugs[name];
      const { status, stdout } = await judged(wgsl);
      const first = resultsOf(stdout).find((result) => result.status === "fail");
      expect(first?.code).toBe(code);
      expect(`${first?.id}: ${first?.message}`).toMatch(said);
      expect(status).toBe(1);
    });
  }

  it("with a workgroup that takes its first row for all its rows is found", async (context) => {
    await gpuOr(context);
    const { stdout } = await judged(
      altered(
        right,
        "var index = indices[element / sizes.width];",
        "var index = indices[(element / 64u * 64u) / sizes.width];",
      ),
    );
    expect(resultsOf(stdout).find((result) => result.status === "fail")?.code).toBe("TC610");
  });

  it("that loses one of two rows of one index fails where indices repeat", async (context) => {
    await gpuOr(context);
    // Each row of the table goes to the last place that names it.
    const scattered = altered(
      right,
      "output[id.x] =",
      `var last = id.x;
  for (var other = id.x / 5u + 1u; other < sizes.rows; other++) {
    if (indices[other] == indices[id.x / 5u]) { last = other * 5u + id.x % 5u; }
  }
  output[last] =`,
    );
    const { stdout } = await judged(scattered);
    const failed = resultsOf(stdout).filter(({ status }) => status === "fail");
    expect(failed.map(({ id }) => id).join()).toContain("one index throughout");
  });

  it("whose bounds come from arrayLength is judged on exact bindings alone", async (context) => {
    await gpuOr(context);
    const lengths = altered(right, "id.x >= sizes.rows * sizes.width / 2u", "id.x >= arrayLength(&output)");
    expect((await judged(lengths)).status).toBe(1);
    expect((await judged(lengths, ["--uses-array-length"])).status).toBe(0);
  });

  it("that never ends is ended, and what follows is not waited for", async (context) => {
    await gpuOr(context);
    const endless = altered(
      right,
      "output[id.x] =",
      "loop { if (sizes.rows == 0u) { break; } output[id.x] += 1u; }\n  output[id.x] =",
    );
    const { stdout } = await judged(endless, ["--timeout", "1"]);
    const results = resultsOf(stdout);
    expect(results.map(({ code }) => code)).toEqual(results.map(() => "TC611"));
    expect(results[0]?.message).toMatch(/gave no output within 1 s/);
  });

  it("is a backend of the assertions, and not compared where the program rejects an index", async (context) => {
    await gpuOr(context);
    const text = readFileSync(program, "utf8");
    const mine = (wgsl: string) =>
      foreignKernel({
        wgsl,
        bind: { data: 0, indices: 1, output: 2 },
        dispatch: "ceil(out0 * out1 / 64)",
        uniform: { 3: "out0, out1, in0_0" },
      });
    const kernel = compile(parse(text));
    await assertThat(kernel, context).toMatchReference({ backends: [mine(right)] });
    const strict = compile(parse(altered(text, "oob = clamp", "oob = error")));
    await assertThat(strict, context).toMatchReference({ backends: [mine(right)] });
    const wrong = mine(altered(right, "index += i32(sizes.table);", "index = index;"));
    await expect(assertThat(kernel, context).toMatchReference({ backends: [wrong] })).rejects.toThrow(
      /elements differ; first at \[2, 0\].*inputs of seed 1, set 2 of 4/,
    );
  });
});

describe("a function", () => {
  it("is a backend of the assertions", async (context) => {
    const kernel = compile(parse(readFileSync(program, "utf8")));
    const rows = (wrap: boolean) =>
      foreignKernel({
        run({ data, indices }) {
          const output = new Uint16Array(21 * 10);
          for (let k = 0; k < 210; k++) {
            const index = Number(indices?.[Math.floor(k / 10)]);
            const row = Math.min(36, Math.max(0, wrap && index < 0 ? index + 37 : index));
            output[k] = Number(data?.[row * 10 + (k % 10)]);
          }
          return output;
        },
      });
    await assertThat(kernel, context).toMatchReference({ backends: [rows(true)] });
    await expect(assertThat(kernel, context).toMatchReference({ backends: [rows(false)] })).rejects.toThrow(
      /elements differ/,
    );
    expect(() => foreignKernel({} as never)).toThrow(/lacks run/);
  });
});

/** A row gather as a loop over elements, each step of which a bug may replace. */
interface Steps {
  readonly indexOf: (index: bigint) => bigint;
  readonly move: (bits: number) => number;
  readonly place: (row: number, column: number) => number;
  readonly isWritten: (element: number) => boolean;
}
const [tableRows, width, count] = [9, 3, 40];
const rightSteps: Steps = {
  indexOf: (index) => index,
  move: (bits) => bits,
  place: (row, column) => row * width + column,
  isWritten: () => true,
};
const isNan = (bits: number): boolean => (bits & 0x7fffffff) > 0x7f800000;
const ofInt64 = "i64";
const functionBugs: Readonly<Record<string, readonly [index: "i64" | "u32" | "i32", bug: Partial<Steps>]>> = {
  "the low word of a 64-bit index alone": [ofInt64, { indexOf: (index) => BigInt.asIntN(32, index) }],
  "16 bits of an index alone": ["i32", { indexOf: (index) => BigInt.asIntN(16, index) }],
  "an unsigned index read as signed": ["u32", { indexOf: (index) => BigInt.asIntN(32, index) }],
  "a signed index read as unsigned": ["i32", { indexOf: (index) => BigInt.asUintN(32, index) }],
  "NaN made quiet": [ofInt64, { move: (bits) => (isNan(bits) ? bits | 0x400000 : bits) }],
  "subnormals flushed": [ofInt64, { move: (bits) => ((bits & 0x7f800000) === 0 ? bits & 0x80000000 : bits) }],
  "a zero without its sign": [ofInt64, { move: (bits) => (bits << 1 === 0 ? 0 : bits) }],
  "a stride of one element more": [ofInt64, { place: (row, column) => row * (width + 1) + column }],
  "columns taken by row": [ofInt64, { place: (row, column) => column * tableRows + row }],
  "even elements alone": [ofInt64, { isWritten: (element) => element % 2 === 0 }],
  "no last group": [ofInt64, { isWritten: (element) => element < Math.floor((count * width) / 64) * 64 }],
};

describe("a function with a bug", () => {
  const results = async (dtype: string, bug: Partial<Steps>) => {
    const { indexOf, move, place, isWritten } = { ...rightSteps, ...bug };
    const backend = foreignKernel({
      run({ data, indices }) {
        const from = new Uint32Array((data as Float32Array<ArrayBuffer>).buffer);
        const output = new Uint32Array(count * width);
        for (let k = 0; k < output.length; k++) {
          if (!isWritten(k)) continue;
          const index = indexOf(BigInt(Number(indices?.[Math.floor(k / width)])));
          const row = index < 0n ? 0 : index >= BigInt(tableRows) ? tableRows - 1 : Number(index);
          output[k] = move(from[place(row, k % width) % from.length]!);
        }
        return new Float32Array(output.buffer);
      },
    });
    const func =
      parse(`func @f(%x: tensor<${tableRows}x${width}xf32>, %i: tensor<${count}x${dtype}>) -> tensor<${count}x${width}xf32> {
  %y = access.gather %x, %i (d0, d1) -> (clamp(%i[d0] in ${tableRows}), d1) {oob = clamp}
  return %y
}`);
    const tests = await foreignTests({ func, file: "rows.tir", given: {} }, backend, 1);
    const all = await Promise.all(tests.map(async (test) => test.begin([], {})()));
    return all.flat().map(({ status }) => status);
  };

  it.each(["i32", "u32", "i64"])("is judged beside a right one of %s, which passes", async (dtype) => {
    expect(new Set(await results(dtype, {}))).toEqual(new Set(["pass"]));
  });

  it.each(Object.entries(functionBugs))("%s is found", async (_, [dtype, bug]) => {
    expect(await results(dtype, bug)).toContain("fail");
  });
});

describe("a command", () => {
  const command = (text: string, more: readonly string[] = []) => {
    const file = join(folder, "mine.cjs");
    writeFileSync(file, text);
    return runHere(["check", program, "--command", `node ${file}`, "--json", ...more]);
  };

  it("that is right passes", async () => {
    const { stdout, status } = await command(rightCommand);
    expect(resultsOf(stdout).map((result) => result.status)).toEqual(
      Array.from({ length: 18 }, () => "pass"),
    );
    expect(status).toBe(0);
  });

  it.each(bugNames)("with %s is found", async (name) => {
    const { stdout, status } = await command(commandBugs[name], ["--bail"]);
    const first = resultsOf(stdout).find((result) => result.status === "fail");
    expect(first?.code).toBe("TC610");
    expect(first?.message).toMatch(/elements differ; first at \[\d+, \d+\]/);
    expect(status).toBe(1);
  });

  it.each(Object.entries(failingCommands))("with %s is found", async (name, text) => {
    const { stdout, status } = await command(text, ["--bail", "--timeout", name === "no end" ? "2" : "60"]);
    const first = resultsOf(stdout).find((result) => result.status === "fail");
    expect([first?.code, status]).toEqual(["TC611", 1]);
  });
});

it.each([
  ["in its group", "{}"],
  ["in a session of its own", "{ detached: true }"],
])("a command is not held up by what it leaves running %s", async (_, options) => {
  const file = join(folder, "leaves.cjs");
  writeFileSync(
    file,
    `const child = require("node:child_process").spawn("sleep", ["600"], { ...${options}, stdio: "inherit" });
child.unref();
console.log(child.pid);`,
  );
  const { code, stdout, stderr, late } = await runCommand(`node ${file}`, folder, 3000).result;
  expect([code, stderr, late]).toEqual([0, "", false]);
  expect(stdout).toMatch(/^\d+\n$/);
  try {
    process.kill(Number(stdout));
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: "ESRCH" });
  }
});

describe("numbers from sizes", () => {
  const sizes = new Map([
    ["out0", 21],
    ["in1_0", 7],
  ]);

  it("are exact, as arithmetic of rational numbers", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000 }), fc.integer({ min: 1, max: 100 }), (a, b) => {
        expect(evaluateSizes(`ceil(${a} / ${b}), ${a} * (out0 - 20)`, sizes, "it")).toEqual([
          Math.ceil(a / b),
          a,
        ]);
        expect(evaluateSizes(`${a} / ${b} * ${b}`, sizes, "it")).toEqual([a]);
      }),
    );
    expect(evaluateSizes("ceil(-(out0 - in1_0 * 4) / 2) + 2", sizes, "it")).toEqual([6]);
  });

  it("are refused where they are none", () => {
    for (const [text, said] of [
      ["out0 / 2", /21\/2, no whole number/],
      ["out1", /out1 is no size/],
      ["3 -", /the end stands where a number belongs/],
      ["(3", /the end stands where \) belongs/],
      ["3 4", /4 follows what is whole/],
      ["1 - 2", /outside 0 to 4294967295/],
      ["1 / 0", /a division by 0/],
      ["2 ^ 3", /\^ follows/],
      ["", /the end stands where a number belongs/],
    ] as const) {
      expect(() => evaluateSizes(text, sizes, "it")).toThrow(said);
    }
  });
});

describe("the declarations of a WGSL text", () => {
  it("are read past comments, in any order of attributes", () => {
    const { bindings, entryPoints } = readDeclarations(`
      /* @group(0) @binding(9) var<storage> no: array<u32>; /* // */ nested */
      @binding(1u) @group(0) var<storage, read_write> y: array<vec4<u32>>; // @compute fn no() {}
      @group(0) @binding( 0, ) var<storage> x : array<u32>;
      @group(0) @binding(2) var<uniform> s: vec4u;
      var<workgroup> held: array<u32, 4>;
      @workgroup_size(8 * (2 + 2)) @compute fn one() {}
      @compute @workgroup_size(1) fn two() {}`);
    expect(bindings).toEqual([
      { binding: 1, name: "y", access: "read_write" },
      { binding: 0, name: "x", access: "read" },
      { binding: 2, name: "s", access: "uniform" },
    ]);
    expect(entryPoints).toEqual(["one", "two"]);
  });

  it("are refused where they are no buffers of group 0", () => {
    for (const [text, said] of [
      ["@group(1) @binding(0) var<storage> x: array<u32>;", /in group 1/],
      ["@group(0) @binding(N) var<storage> x: array<u32>;", /no @binding/],
      ["@group(0) @binding(0) var x: texture_2d<f32>;", /no buffer/],
    ] as const) {
      expect(() => readDeclarations(text)).toThrow(said);
    }
  });
});

describe("flags", () => {
  const kernel = ["check", program, "--kernel", join(example, "rows.wgsl")];
  it("that say too little, or too much, are refused with what to type", async () => {
    for (const [args, said] of [
      [["check", program, "--dispatch", "1"], /--dispatch needs --kernel, the WGSL file of your own kernel/],
      [kernel, /--kernel needs --bind/],
      [[...kernel, "--bind", "data=0"], /--kernel needs --dispatch/],
      [[...kernel, "--bind", "data", "--dispatch", "1"], /--bind data is not of the form name=value/],
      [[...kernel, "--bind", "data=7", "--dispatch", "1"], /declares no binding 7/],
      [[...kernel, "--bind", "data=0", "--dispatch", "1", "--entry", "mian"], /did you mean main/],
      [[...kernel, "--command", "x"], /--kernel cannot be used with --command/],
      [[...kernel, "--watch"], /--watch cannot be used with --kernel: it applies to tests/],
      [
        ["check", program, "--command", "x", "--entry", "main"],
        /--entry cannot be used with --command: it applies to WGSL/,
      ],
    ] as const) {
      const { status, stderr } = await runHere(args);
      expect(stderr).toMatch(said);
      expect(status).toBeGreaterThan(0);
    }
  });

  it("are told with the operand or number that no binding has", async (context) => {
    await gpuOr(context);
    const missing = await runHere([...kernel, "--bind", "data=0,indices=1,output=2", "--dispatch", "1"]);
    expect(missing.stderr).toMatch(/sizes \(binding 3\) holds nothing/);
    const swapped = [...kernel, "--bind", "data=0,output=1,indices=2", "--uniform", "3=1", "--dispatch", "1"];
    expect((await runHere(swapped)).stderr).toMatch(/indices is the output and is only read/);
    expect(() => foreignKernel({ wgsl: "", bind: {}, dispatch: "1" })).toThrow(CompileError);
  });
});
