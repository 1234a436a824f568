import { readFileSync } from "node:fs";
import { AssertionError } from "node:assert";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Backend } from "../../backends/index.js";
import { checkedBackend } from "../../backends/sim/index.js";
import { clockVersion, parseModule, type TileFunc } from "../../ir/index.js";
import { defaultPipeline, type Pass } from "../../passes/index.js";
import { compile, gatherElements, pypto, targets, tryCompile } from "../../src/index.js";
import { differenceFrom } from "../../src/api/against.js";
import type { BackendChoice } from "../../src/api/backends.js";
import { randomInputs } from "../../src/testing/random.js";
import { measured } from "../../src/testing/measured.js";
import { assertThat, caseTests } from "../../src/testing/index.js";

const op = gatherElements({ data: ["f32", [64, 80]], indices: ["i32", [64, 64]], axis: 0 });
const kernel = compile(op, { target: targets.ascendA2, tile: [64, 32], buffers: 1 });
const cut = () =>
  compile(pypto.gather({ input: ["f32", [64, 80]], index: ["i32", [64, 64]], dim: 0 }), { tile: [16, 64] });

/** What an assertion that fails says. */
function said(check: () => void): string {
  try {
    check();
  } catch (thrown) {
    if (thrown instanceof AssertionError) return thrown.message;
    throw thrown;
  }
  throw new Error("nothing failed");
}

async function saidBy(check: Promise<void>): Promise<string> {
  const thrown: unknown = await check.then(
    () => new Error("nothing failed"),
    (reason: unknown) => reason,
  );
  if (thrown instanceof AssertionError) return thrown.message;
  throw thrown;
}

describe("what is legal and what is refused", () => {
  it("is asked of a kernel, of what tryCompile gave, and of a function that compiles", () => {
    assertThat(kernel).toBeLegal();
    assertThat(tryCompile(op)).toBeLegal();
    assertThat(() => kernel).toBeLegal();
    assertThat(cut).not.toBeLegal();
    assertThat(cut).toBeRefused();
    assertThat(cut).toBeRefused("full-load");
    assertThat(cut).toBeRefused("TC301");
    assertThat(kernel).not.toBeRefused();
    expect(() => {
      assertThat(op as never).toBeLegal();
    }).toThrow(/TC702.*is not a kernel or a function that compiles one/);
  });

  it("is told with the compiler's own words and hint", () => {
    expect(
      said(() => {
        assertThat(cut).toBeLegal();
      }),
    ).toMatch(/TC301.*tile\[0\] = 16 must equal view\[0\] = 64[^]*hint/);
    expect(
      said(() => {
        assertThat(cut).toBeRefused("ub-budget");
      }),
    ).toMatch(
      /^expected a refusal for ub-budget; it is refused for full-load \(TC301\) instead:\nerror\[TC301\]/,
    );
    expect(
      said(() => {
        assertThat(kernel).toBeRefused("full-load");
      }),
    ).toMatch(/expected a refusal for full-load; @gather_elements is legal on ascend-a2/);
    expect(() => {
      assertThat(cut).toBeRefused("fullload" as never);
    }).toThrow(/reason is "fullload"; it takes a category or a code[^]*did you mean full-load/);
  });
});

