import { describe, expect, it } from "vitest";
import { defined, elementCount, parseModule, targets, type IndexDType, type Target } from "../../ir/index.js";
import { compile, run, tryCompile, type BackendName } from "../../src/index.js";
import { testRunner } from "../support/gpu.js";
import { parsed } from "../support/parsed.js";

const arrays = {
  i8: Int8Array,
  u8: Uint8Array,
  i16: Int16Array,
  u16: Uint16Array,
  i32: Int32Array,
  u32: Uint32Array,
  i64: BigInt64Array,
  u64: BigUint64Array,
} as const;
const types = Object.keys(arrays) as IndexDType[];
const policies = ["error", "clamp", "zero", "wrap", "unchecked"] as const;
type Policy = (typeof policies)[number];

const bits = (type: IndexDType): bigint => BigInt(type.slice(1));
const least = (type: IndexDType): bigint => (type.startsWith("i") ? -(1n << (bits(type) - 1n)) : 0n);
const most = (type: IndexDType): bigint => least(type) + (1n << bits(type)) - 1n;

const arrayOf = (type: IndexDType, values: readonly bigint[]) =>
  type === "i64" || type === "u64" ? arrays[type].from(values) : arrays[type].from(values.map(Number));

/** The element among `n` that a value names, a negative one counted from `end`; "none" or "bad" where it names none. */
function meant(value: bigint, policy: Policy, n: bigint, end: bigint): number | "none" | "bad" {
  const counted = value < 0n ? value + end : value;
  if (counted >= 0n && counted < n) return Number(counted);
  if (policy === "error" || policy === "unchecked") return "bad";
  if (policy === "zero") return "none";
  if (policy === "clamp") return counted < 0n ? 0 : Number(n - 1n);
  return Number(((counted % n) + n) % n);
}

interface Form {
  readonly name: string;
  readonly map: string;
  readonly data: readonly number[];
  readonly indices: readonly number[];
  readonly output: readonly number[];
  /** Of the dim that is picked along, and what is added to a value before its policy. */
  readonly extent: number;
  readonly plus: bigint;
  /** The position of the index value and, once it is an element, of the data. */
  readonly at: (point: number) => readonly [position: number, source: (element: number) => number];
  readonly general?: true;
}

const forms: readonly Form[] = [
  {
    name: "rows",
    map: "(d0, d1) -> (from_end(%i[d0]), d1)",
    data: [5, 3],
    indices: [11],
    output: [11, 3],
    extent: 5,
    plus: 0n,
    at: (point) => [Math.floor(point / 3), (row) => 3 * row + (point % 3)],
  },
  {
    name: "long rows",
    map: "(d0, d1) -> (from_end(%i[d0]), d1)",
    data: [5, 16],
    indices: [12],
    output: [12, 16],
    extent: 5,
    plus: 0n,
    at: (point) => [Math.floor(point / 16), (row) => 16 * row + (point % 16)],
  },
  {
    name: "elements",
    map: "(d0, d1) -> (d0, from_end(%i[d0, d1]))",
    data: [3, 7],
    indices: [3, 48],
    output: [3, 48],
    extent: 7,
    plus: 0n,
    at: (point) => [point, (column) => 7 * Math.floor(point / 48) + column],
  },
  {
    name: "a sum that the policy bounds",
    map: "(d0, d1) -> (POLICY(%i[d0] + 1 in 6), d1)",
    data: [6, 4],
    indices: [9],
    output: [9, 4],
    extent: 6,
    plus: 1n,
    at: (point) => [Math.floor(point / 4), (row) => 4 * row + (point % 4)],
    general: true,
  },
];

const machines: readonly (readonly [BackendName, "checked" | "fast" | undefined, Target])[] = [
  ["reference", undefined, targets.cpu],
  ["sim", "checked", targets.ascendA2],
  ["sim", "fast", targets.cpu],
  ["webgpu", undefined, targets.webgpu],
];

describe.each(machines)(
  "an unsigned index above what its signed type holds on %s %s",
  (backend, executor, target) => {
    it.each(["u8", "u16"] as const)("%s", async (type) => {
      const runner = backend === "webgpu" ? await testRunner() : undefined;
      if (backend === "webgpu" && runner === undefined) return;
      // Some indices are beyond the rows, and one is above half of what its type holds.
      const rows = 2 ** (Number(bits(type)) - 1) + 2;
      const values = [rows - 1, rows - 2, 0, rows + 1, rows + 2];
      for (const coord of [
        "wrap(%i[d0])",
        `wrap(%i[d0] + 0 * d0 in ${rows})`,
        `wrap(%i[d0] + 1 in ${rows})`,
      ]) {
        const text = `func @f(%x: tensor<${rows}xi32>, %i: tensor<5x${type}>) -> tensor<5xi32> {
  %y = access.gather %x, %i (d0) -> (${coord}) {oob = error}
  return %y
}`;
        const kernel = compile(parsed(text), { target });
        const inputs = { x: Int32Array.from({ length: rows }, (_, k) => k), i: arrays[type].from(values) };
        const { outputs } = await run(kernel, inputs, {
          backend,
          runner,
          ...defined({ executor }),
        });
        const plus = coord.includes("+ 1") ? 1 : 0;
        expect([...(outputs.output as Int32Array)], coord).toEqual(
          values.map((value) => (value + plus) % rows),
        );
      }
    });
  },
);

