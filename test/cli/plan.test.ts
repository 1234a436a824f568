/** `tilec plan model.onnx`: what becomes of the nodes of models that were counted by hand. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  bytes,
  graphAttribute,
  initializer,
  input,
  intAttribute,
  intsAttribute,
  model,
  named,
  node,
  onnxTypes,
  output,
  raw,
  text,
} from "../support/onnx-bytes.js";
import { figures } from "../../src/report/figures.js";
import { runHere } from "../support/run-here.js";
import { scratchFolder } from "../support/scratch-folder.js";

const folder = scratchFolder("plan");

let count = 0;
const fileOf = (graph: readonly number[]): string => {
  const file = join(folder, `m${++count}.onnx`);
  writeFileSync(file, model(graph));
  return file;
};

interface Entry {
  readonly index: number;
  readonly name: string;
  readonly op: string;
  readonly status: string;
  readonly into?: readonly string[];
  readonly reason?: string;
  readonly verdict?: string;
  readonly bytes?: number;
  readonly floor?: { readonly cycles: number };
  readonly cycles?: number;
  readonly best?: { readonly cycles: number; readonly schedule: { readonly tile: readonly number[] } };
  readonly indices?: readonly string[];
}
interface Document {
  readonly nodes: readonly Entry[];
  readonly shared: readonly unknown[];
  readonly totals: Readonly<Record<string, number>>;
}

async function planOf(graph: readonly number[], ...flags: readonly string[]): Promise<Document> {
  const { status, stdout, stderr } = await runHere(["plan", fileOf(graph), "--json", ...flags]);
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout) as Document;
}
const brief = ({ nodes }: Document) =>
  nodes.map(({ index, name, status, into }) => [
    index,
    name,
    status,
    ...(into === undefined ? [] : [into.join()]),
  ]);

const gather = (name: string, data: string, ids: string, made = name) =>
  node("Gather", [data, ids], [made], named(name));
const view = (op: string, name: string, from: string, rest: readonly number[] = []) =>
  node(op, [from], [name], [...rest, ...named(name)]);
const returned = (...names: readonly string[]) => names.flatMap((name) => output(name, onnxTypes.f32));
const table = input("table", onnxTypes.f32, [40, 8]);
const ids = input("ids", onnxTypes.i32, [3, 5]);

describe("where a node goes", () => {
  it("names the gather that does the views and the arithmetic around it", async () => {
    const found = await planOf([
      ...view("Relu", "noise", "table"),
      ...view("Transpose", "turned", "table"),
      ...node("Gather", ["turned", "ids"], ["pick"], [...named("pick"), ...intAttribute("axis", 1)]),
      ...node("Add", ["pick", "bias"], ["sum"], named("sum")),
      ...view("Flatten", "flat", "sum"),
      ...text(2, "g"),
      ...table,
      ...ids,
      ...input("bias", onnxTypes.f32, [8, 3, 5]),
      ...returned("flat"),
    ]);
    expect(brief(found)).toEqual([
      [1, "turned", "folded", "pick"],
      [2, "pick", "compiled"],
      [3, "sum", "folded", "pick"],
      [4, "flat", "folded", "pick"],
    ]);
    expect(found.nodes.map(({ reason }) => reason)).toEqual([undefined, undefined, undefined, undefined]);
    expect(found.nodes[1]!.indices).toEqual(["ids"]);
    expect(found.totals).toMatchObject({ compiled: 1, folded: 3, refused: 0, open: 0 });
    expect(found.totals["cycles"]).toBe(found.nodes[1]!.cycles);
  });

  it("folds a gather whose reader does its work, and keeps one that a graph returns", async () => {
    const graph = [
      ...gather("rows", "table", "ids"),
      ...node("Gather", ["rows", "first"], ["some"], named("some")),
      ...text(2, "g"),
      ...table,
      ...ids,
      ...initializer("i64", [2], raw([0, 2]), "first"),
    ];
    expect(brief(await planOf([...graph, ...returned("some")]))).toEqual([
      [0, "rows", "folded", "some"],
      [1, "some", "compiled"],
    ]);
    expect(brief(await planOf([...graph, ...returned("some", "rows")]))).toEqual([
      [0, "rows", "compiled"],
      [1, "some", "compiled"],
    ]);
  });

  it("keeps a gather that a reader outside of its programs needs through a view", async () => {
    const graph = (reader: string) => [
      ...gather("rows", "table", "ids"),
      ...view("Transpose", "turned", "rows"),
      ...node("Gather", ["turned", "first"], ["some"], named("some")),
      ...view(reader, "end", "turned"),
      ...text(2, "g"),
      ...table,
      ...ids,
      ...initializer("i64", [2], raw([0, 2]), "first"),
      ...returned("some", "end"),
    ];
    const found = await planOf(graph("Softmax"));
    expect(brief(found)).toEqual([
      [0, "rows", "compiled"],
      [1, "turned", "folded", "rows,some"],
      [2, "some", "compiled"],
    ]);
  });

  it("follows two views of one gather to their readers", async () => {
    const graph = (reader: readonly number[], ...outputs: readonly string[]) => [
      ...gather("rows", "table", "ids"),
      ...view("Transpose", "turned", "rows"),
      ...view("Flatten", "flat", "rows"),
      ...node("Gather", ["turned", "first"], ["some"], named("some")),
      ...node("Gather", ["flat", "first"], ["others"], named("others")),
      ...reader,
      ...text(2, "g"),
      ...table,
      ...ids,
      ...initializer("i64", [2], raw([0, 2]), "first"),
      ...returned("some", "others", ...outputs),
    ];
    const folded = [
      [1, "turned", "folded", "some"],
      [2, "flat", "folded", "others"],
      [3, "some", "compiled"],
      [4, "others", "compiled"],
    ];
    expect(brief(await planOf(graph([])))).toEqual([[0, "rows", "folded", "some,others"], ...folded]);
    const kept = await planOf(graph(view("Softmax", "end", "turned"), "end"));
    expect(brief(kept)).toEqual([[0, "rows", "compiled"], ...folded]);
  });

  it("says that a folded view is read by others too", async () => {
    const found = await planOf([
      ...view("Unsqueeze", "wide", "ids", intsAttribute("axes", [0])),
      ...view("Transpose", "turned", "table"),
      ...view("Softmax", "soft", "turned"),
      ...gather("pick", "turned", "ids"),
      ...text(2, "g"),
      ...table,
      ...ids,
      ...returned("soft", "pick"),
    ]);
    expect(brief(found)).toEqual([
      [1, "turned", "folded", "pick"],
      [3, "pick", "compiled"],
    ]);
    expect(found.nodes[0]!.reason).toContain("runs by itself too");
  });

  it("lists one view in each gather that reads through it, and the index tensor that they share", async () => {
    const found = await planOf([
      ...view("Transpose", "turned", "ids"),
      ...gather("words", "table", "turned"),
      ...gather("kinds", "table", "turned"),
      ...gather("places", "table", "others"),
      ...text(2, "g"),
      ...table,
      ...ids,
      ...input("others", onnxTypes.i32, [4]),
      ...returned("words", "kinds", "places"),
    ]);
    expect(brief(found)).toEqual([
      [0, "turned", "folded", "words,kinds"],
      [1, "words", "compiled"],
      [2, "kinds", "compiled"],
      [3, "places", "compiled"],
    ]);
    expect(found.shared).toEqual([{ indices: "ids", nodes: ["words", "kinds"] }]);
  });

  it("counts the nodes of bodies behind the node that holds them", async () => {
    const body = [...gather("inner", "table", "ids"), ...text(2, "b"), ...returned("inner")];
    const found = await planOf([
      ...node("If", ["flag"], ["either"], [...graphAttribute("then_branch", body), ...named("if")]),
      ...gather("outer", "table", "ids"),
      ...text(2, "g"),
      ...table,
      ...ids,
      ...input("flag", onnxTypes.bool, []),
      ...returned("either", "outer"),
    ]);
    expect(brief(found)).toEqual([
      [1, "inner", "compiled"],
      [2, "outer", "compiled"],
    ]);
  });

  it("compiles a gather alone, and says why, where no tile holds it with what stands around it", async () => {
    const found = await planOf([
      ...gather("rows", "huge", "ids"),
      ...node("Gather", ["rows", "first"], ["some"], named("some")),
      ...text(2, "g"),
      ...input("huge", onnxTypes.f32, [60000, 4]),
      ...input("ids", onnxTypes.i32, [3]),
      ...initializer("i64", [2], raw([0, 2]), "first"),
      ...returned("some"),
    ]);
    // The first gather's table exceeds the unified buffer, and so does what is folded over it.
    expect(brief(found)).toEqual([
      [0, "rows", "refused"],
      [1, "some", "compiled"],
    ]);
    expect(found.nodes[1]!.reason).toMatch(/^alone, because folding is refused: /);
  });
});

describe("where a scatter goes", () => {
  const onAscend = ["--target", "ascend-a2"] as const;
  const graph = [
    ...gather("cache", "table", "all"),
    ...view("Transpose", "rows", "columns"),
    ...node("ScatterND", ["cache", "slots", "rows"], ["written"], named("write")),
    ...view("Flatten", "flat", "written"),
    ...text(2, "g"),
    ...table,
    ...initializer("i64", [4], raw([3, 2, 1, 0]), "all"),
    ...input("slots", onnxTypes.i64, [2, 1]),
    ...input("columns", onnxTypes.f32, [8, 2]),
    ...returned("flat"),
  ];

  it("takes in the views of its updates, and neither its base nor what reads its result", async () => {
    const found = await planOf(graph, ...onAscend);
    expect(brief(found)).toEqual([
      [0, "cache", "compiled"],
      [1, "rows", "folded", "write"],
      [2, "write", "compiled"],
    ]);
    expect(found.nodes[2]!.indices).toEqual(["slots"]);
    expect(found.totals).toMatchObject({ compiled: 2, folded: 1, refused: 0, open: 0 });
  });

  it("has the index values of any operand", async () => {
    const kv = [
      ...node("TensorScatter", ["past", "update", "at"], ["present"], named("write")),
      ...text(2, "g"),
      ...input("past", onnxTypes.f32, ["batch", 16, 4]),
      ...input("update", onnxTypes.f32, ["batch", 1, 4]),
      ...input("at", onnxTypes.i64, ["batch"]),
    ];
    const file = join(folder, "kv.onnx");
    writeFileSync(file, model(kv, 24));
    const plan = async (...flags: readonly string[]): Promise<Entry> => {
      const { status, stdout } = await runHere(["plan", file, "--json", ...flags, ...onAscend]);
      expect(status).toBe(0);
      return (JSON.parse(stdout) as Document).nodes[0]!;
    };
    expect(await plan()).toMatchObject({ status: "open" });
    const bound = await plan("--bind", "batch=3");
    expect(bound).toMatchObject({ status: "compiled", indices: ["at"] });
    const open = await plan("--most", "batch=3");
    expect(open).toMatchObject({ status: "compiled", indices: ["at"], cycles: bound.cycles });
    const { stdout } = await runHere(["compile", file, "--emit", "access", "--most", "batch=3", ...onAscend]);
    expect(stdout).toContain("(d0 < BATCH, d1 < 1, d2 < 4)");
    writeFileSync(file, model(kv, 23));
    expect(await plan("--bind", "batch=3")).toMatchObject({ status: "refused", verdict: "TC105" });
  });
});

const kin = [
  ...node("OneHot", ["ids", "depth", "values"], ["b"], named("hot")),
  ...node("Compress", ["table", "flags"], ["c"], named("press")),
  ...node("Gather", ["open", "ids"], ["d"], named("later")),
  ...gather("pick", "table", "ids"),
  ...text(2, "g"),
  ...table,
  ...ids,
  ...input("open", onnxTypes.f32, ["rows", 4]),
  ...returned("pick"),
];

describe("what is not compiled", () => {
  it("stands in the list with the reason and the code, and fails nothing", async () => {
    const { nodes, totals } = await planOf(kin);
    expect(nodes.map(({ name, status, verdict }) => [name, status, verdict])).toEqual([
      ["hot", "refused", "TC014"],
      ["press", "refused", "TC014"],
      ["later", "open", "TC014"],
      ["pick", "compiled", "legal"],
    ]);
    expect(nodes.map(({ reason = "" }) => reason.split(";", 1)[0])).toEqual([
      "it writes by index",
      "the shape of its output depends on the values of its condition",
      'data "open" has shape [rows, 4]: dim 0 ("rows") has no fixed extent',
      "",
    ]);
    expect(totals).toMatchObject({ compiled: 1, folded: 0, refused: 2, open: 1 });
  });

  it("is bound, or left open up to a size", async () => {
    const bound = await planOf(kin, "--bind", "rows=6");
    expect(bound.nodes[2]).toMatchObject({ status: "compiled" });
    expect(bound.nodes[2]!.reason).toBeUndefined();
    const most = await planOf(kin, "--most", "rows=6");
    expect(most.nodes[2]).toMatchObject({ status: "compiled", cycles: bound.nodes[2]!.cycles });
    expect(most.nodes[2]!.reason).toContain("ROWS = 6");
  });

  it("leaves a model without such nodes empty", async () => {
    const found = await planOf([...view("Relu", "y", "table"), ...text(2, "g"), ...table, ...returned("y")]);
    expect(found.nodes).toEqual([]);
    expect(found.totals).toEqual({ compiled: 0, folded: 0, refused: 0, open: 0, bytes: 0, cycles: 0 });
  });
});

describe("figures and forms", () => {
  it("are those of run, for the same programs", async () => {
    const file = fileOf(kin);
    const run = JSON.parse((await runHere(["run", file, "--json"])).stdout) as {
      readonly gathers: readonly { readonly name: string; readonly cycles?: number }[];
    };
    const { nodes } = await planOf(kin);
    expect(nodes.map(({ name, cycles }) => [name, cycles])).toEqual(
      run.gathers.map(({ name, cycles }) => [name, cycles]),
    );
  });

  it("have the best schedule of a search, which is no slower than the default", async () => {
    const big = [
      ...gather("pick", "table", "ids"),
      ...text(2, "g"),
      ...input("table", onnxTypes.f32, [1000, 64]),
      ...input("ids", onnxTypes.i32, [700]),
      ...returned("pick"),
    ];
    const [found] = (await planOf(big, "--tune", "10")).nodes;
    expect(found!.best!.cycles).toBeLessThanOrEqual(found!.cycles!);
    expect(found!.best!.cycles).toBeGreaterThanOrEqual(found!.floor!.cycles);
    expect(found!.best!.schedule.tile).toHaveLength(2);
    // 1000 rows are read 700 times at most: indices, rows and output.
    expect(found!.bytes).toBeGreaterThanOrEqual(700 * 4 + 700 * 256);
  });

  it("are a table of at most 80 columns, and csv with a line for each node", async () => {
    const long = "block_of_a_model_with_a_name_that_no_table_has_room_for/attention/embeddings/Gather";
    const file = fileOf([
      ...gather(long, "table", "ids"),
      ...node("Compress", ["table", "flags"], ["c"], named("press")),
      ...text(2, "g"),
      ...table,
      ...ids,
      ...returned(long),
    ]);
    const shown = await runHere(["plan", file, "--tune", "2"]);
    expect(shown.stdout).toMatch(/^ +node +operator +status +bytes +times bound +cycles +best$/m);
    expect(Math.max(...shown.stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(shown.stdout).toContain("1 compiled, 0 folded, 1 refused, 0 open");
    const csv = (await runHere(["plan", file, "--csv"])).stdout.trimEnd().split("\n");
    expect(csv).toHaveLength(3);
    expect(csv[0]).toBe(
      "index,name,op,domain,status,into,verdict,reason,cycles,floor,floor_limit,over_floor,clock,bytes,best_residency,best_tile,best_view,best_order,best_buffers,best_cycles,indices",
    );
    expect(csv[2]).toMatch(/^1,press,Compress,,refused,,TC014,/);
    const columns = csv[0]?.split(",") ?? [];
    const known = Object.keys(figures);
    for (const prefix of ["", "best_"]) {
      const own = columns.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
      const listed = own.filter((key) => known.includes(key));
      expect(listed.length).toBeGreaterThan(5);
      expect(listed).toEqual(known.filter((key) => listed.includes(key)));
    }
  });

  it.each([
    [["--json", "--csv"], "--csv cannot be used with --json"],
    [["--tune", "0"], "--tune 0 searches nothing"],
  ])("refuse %j", async (flags, message) => {
    const { status, stderr } = await runHere(["plan", fileOf(kin), ...flags]);
    expect(status).toBe(2);
    expect(stderr).toContain(message);
  });

  it("are no answer for what is no model", async () => {
    const file = join(folder, "bad.onnx");
    writeFileSync(file, Uint8Array.from(bytes(7, [255, 255])));
    const { status, stderr } = await runHere(["plan", file]);
    expect([status, stderr]).toEqual([1, expect.stringContaining("TC014")]);
  });
});