describe("limits", () => {
  it("hold at what the kernel takes, and are passed one below it", () => {
    const moved = 4 * (2 * 64 * 64 + 64 * 64);
    assertThat(kernel).toMoveAtMost({ bytes: moved, ratio: 1 });
    expect(
      said(() => {
        assertThat(kernel).toMoveAtMost({ bytes: moved - 1 });
      }),
    ).toMatch(/moves 49152 B, 1 B more than 49151 B; data 16384 B, indices 16384 B, output 16384 B/);
    const twice = compile(gatherElements({ data: ["f32", [8, 64]], indices: ["i32", [64, 64]], axis: 0 }), {
      target: targets.ascendA2,
      tile: [8, 32],
      profile: "head",
      order: [0, 1],
    });
    expect(
      said(() => {
        assertThat(twice).toMoveAtMost({ ratio: 1 });
      }),
    ).toMatch(/times what any schedule moves, more than 1/);
  });

  it("of the unified buffer are its own budget, or bytes, and name its buffers", () => {
    assertThat(kernel).toFitUb();
    // Three tiles of 64 x 32 elements of 4 bytes, and what the gather's instructions add.
    const { bytes } = kernel.footprint!;
    expect(bytes).toBeGreaterThanOrEqual(3 * 64 * 32 * 4);
    assertThat(kernel).toFitUb(bytes);
    expect(
      said(() => {
        assertThat(kernel).toFitUb(bytes - 1);
      }),
    ).toMatch(new RegExp(`more than ${bytes - 1} B of the unified buffer; %\\w+ 1 x \\d+ B`));
  });

  it("in cycles name the clock that runs, in the documentation too", () => {
    const page = readFileSync(new URL("../../docs/testing.md", import.meta.url), "utf8");
    expect([...page.matchAll(/clock: (\d+)/g)].map(([, version]) => Number(version))).toEqual([clockVersion]);
  });

  it("in cycles tell another clock from a slower kernel", () => {
    assertThat(kernel).toTakeAtMost({ cycles: 1e9 });
    const slow = said(() => {
      assertThat(kernel).toTakeAtMost({ cycles: 1, clock: clockVersion });
    });
    expect(slow).toMatch(/more than 1 cycles; [\w ]+ is busy longest, \d+ % of the time: /);
    expect(slow.match(/ is busy /g)).toHaveLength(1);
    expect(
      said(() => {
        assertThat(kernel).toTakeAtMost({ cycles: 1, clock: clockVersion - 1 });
      }),
    ).toMatch(
      new RegExp(
        `^@gather_elements is pinned under clock ${clockVersion - 1}, .*: 1 cycles of the one do not compare`,
      ),
    );
  });

  it("are exact where that is asked: less is told as more is", () => {
    const { cycles } = measured(kernel);
    assertThat(kernel).toTakeExactly({ cycles });
    assertThat(kernel).toTakeExactly({ cycles, clock: clockVersion });
    assertThat(kernel).toMoveExactly({ bytes: 49_152 });
    for (const by of [-1, 1]) {
      assertThat(kernel).not.toTakeExactly({ cycles: cycles + by });
      assertThat(kernel).not.toMoveExactly({ bytes: 49_152 + by });
    }
    expect(
      said(() => {
        assertThat(kernel).toTakeExactly({ cycles: 28_000, clock: clockVersion - 1 });
      }),
    ).toMatch(
      new RegExp(
        `^@gather_elements is pinned under clock ${clockVersion - 1}, .*: 28000 cycles .* ${cycles} of the other; .* is busy longest`,
      ),
    );
    expect(
      said(() => {
        assertThat(kernel).toMoveExactly({ bytes: 49_153 });
      }),
    ).toMatch(
      /^@gather_elements moves 49152 B, 1 B less than 49153 B; data 16384 B, indices 16384 B, output/,
    );
    expect(
      said(() => {
        assertThat(kernel).not.toTakeExactly({ cycles });
      }),
    ).toBe(`@gather_elements takes ${cycles} cycles`);
  });

  it("are limits: none at all is refused", () => {
    expect(() => {
      assertThat(kernel).toMoveAtMost({});
    }).toThrow(/cannot fail/);
    expect(() => {
      assertThat(kernel).toTakeAtMost({});
    }).toThrow(/cannot fail/);
    for (const figures of [{}, undefined, null, 4, { bytes: undefined }]) {
      expect(() => {
        assertThat(kernel).toMoveExactly(figures as never);
      }).toThrow(/TC702/);
      expect(() => {
        assertThat(kernel).toTakeExactly(figures as never);
      }).toThrow(/TC702/);
    }
    expect(() => {
      assertThat(kernel).toMoveExactly({ bytes: 1, ratio: 1 } as never);
    }).toThrow(/toMoveExactly has no ratio/);
    expect(() => {
      assertThat(kernel).toBeDeterministicOver([]);
    }).toThrow(/cannot fail/);
    expect(() => {
      assertThat(kernel).toMatchChecks("no checks");
    }).toThrow(/cannot fail/);
  });
});

