/** Each matcher on scatters: in place, with duplicates, sums in order. */
import { describe, expect, it } from "vitest";
import { fastBackend } from "../../backends/sim/backends.js";
import { printFunc, targets } from "../../ir/index.js";
import { compile, onnx, tryCompile, type Kernel } from "../../src/index.js";
import { matchers } from "../../src/testing/matchers.js";
import { measured } from "../../src/testing/measured.js";
import { parsed } from "../support/parsed.js";

const text = (base: string, rest: string): string =>
  `func @rows(%x: ${base}tensor<12x8xf32>, %i: tensor<6xi32>, %u: tensor<6x8xf32>) -> tensor<12x8xf32> {
  %y = access.scatter %x, %i, %u (d0 < 6, d1 < 8) let t = skip(%i[d0] in 12) -> (t, d1) yield %u[d0, d1] {oob = error, ${rest}}
  return %y
}
`;
const rows = (base: string, rest: string): Kernel => compile(parsed(text(base, rest)));

/** Every form that a matcher may treat in a way of its own. */
const forms = [
  ["set", rows("", "duplicates = last")],
  ["in place", rows("inout ", "duplicates = last")],
  ["in place, without duplicates", rows("inout ", "duplicates = error")],
  ["unique", rows("", "duplicates = unique")],
  ["a sum, in place", rows("inout ", "combine = add")],
] as const;

describe.each(forms)("a scatter: %s", (_, kernel) => {
  it("is legal, fits, and is measured exactly", () => {
    expect(matchers.toBeLegal(kernel).pass).toBe(true);
    expect(matchers.toBeRefused(kernel).pass).toBe(false);
    expect(matchers.toFitUb(kernel).pass).toBe(true);
    const { bytes, cycles } = measured(kernel);
    expect(matchers.toMoveExactly(kernel, { bytes }).pass).toBe(true);
    expect(matchers.toMoveExactly(kernel, { bytes: bytes + 1 }).pass).toBe(false);
    expect(matchers.toMoveAtMost(kernel, { bytes: bytes - 1 }).pass).toBe(false);
    expect(matchers.toTakeExactly(kernel, { cycles }).pass).toBe(true);
    expect(matchers.toTakeAtMost(kernel, { cycles: cycles - 1 }).pass).toBe(false);
  });

  it("matches its definition on every backend, and another's not", async () => {
    const own = await matchers.toMatchReference(kernel, { backends: ["sim", fastBackend()] });
    expect(own.pass, own.message()).toBe(true);
    const min = rows("", "combine = min");
    const other = await matchers.toMatchReference({ ...kernel, tile: min.tile });
    expect(other.pass).toBe(false);
  });

  it("gives the same bits over its tiles, in memory of their own", () => {
    const result = matchers.toBeDeterministicOver(kernel, [
      [6, 8],
      [6, 4],
      [6, 2],
    ]);
    expect(result.pass, result.message()).toBe(true);
  });

  it("is compared with tile programs and lines", () => {
    expect(matchers.toMatchTile(kernel, printFunc(kernel.tile)).pass).toBe(true);
    expect(matchers.toMatchTile(kernel, printFunc(rows("", "combine = min").tile)).pass).toBe(false);
    expect(matchers.toMatchChecks(kernel, "// CHECK: scatter %i").pass).toBe(true);
    expect(matchers.toMatchChecks(kernel, "// CHECK: gather %i").pass).toBe(false);
  });
});

it("is refused for the order of its points, by category and code", () => {
  const cut = tryCompile(parsed(text("", "combine = add").replace("(t, d1)", "(t, 0)")), {
    tile: [6, 4],
    target: targets.ascendA2,
  });
  expect(matchers.toBeRefused(cut, "full-load").pass).toBe(true);
  expect(matchers.toBeRefused(cut, "TC301").pass).toBe(true);
  expect(matchers.toBeLegal(cut).pass).toBe(false);
});

it("is preserved by a kernel of the same bits, and by no other", async () => {
  const op = onnx.scatterElements({
    data: ["f32", [12, 8]],
    indices: ["i32", [6, 8]],
    updates: ["f32", [6, 8]],
    axis: 0,
  });
  const same = await matchers.toPreserve(compile(op, { target: targets.cpu }), op);
  expect(same.pass, same.message()).toBe(true);
  const sum = onnx.scatterElements({
    data: ["f32", [12, 8]],
    indices: ["i32", [6, 8]],
    updates: ["f32", [6, 8]],
    axis: 0,
    reduction: "add",
  });
  expect((await matchers.toPreserve(compile(sum, { target: targets.cpu }), op)).pass).toBe(false);
});
