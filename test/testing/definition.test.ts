/** The definition of a kernel: the operator, or the access map, that it was compiled from, whatever tile program runs. */
import { describe, expect, it } from "vitest";
import {
  defined,
  withPolicy,
  type AccessFunc,
  type GatherStmt,
  type OutOfBounds,
  type Stmt,
} from "../../ir/index.js";
import { definePass, editPipeline } from "../../passes/index.js";
import { compile, type Kernel } from "../../src/index.js";
import { readCases } from "../../src/formats/cases.js";
import { checkCase } from "../../src/testing/check-case.js";
import { assertThat } from "../../src/testing/index.js";
import { parsed } from "../support/parsed.js";
const text = (oob: OutOfBounds, map = "(from_end(%i[d0]), d1)"): string =>
  `func @rows(%x: tensor<6x8xf32>, %i: tensor<5xi32>) -> tensor<5x8xf32> {
  %y = access.gather %x, %i (d0, d1) -> ${map} {oob = ${oob}}
  return %y
}
`;
const rows = (oob: OutOfBounds): Kernel => compile(parsed(text(oob)));

/** A kernel with the gathers of its tile program changed by hand. */
function withGather(kernel: Kernel, edit: (gather: GatherStmt) => Stmt): Kernel {
  const edited = (body: readonly Stmt[]): Stmt[] =>
    body.map((stmt) => {
      if (stmt.op === "for") return { ...stmt, body: edited(stmt.body) };
      return stmt.op === "gather" ? edit(stmt) : stmt;
    });
  return { ...kernel, tile: { ...kernel.tile, body: edited(kernel.tile.body) } };
}
const withMap = (kernel: Kernel, edit: (map: AccessFunc["map"]) => AccessFunc["map"]): Kernel =>
  withGather(kernel, (gather) => ({ ...gather, map: edit(gather.map) }));

const policies = ["error", "clamp", "zero", "wrap", "unchecked"] as const satisfies readonly OutOfBounds[];
const onSim = { backends: ["sim"] } as const;

describe("a kernel that began at the access level", () => {
  it.each(policies.slice(0, 4))("under %s is caught with another policy in its tile", async (oob) => {
    const kernel = rows(oob);
    await assertThat(kernel).toMatchReference(onSim);
    await assertThat(withMap(kernel, (map) => withPolicy(map, oob))).toMatchReference(onSim);
    for (const other of policies.filter((policy) => policy !== oob)) {
      const wrong = withMap(kernel, (map) => withPolicy(map, other));
      await expect(assertThat(wrong).toMatchReference(onSim), other).rejects.toThrow(
        /elements differ|rejects an index|leaves unchecked/,
      );
    }
  });

  it.each<readonly [string, (map: AccessFunc["map"]) => AccessFunc["map"]]>([
    ["fill", (map) => ({ ...map, fill: "1065353216" })],
    [
      "count from the end",
      (map) => ({ ...map, indices: map.indices.map(({ wrapNegativeBy: _, ...site }) => site) }),
    ],
    ["bound", (map) => ({ ...map, indices: map.indices.map((site) => ({ ...site, extent: 5 })) })],
  ])("is caught with another %s in its tile", async (_, edit) => {
    const wrong = withMap(rows("zero"), edit);
    await expect(assertThat(wrong).toMatchReference(onSim)).rejects.toThrow(/elements differ/);
  });

  it("is caught with another map in its tile", async () => {
    const { tile } = compile(
      parsed(text("clamp", "(from_end(%i[d0]), 7 - d1)").replace("7 - d1", "d1 * -1 + 7")),
    );
    const wrong = { ...rows("clamp"), tile };
    await expect(assertThat(wrong).toMatchReference(onSim)).rejects.toThrow(/elements differ/);
    // By itself it has no other definition.
    await assertThat(compile(tile)).toMatchReference(onSim);
  });

  const lenient = definePass({
    name: "lenient",
    summary: "clamps whatever the program says",
    requires: ["access"],
    ensures: ["access"],
    run(func) {
      if (func.level !== "access") return func;
      const { map, symbolic } = func;
      const open = symbolic && { ...symbolic, map: withPolicy(symbolic.map, "clamp") };
      return { ...func, map: withPolicy(map, "clamp"), ...defined({ symbolic: open }) };
    },
  });
  const passes = editPipeline([{ pass: lenient, before: "select-tile" }]);

  it("is caught after a pass of somebody's own that changes its map, at some sizes too", async () => {
    const wrong = compile(parsed(text("zero")), { passes });
    await expect(assertThat(wrong).toMatchReference(onSim)).rejects.toThrow(/elements differ/);
    const open = `dim N <= 16\n${text("zero").replaceAll("tensor<5", "tensor<N")}`;
    const bound = compile(parsed(open), { passes }).bind({ N: 5 });
    await expect(assertThat(bound).toMatchReference(onSim)).rejects.toThrow(/elements differ/);
    await assertThat(compile(parsed(open)).bind({ N: 5 })).toMatchReference(onSim);
  });

  it("is caught by a case", async () => {
    const fill = { seed: 1, min: -1, max: 1 };
    const entry = {
      id: "rows",
      op: "map",
      tir: text("zero"),
      inputs: {
        x: { dtype: "f32", shape: [6, 8], fill },
        i: { dtype: "i32", shape: [5], values: [0, 9, -1, 5, 2] },
      },
      expect: "ok",
    };
    const [test] = readCases(JSON.stringify([entry]), "c.json");
    expect(test).toBeDefined();
    const statuses = async (context: Parameters<typeof checkCase>[2]) =>
      (await checkCase(test!, ["reference", "sim"], context)).map(({ backend, status }) => [backend, status]);
    expect(await statuses({})).toEqual([
      ["reference", "pass"],
      ["sim", "pass"],
    ]);
    expect(await statuses({ passes })).toEqual([
      ["reference", "pass"],
      ["sim", "fail"],
    ]);
  });
});