it("a signed index of 8 bits may be negative: no div takes it", () => {
  const text = (
    type: string,
  ): string => `func @f(%x: tensor<64xi32>, %i: tensor<5x${type}>) -> tensor<5xi32> {
  %y = access.gather %x, %i (d0) -> (clamp(%i[d0] div 2 in 64)) {oob = error}
  return %y
}`;
  const codes = (type: string) => {
    const result = tryCompile(parsed(text(type)), {});
    return result.ok ? [] : result.diagnostics.map(({ code, message }) => `${code} ${message}`);
  };
  expect(codes("u8")).toEqual([]);
  expect(codes("i8")).toEqual([expect.stringContaining("div 2 is of -128 to 127: it may be negative")]);
});

describe.each(machines)("counting from an end under error on %s %s", (backend, executor, target) => {
  it.each([
    [5, [-5, -1, 0, 4], undefined],
    [5, [-5, -1, -6, 5], 2],
    [5, [-5, -1, 5, -6], 2],
    [2 ** 31, [-(2 ** 31), 4 - 2 ** 31, 0, 4], undefined],
    [2 ** 31, [4, 5 - 2 ** 31, 0, 4], 1],
    [2 ** 31, [4, 4, 2 ** 31 - 1, -1], 2],
    [2 ** 31, [4, 4, 4, -1], 3],
  ])("of %d elements: %j", async (end, values, bad) => {
    const runner = backend === "webgpu" ? await testRunner() : undefined;
    if (backend === "webgpu" && runner === undefined) return;
    const text = `func @f(%x: tensor<5xi32>, %i: tensor<4xi32>) -> tensor<4xi32> {
  %y = access.gather %x, %i (d0) -> (from_end(%i[d0] of ${end})) {oob = error}
  return %y
}`;
    const kernel = compile(parsed(text), { target });
    const ran = run(
      kernel,
      { x: Int32Array.of(7, 8, 9, 10, 11), i: Int32Array.from(values) },
      { backend, runner, ...defined({ executor }) },
    );
    if (bad === undefined) expect([...((await ran).outputs.output as Int32Array)]).toEqual([7, 11, 7, 11]);
    else {
      const thrown: unknown = await ran.catch((error: unknown) => error);
      expect(thrown).toMatchObject({
        diagnostics: [{ code: "TC601", data: { value: String(values[bad]), point: [bad] } }],
      });
    }
  });
});

describe.each(machines)("index values of every integer type on %s %s", (backend, executor, target) => {
  it.each(forms)("$name", async (form) => {
    const runner = backend === "webgpu" ? await testRunner() : undefined;
    if (backend === "webgpu" && runner === undefined) return;
    for (const dtype of ["u8", "f32"] as const) {
      for (const type of types) {
        for (const policy of policies) {
          const name = policy === "zero" ? "fill" : policy;
          const text = `func @f(%x: tensor<${form.data.join("x")}x${dtype}>, %i: tensor<${form.indices.join("x")}x${type}>) -> tensor<${form.output.join("x")}x${dtype}> {
  %y = access.gather %x, %i ${form.map.replace("POLICY", name)} {oob = ${policy}}
  return %y
}`;
          const { module, diagnostics } = parseModule(text, "t.tir");
          expect(diagnostics).toEqual([]);
          const kernel = compile(module.funcs[0]!, { target });
          const extent = BigInt(form.extent);
          const end = form.general === true ? 0n : extent;
          const picked = (value: bigint) => meant(value + form.plus, policy, extent, end);
          const known = [
            0n,
            1n,
            extent - 2n,
            2n,
            -1n,
            -2n,
            most(type),
            least(type),
            extent,
            3n,
            -extent,
            -extent - 1n,
          ];
          const given = known.filter(
            (value) =>
              value >= least(type) &&
              value <= most(type) &&
              (policy !== "unchecked" || typeof picked(value) === "number"),
          );
          const values = Array.from(
            { length: elementCount(form.indices) },
            (_, k) => given[(7 * k) % given.length]!,
          );
          const cells = Array.from({ length: elementCount(form.data) }, (_, k) => k + 1);
          const expected = Array.from({ length: elementCount(form.output) }, (_, point) => {
            const [position, source] = form.at(point);
            const element = picked(values[position]!);
            return typeof element === "number" ? cells[source(element)]! : element;
          });
          const x = dtype === "u8" ? Uint8Array.from(cells) : Float32Array.from(cells);
          const ran = run(
            kernel,
            { x, i: arrayOf(type, values) },
            { backend, runner, ...defined({ executor }) },
          );
          const what = `${dtype} by ${type} under ${policy}`;
          const bad = expected.indexOf("bad");
          if (bad === -1) {
            const { output } = (await ran).outputs;
            expect([...(output as Uint8Array)], what).toEqual(expected.map((e) => (e === "none" ? 0 : e)));
          } else {
            const [position] = form.at(bad);
            const width = form.output[1]!;
            const point = [Math.floor(bad / width), bad % width];
            const thrown: unknown = await ran.catch((error: unknown) => error);
            expect(thrown, what).toMatchObject({
              diagnostics: [
                {
                  code: "TC601",
                  data: { value: String(values[position]! + form.plus), point },
                },
              ],
            });
          }
        }
      }
    }
  });
});