describe("the tile program", () => {
  it("is compared with a text, whatever its blanks", () => {
    const text = kernel.text("tile");
    assertThat(kernel).toMatchTile(text.replaceAll("  ", "    "));
    assertThat(kernel).not.toMatchTile(compile(op, { tile: [64, 64] }).text("tile"));
    const message = said(() => {
      assertThat(kernel).toMatchTile(text.replaceAll("step 32", "step 64"));
    });
    expect(message).toMatch(/^-.*step 64/m);
    expect(message).toMatch(/^\+.*step 32/m);
    expect(() => {
      assertThat(kernel).toMatchTile("func");
    }).toThrow(/TC002/);
  });

  it("is looked through for CHECK lines", () => {
    assertThat(kernel).toMatchChecks("// CHECK: for %t1 = 0 to 64 step 32\n// CHECK: gather");
    expect(
      said(() => {
        assertThat(kernel).toMatchChecks("// CHECK: step 31");
      }),
    ).toMatch(/line 1 of the checks: not found/);
  });
});

describe("bits", () => {
  it("match the reference on every backend that is named", async () => {
    await assertThat(kernel).toMatchReference({ backends: ["reference", "sim"] });
    expect(await saidBy(assertThat(kernel).not.toMatchReference())).toContain(
      "gives the 64x64xf32 of its definition on sim",
    );
  });

  const [wrong] = parseModule(
    `func @wide(%x: gm<8x8xf32>, %i: gm<8x8xi32>, %y: gm<8x8xf32>) target("cpu") {
       for %t = 0 to 8 step 2 parallel {
         gather %x[0, 0][8, 8], %i[%t, 0][2, 8] to %y[%t, 0][2, 8] (d0, d1) -> (%i[d0, d1], d1) {oob = error, origin = [%t, 0]}
       }
     }`,
    "wide.tir",
  ).module.funcs as readonly [TileFunc];
  const along = (axis: number) => gatherElements({ data: ["f32", [8, 8]], indices: ["i32", [8, 8]], axis });

  it("of a program by hand are those of the operator it claims to be, or are told with their origin", async () => {
    // It picks rows and claims to pick columns; rows 0 to 4 of this data do not tell one from the other.
    const inputs = {
      data: Float32Array.from({ length: 64 }, (_, k) => (k < 40 || k % 9 === 0 ? k % 8 : 100)),
      indices: Int32Array.from({ length: 64 }, (_, k) => k % 8),
    };
    const message = await saidBy(assertThat(() => compile(wrong)).toPreserve(along(1), { inputs }));
    expect(message).toMatch(
      /sim: 21 of 64 elements differ; first at \[5, 0\]: got 0 \(0x00000000\), expected 100 \(0x42c80000\); indices\[5, 0\] = 0; produced by tile \[4, 0\] of task 2 on core 2; written by gather/,
    );
  });

  /** A kernel of somebody's own, which has the first word of each output wrong. */
  const mine: Backend = {
    name: "mine",
    async prepare(prepared) {
      const inner = await checkedBackend.prepare(prepared);
      return {
        async run(given) {
          const { output } = await inner.run(given);
          output[0] = (output[0] ?? 0) ^ 1;
          return { output };
        },
        release: () => undefined,
      };
    },
  };

  it("of a backend of one's own are told without tiles, which it did not run, and of sim with them", async () => {
    const message = await saidBy(assertThat(kernel).toMatchReference({ backends: [mine] }));
    expect(message).toMatch(
      /^mine: 1 of 4096 elements differ; first at \[0, 0\]: got \S+ \(0x\w+\), expected \S+ \(0x\w+\); indices\[0, 0\] = \d+; inputs of seed 1, set 1 of 4: indices in range$/,
    );
    const ran = { tile: kernel.tile, target: kernel.target, inputs: randomInputs(kernel, 1) };
    const type = { dtype: "f32", shape: [64, 64] } as const;
    const [a, b] = [0, 1].map((byte) => ({ type, bytes: new Uint8Array(64 * 64 * 4).fill(byte) }));
    const notes = (backend: BackendChoice) =>
      differenceFrom({ ...ran, backend }, a!, b!, "it")?.notes?.map((note) => note.split(" ")[0]);
    expect(notes("sim")).toEqual(["indices[0,", "produced", "written"]);
    expect(notes("webgpu")).toEqual(["indices[0,", "produced", "written"]);
    expect(notes("reference")).toEqual(["indices[0,"]);
    expect(notes(mine)).toEqual(["indices[0,"]);
  });

  it("that differ are told with the seed and the number of the inputs, which make them again", async () => {
    const lenient = compile(
      gatherElements({ data: ["f32", [64, 80]], indices: ["i32", [64, 64]], axis: 0, oob: "clamp" }),
    );
    const strict = gatherElements({
      data: ["f32", [64, 80]],
      indices: ["i32", [64, 64]],
      axis: 0,
      oob: "zero",
    });
    const of = (seed: number) => saidBy(assertThat(lenient).toPreserve(strict, { seed }));
    expect(await of(7)).toMatch(/; inputs of seed 7, set 3 of 4: one index out of range$/);
    expect(await of(7)).toBe(await of(7));
    expect(await of(7)).not.toBe(await of(8).then((message) => message.replace("seed 8", "seed 7")));
    const inputs = { data: new Float32Array(64 * 80), indices: new Int32Array(64 * 64).fill(64) };
    inputs.data.fill(1);
    expect(await saidBy(assertThat(lenient).toPreserve(strict, { inputs }))).not.toMatch(/seed/);
  });

  it("are the same under every tile", () => {
    assertThat(kernel).toBeDeterministicOver([
      [64, 8],
      [64, 64],
      [64, 33],
    ]);
    expect(
      said(() => {
        assertThat(kernel).toBeDeterministicOver([
          [64, 8],
          [0, 8],
        ]);
      }),
    ).toMatch(/tile \[0, 8\] is refused/);
  });

  it("of a pass that breaks the program are never compared: the pass is named", async () => {
    const dropSyncs: Pass = {
      ...defaultPipeline[defaultPipeline.length - 1]!,
      name: "drop-syncs",
      run: (func) => func,
    };
    const passes = [...defaultPipeline.slice(0, -1), dropSyncs];
    expect(await saidBy(assertThat(() => compile(op, { passes })).toPreserve(op))).toMatch(
      /after drop-syncs/,
    );
    await assertThat(() => compile(op, { passes: defaultPipeline })).toPreserve(op);
  });
});

