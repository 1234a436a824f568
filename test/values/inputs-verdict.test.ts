/** Inputs judged by running the steps on them, beside the conditions that are enough for any inputs. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv } from "ajv";
import { afterAll, describe, expect, it } from "vitest";
import { parseModule } from "../../ir/index.js";
import { inputsOf, keyOf } from "../../ir/func.js";
import { mapOfTile } from "../../backends/reference/defined-map.js";
import { inputsVerdict } from "../../backends/reference/unmet-condition.js";
import { bitsOfNumber } from "../../ir/values/index.js";
import { writeNpy } from "../../src/formats/npy.js";
import { verdictOn } from "../../src/api/inputs-verdict.js";
import { compile, targets, toHost } from "../../src/index.js";
import { runHere } from "../support/run-here.js";
import { parsed } from "../support/parsed.js";

type Numbers = readonly number[];

/** The verdict on rows 0 and 1 of tables, by names; each list is cut or filled with its last number. */
function verdictOf(value: string, tables: Readonly<Record<string, readonly [string, Numbers]>>, terms = 0) {
  const params = Object.entries(tables).map(([name, [type]]) => `%${name}: tensor<4x3x${type}>`);
  const names = Object.keys(tables).map((name) => `%${name}`);
  const [dims, index, shape] = terms > 0 ? ["d0, d1; r < 2", "%i[d0, r]", "2x2"] : ["d0, d1", "%i[d0]", "2"];
  const text = `func @f(${params.join(", ")}, %i: tensor<${shape}xi32>) -> tensor<2x3xf32> {
  %y = access.gather ${names.join(", ")}, %i (${dims}) let t = error(${index} in 4) yield ${value} {oob = error}
  return %y
}`;
  const { module, diagnostics } = parseModule(text, "verdict.tir");
  expect(diagnostics).toEqual([]);
  const kernel = compile(module.funcs[0]!, { target: targets.ascendA2 });
  const inputs = Object.fromEntries(
    inputsOf(kernel.tile).map((operand) => {
      const own = tables[operand.name]?.[1];
      const rows = terms > 0 ? [0, 1, 2, 3] : [0, 1];
      const list = own === undefined ? rows : Array.from({ length: 12 }, (_, k) => own[k] ?? own.at(-1)!);
      const { dtype } = operand.type;
      const units =
        dtype === "i32"
          ? Int32Array.from(list)
          : dtype === "f32"
            ? Float32Array.from(list)
            : Uint16Array.from(list, (value) => bitsOfNumber("f16", value));
      return [keyOf(operand), toHost(operand.name, operand.type, units)];
    }),
  );
  const { map, operands } = kernel.definition ?? mapOfTile(kernel.tile);
  return inputsVerdict({ map, operands, inputs }, kernel.pto().assumes);
}

const ones = ["f32", [1]] as const;
const flushes = "Ascend cores may flush subnormals to zero";
const leaves = "it may leave the range, where machines saturate or give infinities";
const product = "%a[t, d1] * %b[t, d1]";

describe("inputs on an Ascend core", () => {
  it("meet the conditions, or need not where no step comes near what they keep off", () => {
    expect(verdictOf(product, { a: ones, b: ones })).toEqual({ kind: "met" });
    // 2^-100 by 1 is a normal number.
    expect(verdictOf(product, { a: ["f32", [1, 2 ** -100, 1]], b: ones })).toEqual({
      kind: "unneeded",
      unmet: { operand: "a", element: 1, value: 2 ** -100, bound: "0 or at least 2^-63" },
    });
    // So is a product of the largest that comes to less than 2^128, and one by zero.
    expect(verdictOf(product, { a: ["f32", [2 ** 100]], b: ["f32", [2 ** 27, -0]] }).kind).toBe("unneeded");
    // Row 2 is read by nobody.
    const list = [1, 1, 1, 1, 1, 1, 2 ** -149];
    expect(verdictOf(product, { a: ["f32", list], b: ones }).kind).toBe("met");
  });

  it.each<readonly [string, Numbers, Numbers, string, Numbers]>([
    ["a product that is subnormal", [1, 2 ** -64], [1, 2 ** -64], `mul of f32: ${flushes}`, [0, 1]],
    // Rounded to the least normal number, which a core that looks before it rounds does not see.
    ["a product that rounds to a normal one", [1 - 2 ** -24], [2 ** -126], `mul of f32: ${flushes}`, [0, 0]],
    ["a subnormal operand", [1, 1, 1, 2 ** -127], [4], `mul of f32: ${flushes}`, [1, 0]],
    ["an infinite product", [1, 1, 1, 1, 2 ** 64], [2 ** 64], `mul of f32: ${leaves}`, [1, 1]],
    [
      "an infinity",
      [1, Infinity],
      [0],
      "a read of f32: no page states the bits of what is made of a NaN, and machines may saturate infinities",
      [0, 1],
    ],
    [
      "a NaN",
      [NaN],
      [1],
      "a read of f32: no page states the bits of what is made of a NaN, and machines may saturate infinities",
      [0, 0],
    ],
  ])("may have other bits: %s", (_, a, b, step, point) => {
    expect(verdictOf(product, { a: ["f32", a], b: ["f32", b] })).toMatchObject({
      kind: "other bits",
      step,
      point,
    });
  });

  it("are judged term by term: a sum that cancels to a subnormal, and one that overflows on its way", () => {
    const sum = "fold(%a[t, d1])";
    const near = 2 ** -126 * (1 + 2 ** -23);
    const cancelled = { a: ["f32", [2 ** -126, 1, 1, -near, 1]] } as const;
    expect(verdictOf(sum, cancelled, 2)).toMatchObject({
      kind: "other bits",
      step: `fold of f32: ${flushes}`,
      point: [0, 0],
    });
    const whole = { a: ["f32", [2 ** -126, 1, 1, 2 ** -126, 1]] } as const;
    expect(verdictOf(sum, whole, 2).kind).toBe("unneeded");
    const most = { a: ["f32", [2 ** 127, 1, 1, 2 ** 127, 1]] } as const;
    expect(verdictOf(sum, most, 2)).toMatchObject({ kind: "other bits", step: `fold of f32: ${leaves}` });
    expect(verdictOf(sum, { a: ["f32", [2 ** 127, 1, 1, -(2 ** 127), 1]] }, 2).kind).toBe("unneeded");
  });

  it("are judged by subnormals of f32, not by those of f16", () => {
    const value = "f32(%a[t, d1]) * %b[t, d1]";
    expect(verdictOf(value, { a: ["f16", [2 ** -24]], b: ones }).kind).toBe("met");
    expect(verdictOf(value, { a: ["f16", [2 ** -24]], b: ["f32", [2 ** -103]] })).toMatchObject({
      kind: "other bits",
      point: [0, 0],
      unmet: { operand: "b" },
    });
    expect(verdictOf(value, { a: ["f16", [2 ** -23]], b: ["f32", [2 ** -103]] }).kind).toBe("unneeded");
  });
});