describe("options that a comparison does not take", () => {
  it.each([
    [{ backend: ["webgpu"] }, "toMatchReference has no backend; it has backends, "],
    [{ backends: "webgpu" }, 'backends is "webgpu"; it takes a list, each reference or sim or webgpu'],
    [{ backends: ["webgpo"] }, 'backends is ["webgpo"]; it takes a list'],
    [{ seed: "1" }, 'seed is "1"; it takes a whole number'],
    [{ require: ["gpu"] }, 'require is ["gpu"]; it takes a list of backends'],
    [{ inputs: 3 }, "inputs is 3; it takes typed arrays by operand"],
  ])("%j is TC702, and compares nothing", async (options, said) => {
    await expect(assertThat(kernel).toMatchReference(options as never)).rejects.toThrow(`TC702]: ${said}`);
    await expect(assertThat(kernel).not.toMatchReference(options as never)).rejects.toThrow("TC702");
    await expect(assertThat(kernel).toPreserve(op, options as never)).rejects.toThrow("TC702]: ");
  });

  it("nor is anything but a program one that a kernel preserves", async () => {
    await expect(assertThat(kernel).toPreserve(kernel as never)).rejects.toThrow(
      "TC702]: the program is an object",
    );
  });

  it("and a backend whose kernel does not run is told apart from one that gives other bits", async () => {
    const own = (prepared: unknown) => ({ name: "mine", prepare: () => prepared as never });
    const run = () => Promise.resolve({ output: new Uint8Array(4) });
    for (const prepared of [undefined, 3, {}, { run }, { release: () => undefined }])
      await expect(assertThat(kernel).toMatchReference({ backends: [own(prepared)] })).rejects.toThrow(
        /TC611.*mine prepares .*, without run and release/,
      );
  });
});