describe("inputs of a scatter on an Ascend core", () => {
  /** The verdict on points that write elements 1, 1 and 3 of four, each combined with an update. */
  const verdictOfScatter = (
    combine: string,
    [base, updates]: readonly [Numbers, Numbers],
    { type = "f32", value = "%u[d0]", rows = [1, 1, 3] } = {},
  ) => {
    const text = `func @f(%x: tensor<4x${type}>, %i: tensor<3xi32>, %u: tensor<3x${type}>) -> tensor<4x${type}> {
  %y = access.scatter %x, %i, %u (d0 < 3) -> (%i[d0]) yield ${value} {oob = skip, combine = ${combine}}
  return %y
}`;
    const kernel = compile(parsed(text), { target: targets.ascendA2 });
    const lists: Readonly<Record<string, Numbers>> = { x: base, u: updates };
    const inputs = Object.fromEntries(
      inputsOf(kernel.tile).map((operand) => {
        const list = lists[operand.name];
        const units =
          list === undefined
            ? Int32Array.from(rows)
            : type === "f32"
              ? Float32Array.from(list)
              : Uint16Array.from(list, (number) => bitsOfNumber("f16", number));
        return [keyOf(operand), toHost(operand.name, operand.type, units)];
      }),
    );
    return verdictOn(kernel, inputs);
  };
  const whole = [1, 1, 1, 1];

  it("meet the conditions, or need not where no step comes near what they keep off", () => {
    expect(verdictOfScatter("add", [whole, [1, 2, 3]])).toEqual({ kind: "met" });
    // What no point combines stays as it is: an element of the base, and the update of a point that is skipped.
    for (const number of [2 ** -140, NaN, Infinity])
      expect(
        verdictOfScatter("add", [
          [number, 1, number, 1],
          [1, 2, 3],
        ]),
      ).toEqual({ kind: "met" });
    const skipped = { rows: [1, 1, 9] };
    expect(
      verdictOfScatter(
        "add",
        [
          [1, 1, 1, NaN],
          [1, 2, NaN],
        ],
        skipped,
      ),
    ).toEqual({ kind: "met" });
    // A sum of the largest that stays below 2^128.
    expect(
      verdictOfScatter("add", [
        [0, 2 ** 127, 0, 0],
        [-(2 ** 127), 1, 1],
      ])?.kind,
    ).toBe("unneeded");
  });

  it("may have other bits at the element that the first such point writes, which names what it is of", () => {
    const near = 2 ** -126 * (1 + 2 ** -23);
    expect(
      verdictOfScatter("add", [
        [0, 2 ** -126, 0, 2 ** -140],
        [1, 1, 1],
      ]),
    ).toEqual({
      kind: "other bits",
      point: [3],
      step: `add of f32: ${flushes}`,
      unmet: { operand: "x", element: 3, value: 2 ** -140, bound: "0 or at least 2^-103" },
    });
    // The second of two points that meet in an element: the sum cancels to a subnormal.
    expect(
      verdictOfScatter("add", [
        [0, 0, 0, 0],
        [2 ** -126, -near, 1],
      ]),
    ).toMatchObject({
      kind: "other bits",
      point: [1],
      step: `add of f32: ${flushes}`,
      unmet: { operand: "u", element: 0 },
    });
    expect(
      verdictOfScatter("add", [
        [0, 2 ** 127, 0, 0],
        [1, 2 ** 127, 1],
      ]),
    ).toMatchObject({
      point: [1],
      step: `add of f32: ${leaves}`,
      unmet: { operand: "x", element: 1 },
    });
    expect(
      verdictOfScatter("mul", [
        [1, 1, 1, 2 ** -64],
        [1, 1, 2 ** -64],
      ]),
    ).toMatchObject({
      point: [3],
      step: `mul of f32: ${flushes}`,
    });
    for (const number of [NaN, Infinity, -Infinity])
      for (const [x, u, operand] of [
        [number, 1, "x"],
        [1, number, "u"],
      ] as const)
        expect(
          verdictOfScatter("add", [
            [1, 1, 1, x],
            [1, 1, u],
          ]),
        ).toMatchObject({
          kind: "other bits",
          point: [3],
          step: "a read of f32: no page states the bits of what is made of a NaN, and machines may saturate infinities",
          unmet: { operand },
        });
  });

  it("are judged by the numbers of f16, and with a constant", () => {
    const f16 = { type: "f16" };
    expect(verdictOfScatter("add", [whole, [2 ** -24, 1, 1]], f16)).toEqual({ kind: "met" });
    expect(
      verdictOfScatter(
        "add",
        [
          [1, 1, 1, 40000],
          [1, 1, 40000],
        ],
        f16,
      ),
    ).toMatchObject({
      kind: "other bits",
      point: [3],
      step: `a cast of f32 to f16: ${leaves}`,
    });
    expect(
      verdictOfScatter(
        "add",
        [
          [1, 1, 1, 2 ** -140],
          [1, 1, 1],
        ],
        { value: "f32(1)" },
      ),
    ).toMatchObject({
      kind: "other bits",
      point: [3],
    });
  });

  it("are not judged where elements are moved, or a value is computed", () => {
    expect(verdictOfScatter("set, duplicates = last", [whole, [NaN, 1, 1]])).toBeUndefined();
    expect(verdictOfScatter("add", [whole, [1, 1, 1]], { value: "%u[d0] * %u[d0]" })).toBeUndefined();
  });
});

const isOfSchema = new Ajv({ strict: false }).compile(
  JSON.parse(readFileSync("schema/run.json", "utf8")) as object,
);

describe("run and check", () => {
  const folder = mkdtempSync(join(tmpdir(), "tilec-verdict-"));
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const tir = `func @f(%a: tensor<2x2xf32>, %b: tensor<2xf32>, %i: tensor<1xi32>) -> tensor<1x2xf32> {
  %y = access.gather %a, %b, %i (d0, d1) let t = error(%i[d0] in 2) yield %a[t, d1] * %b[t] {oob = error}
  return %y
}`;
  const text = join(folder, "f.tir");
  writeFileSync(text, tir);
  const input = (name: string, shape: readonly number[], list: Float32Array | Int32Array): string => {
    const type = { dtype: list instanceof Int32Array ? ("i32" as const) : ("f32" as const), shape };
    writeFileSync(join(folder, `${name}.npy`), writeNpy({ type, bytes: new Uint8Array(list.buffer) }));
    return `--input=${name}=${join(folder, `${name}.npy`)}`;
  };
  const runWith = (factor: number, ...flags: readonly string[]) =>
    runHere([
      "run",
      text,
      input("a", [2, 2], Float32Array.of(1, 1, 1, 2 ** -30)),
      input("b", [2], Float32Array.of(1, factor)),
      input("i", [1], Int32Array.of(1)),
      ...flags,
    ]);

  it("say of the inputs of a run what an Ascend core makes of them", async () => {
    const last = async (factor: number) => (await runWith(factor)).stdout.trimEnd().split("\n").at(-1);
    expect(await last(1)).toBe("Ascend cores give these bits: the inputs meet the conditions");
    expect(await last(2 ** -80)).toBe(
      "Ascend cores give these bits: element 1 of b is 8.271806125530277e-25, not 0 or at least 2^-63, and no step needs it here",
    );
    const other = await runWith(2 ** -100);
    expect(other.status).toBe(0);
    expect(other.stdout).toContain(
      `Ascend cores may give other bits: mul of f32: ${flushes}, at output [0, 1]`,
    );
    expect(other.stderr).toContain("hint[TC912]");
    const document = JSON.parse((await runWith(2 ** -100, "--json")).stdout) as Record<string, unknown>;
    expect(document).toMatchObject({
      ok: true,
      ascend: { kind: "other bits", point: [0, 1], unmet: { operand: "b", element: 1 } },
      diagnostics: [{ code: "TC912", severity: "hint" }],
    });
    for (const word of ["NaN", "Infinity", "-Infinity"]) {
      const printed: unknown = JSON.parse((await runWith(Number(word), "--json")).stdout);
      const unmet = { operand: "b", element: 1, value: word, bound: "finite" };
      expect(printed).toMatchObject({ ascend: { unmet }, diagnostics: [{ code: "TC912", data: unmet }] });
      expect(isOfSchema(printed), JSON.stringify(isOfSchema.errors)).toBe(true);
    }
    // Other machines are not asked.
    const cpu = JSON.parse((await runWith(2 ** -100, "--json", "--target", "cpu")).stdout) as object;
    expect(cpu).not.toHaveProperty("ascend");
  });

  it("say it of the sums of a scatter", async () => {
    const file = join(folder, "s.tir");
    writeFileSync(
      file,
      `func @s(%x: tensor<4xf32>, %i: tensor<2xi32>, %u: tensor<2xf32>) -> tensor<4xf32> {
  %y = access.scatter %x, %i, %u (d0 < 2) -> (%i[d0]) yield %u[d0] {oob = error, combine = add}
  return %y
}`,
    );
    const sums = (update: number) =>
      runHere([
        ...["run", file, "--target=ascend-a2", "--residency=ub"],
        input("x", [4], Float32Array.of(1, 1, 2, 3)),
        input("i", [2], Int32Array.of(0, 2)),
        input("u", [2], Float32Array.of(update, 1)),
      ]);
    const last = async (update: number) => (await sums(update)).stdout.trimEnd().split("\n").at(-1);
    expect(await last(1)).toBe("Ascend cores give these bits: the inputs meet the conditions");
    expect(await last(2 ** -127)).toBe(
      `Ascend cores may give other bits: add of f32: ${flushes}, at output [0]`,
    );
    expect((await sums(2 ** -127)).stderr).toContain("hint[TC912]");
  });

  it("tell it of a test that passes", async () => {
    const bits = (list: readonly number[]) => ({
      bits: list.map((value) => bitsOfNumber("f32", value).toString(16).padStart(8, "0")),
    });
    const tensor = (shape: readonly number[], list: readonly number[]) => ({
      dtype: "f32",
      shape,
      ...bits(list),
    });
    const cases = [2 ** -80, 2 ** -100].map((factor, k) => ({
      id: `factor-${k}`,
      op: "map",
      target: "ascend-a2",
      tir,
      inputs: {
        a: tensor([2, 2], [1, 1, 1, 2 ** -30]),
        b: tensor([2], [1, factor]),
        i: { dtype: "i32", shape: [1], values: [1] },
      },
      output: tensor([1, 2], [factor, factor * 2 ** -30]),
      expect: "ok",
    }));
    const file = join(folder, "cases.json");
    writeFileSync(file, JSON.stringify({ schema: 1, cases }));
    const ran = await runHere(["check", file, "--backend", "reference,sim"]);
    expect(ran.status).toBe(0);
    expect(ran.stdout).toContain("TC912: an Ascend core may give other bits for 1 test that passed");
    const onGithub = await runHere(["check", file, "--backend", "reference,sim", "--reporter", "github"]);
    expect(onGithub.stdout.split("\n")[0]).toBe(
      "::notice title=TC912::an Ascend core may give other bits for 1 test that passed; --json names them",
    );
    const json = await runHere(["check", file, "--backend", "reference,sim", "--json"]);
    const { results } = JSON.parse(json.stdout) as {
      results: { id: string; status: string; code?: string }[];
    };
    expect(results.map(({ id, status, code }) => [id, status, code])).toEqual([
      ["factor-0", "pass", undefined],
      ["factor-0", "pass", undefined],
      ["factor-1", "pass", "TC912"],
      ["factor-1", "pass", "TC912"],
    ]);
  });
});