describe("what cannot fail", () => {
  it.each([
    ["toFitUb", NaN],
    ["toFitUb", Infinity],
    ["toMoveAtMost", { bytes: NaN }],
    ["toMoveAtMost", { ratio: NaN }],
    ["toMoveAtMost", { bytes: -1 }],
    ["toTakeAtMost", { cycles: NaN }],
    ["toTakeAtMost", { cycles: 1, clock: NaN }],
    ["toMoveExactly", { bytes: Infinity }],
    ["toTakeExactly", { cycles: NaN }],
  ] as const)("is refused, and so is its opposite: %s %j", (matcher, limit) => {
    for (const assertions of [assertThat(kernel), assertThat(kernel).not]) {
      expect(() => {
        assertions[matcher](limit as never);
      }).toThrow(/TC702.*cannot fail/);
    }
  });

  it("is a comparison on no backend", async () => {
    await expect(assertThat(kernel).toMatchReference({ backends: [] })).rejects.toThrow(/TC702.*cannot fail/);
    await expect(assertThat(kernel).not.toPreserve(op, { backends: [] })).rejects.toThrow(/cannot fail/);
  });

  it("is neither a check nor its opposite of a kernel that does not compile", async () => {
    for (const assertions of [assertThat(cut), assertThat(cut).not]) {
      expect(
        said(() => {
          assertions.toMoveAtMost({ bytes: 4 });
        }),
      ).toMatch(/^it does not compile:[^]*TC301/);
      expect(await saidBy(assertions.toMatchReference())).toMatch(/^it does not compile:[^]*TC301/);
    }
    const large = () =>
      compile(gatherElements({ data: ["f32", [4096, 1024]], indices: ["i32", [4096, 1024]], axis: 0 }), {
        tile: [4096, 1024],
      });
    assertThat(large).not.toFitUb();
  });
});

describe("a failure", () => {
  const thrownBy = (check: () => void): AssertionError => {
    try {
      check();
    } catch (thrown) {
      if (thrown instanceof AssertionError) return thrown;
      throw thrown;
    }
    throw new Error("nothing failed");
  };

  it("carries what was expected and what was found", async () => {
    expect(
      thrownBy(() => {
        assertThat(kernel).toMoveAtMost({ bytes: 49000 });
      }),
    ).toMatchObject({ expected: { bytes: 49000 }, actual: { bytes: 49152 } });
    const text = kernel.text("tile").replaceAll("step 32", "step 64");
    const other = thrownBy(() => {
      assertThat(kernel).toMatchTile(text);
    });
    expect([other.expected, other.actual]).toEqual([text, kernel.text("tile")]);
    expect(
      thrownBy(() => {
        assertThat(cut).toBeRefused("ub-budget");
      }),
    ).toMatchObject({ expected: "a refusal for ub-budget", actual: "refused for full-load (TC301)" });
    const inputs = { data: new Float32Array(5120).fill(1), indices: new Int32Array(4096) };
    const along = gatherElements({ data: ["f32", [64, 80]], indices: ["i32", [64, 64]], axis: 1 });
    const bits: unknown = await assertThat(kernel)
      .toPreserve(along, { inputs: { ...inputs, data: Float32Array.from({ length: 5120 }, (_, k) => k) } })
      .catch((thrown: unknown) => thrown);
    expect(bits).toMatchObject({
      expected: expect.stringContaining("0x") as string,
      actual: expect.stringContaining("0x") as string,
    });
  });

  it("of a case carries the element that differs", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tilec-cases-"));
    const one = {
      id: "wrong",
      op: "gather",
      dialect: "onnx",
      data: { dtype: "i32", shape: [3], values: [10, 20, 30] },
      indices: { dtype: "i32", shape: [2], values: [2, 0] },
      output: { dtype: "i32", shape: [2], values: [30, 11] },
      expect: "ok",
    };
    writeFileSync(join(folder, "a.json"), JSON.stringify(one));
    const [test] = caseTests(folder);
    const thrown: unknown = await test!.run().catch((reason: unknown) => reason);
    rmSync(folder, { recursive: true });
    expect(thrown).toBeInstanceOf(AssertionError);
    expect(thrown).toMatchObject({ expected: "11", actual: "10" });
  });
});
