/** `tilec run model.onnx`: the gathers of a model with symbolic dims, listed, bound and run. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHere } from "../support/run-here.js";
import {
  bytes,
  info,
  initializer,
  input,
  intAttribute,
  model,
  named,
  node,
  onnxTypes,
  output,
  raw,
  text,
} from "../support/onnx-bytes.js";
import { scratchFolder } from "../support/scratch-folder.js";

const folder = scratchFolder("model");

const list = (name: string, values: readonly number[]) =>
  initializer("i64", [values.length], raw(values), name);

/** An embedding, a gather that picks an extent of its shape, and one of what that extent reshapes; one that no UB holds. */
const file = join(folder, "m.onnx");
writeFileSync(
  file,
  model([
    ...node("Gather", ["table", "ids"], ["e"], named("embed")),
    ...node("Shape", ["e"], ["s"]),
    ...node("Gather", ["s", "last"], ["width"], named("width")),
    ...node("Concat", ["any", "width"], ["target"], intAttribute("axis", 0)),
    ...node("Reshape", ["e", "target"], ["flat"]),
    ...node("Gather", ["flat", "last"], ["row"], named("row")),
    ...node("Gather", ["huge", "last"], ["out"], named("huge")),
    ...text(2, "g"),
    ...input("table", onnxTypes.f32, [50, 8]),
    ...input("ids", onnxTypes.i32, ["batch", ""]),
    ...input("huge", onnxTypes.f32, [60000, "columns"]),
    ...list("last", [-1]),
    ...list("any", [-1]),
  ]),
);

const tilec = (...args: readonly string[]) => runHere(["run", file, ...args]);
const bind = ["--bind", "ids=2x3,columns=4"];

interface Listed {
  readonly name: string;
  readonly verdict: string;
  readonly code?: string;
  readonly shape?: string;
  readonly cycles?: number;
  readonly run?: { readonly ok: boolean };
}
const documentOf = (stdout: string) =>
  JSON.parse(stdout) as { readonly ok: boolean; readonly gathers: readonly Listed[] };

describe("a model whose dims are open", () => {
  it("lists every gather, names what binds it, and is no error", async () => {
    const { status, stdout, stderr } = await tilec();
    expect(status, stderr).toBe(0);
    expect(stdout).toMatch(/^gather +operator +shape +verdict +schedule +cycles, clock \d+ +run/);
    expect(stdout).toMatch(/^embed +Gather +open TC014/m);
    expect(stdout).toMatch(/^width +Gather +3xi64 by 1xi64 to 1xi64 +legal .*inputs not known/m);
    expect(stderr).toContain("such as --bind ids=1x1,columns=1");
    expect(stderr.match(/hint/g)).toHaveLength(1);
  });

  it("follows its hint", async () => {
    const { stdout } = await tilec("--json", "--bind", "ids=1x1,columns=1");
    expect(documentOf(stdout).gathers.map(({ verdict }) => verdict)).not.toContain("open");
  });
});

describe("a bound model", () => {
  it("has a shape, verdict, schedule and cycles for each gather, those after the shapes too", async () => {
    const { status, stdout } = await tilec(...bind, "--json");
    const { ok, gathers } = documentOf(stdout);
    expect([status, ok]).toEqual([1, false]);
    expect(gathers).toMatchObject([
      { name: "embed", verdict: "legal", shape: "50x8xf32 by 2x3xi32 to 2x3x8xf32" },
      { name: "width", verdict: "legal", run: { ok: true } },
      { name: "row", verdict: "legal", shape: "6x8xf32 by 1xi64 to 1x8xf32" },
      { name: "row_folded", verdict: "legal", shape: "50x8xf32 by 1xi64, 2x3xi32 to 1x8xf32" },
      { name: "huge", verdict: "refused", code: "TC402" },
    ]);
    expect(gathers.filter(({ cycles }) => (cycles ?? 0) > 0)).toHaveLength(4);
  });

  it("is one document with the runs of all that can run", async () => {
    const { stdout } = await tilec(
      "--bind",
      "ids=2x3",
      "--seed",
      "3",
      "--backend",
      "reference,sim",
      "--json",
    );
    const { gathers } = documentOf(stdout);
    expect(gathers.map(({ name, run }) => [name, run?.ok])).toEqual([
      ["embed", true],
      ["width", true],
      ["row", true],
      ["row_folded", undefined],
      ["huge", undefined],
    ]);
  });

  it("takes one gather out, for every command", async () => {
    const { status, stdout } = await tilec("--bind", "batch=2,ids=[2,3]", "--func", "row", "--seed", "1");
    expect(status).toBe(0);
    expect(stdout).toMatch(/^@row on ascend-a2: output 1x8xf32/);
  });
});

describe("a model with an index out of range", () => {
  const bad = join(folder, "bad.onnx");
  writeFileSync(
    bad,
    model([
      ...node("Gather", ["table", "beyond"], ["a"], named("first")),
      ...node("Gather", ["table", "within"], ["b"], named("second")),
      ...text(2, "g"),
      ...list("table", [10, 20, 30]),
      ...list("beyond", [0, 9]),
      ...list("within", [2]),
    ]),
  );

  it("names the gather that has it, and runs the others", async () => {
    const { status, stdout, stderr } = await runHere(["run", bad]);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^first +Gather .* TC601$/m);
    expect(stdout).toMatch(/^second +Gather .* done$/m);
    expect(stderr).toContain("error[TC601]: first: index 9 at indices[1] is out of range");
    const document = documentOf((await runHere(["run", bad, "--json"])).stdout);
    expect(document.ok).toBe(false);
    expect(document.gathers).toMatchObject([
      { name: "first", verdict: "legal", diagnostics: [{ code: "TC601" }] },
      { name: "second", run: { ok: true }, diagnostics: [] },
    ]);
  });

  it("runs with the policy that its hint names", async () => {
    expect((await runHere(["run", bad, "--oob", "clamp"])).status).toBe(0);
  });
});

describe("a binding that fits nothing is told with what would fit", () => {
  it.each([
    ["bacth=2", 1, 'the model has no symbolic dim "bacth"', 'its symbolic dims are "batch", "columns"'],
    ["ids=4", 1, 'the model has no symbolic dim "ids"', "bind its shape, --bind ids=[4]"],
    ["ids=2x3x4", 1, 'input "ids" is declared [batch, ?], not [2, 3, 4]', ""],
    ["batch=3,ids=2x3", 1, 'input "ids" is declared [3, ?], not [2, 3]', ""],
    ["ids=2x-3", 2, "2x-3 is neither an extent nor a shape", "ids=[5]"],
    ["batch", 2, "batch is not name=extent", "write --bind batch=1"],
    ["batch=1,batch=2", 2, "batch is given twice", ""],
  ])("--bind %s", async (list, code, message, hint) => {
    const { status, stderr } = await tilec("--bind", list);
    expect(status).toBe(code);
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
  });
});

describe("a gather with views around it", () => {
  const viewed = join(folder, "viewed.onnx");
  writeFileSync(
    viewed,
    model([
      ...node("Transpose", ["x"], ["t"], named("turn")),
      ...node("Gather", ["t", "last"], ["g"], named("pick")),
      ...node("Reshape", ["g", "any"], ["m"], named("merge")),
      ...node("Slice", ["m", "from", "to"], ["y"], named("cut")),
      ...text(2, "g"),
      ...input("x", onnxTypes.f32, [2, 3, 4]),
      ...list("last", [-1, 0]),
      ...list("any", [-1]),
      ...input("from", onnxTypes.i64, [1]),
      ...input("to", onnxTypes.i64, [1]),
      ...output("y", onnxTypes.f32),
    ]),
  );
  const of = (...args: readonly string[]) => runHere(["run", viewed, ...args]);

  it("is listed alone and folded, with the nodes it holds and what it leaves, and runs by name", async () => {
    const listed = await of();
    expect(listed.status).toBe(0);
    expect(listed.stdout).toMatch(
      /pick_folded +Transpose "turn", Gather "pick", Reshape "merge" +2x3x4xf32 by 2xi64 to 12xf32/,
    );
    expect(listed.stderr).toContain('pick: Slice "cut" is not folded: from [12] to [?]');
    const run = await of("--func", "pick_folded", "--seed", "1", "--json");
    expect(run.status).toBe(0);
    expect(JSON.parse(run.stdout)).toMatchObject({ ok: true, output: { type: "12xf32" } });
    const { gathers } = JSON.parse((await of("--json")).stdout) as { gathers: Record<string, unknown>[] };
    expect(gathers.map(({ name, folds }) => [name, folds])).toEqual([
      ["pick", undefined],
      ["pick_folded", ['Transpose "turn"', 'Gather "pick"', 'Reshape "merge"']],
    ]);
    expect(gathers.map(({ reads }) => reads)).toEqual([undefined, { data: "x", indices: "last" }]);
    expect(listed.stderr).toContain('pick_folded: it reads "x" as data, "last" as indices');
  });
});

describe("a model without a gather", () => {
  const none = join(folder, "none.onnx");
  writeFileSync(
    none,
    model([...node("Relu", ["x"], ["y"]), ...text(2, "g"), ...input("x", onnxTypes.f32, [2])]),
  );

  it("is an answer", async () => {
    const { status, stdout } = await runHere(["run", none, "--json"]);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, gathers: [] });
    expect(await runHere(["run", none])).toMatchObject({ status: 0, stdout: `${none} has no gather\n` });
  });

  it("has nothing to compile, and no gather of a name", async () => {
    for (const args of [
      ["compile", none],
      ["run", none, "--func", "a"],
    ])
      expect((await runHere(args)).stderr).toContain("error[TC701]");
  });
});

describe("a model with nodes that read or write by index and are not compiled", () => {
  const kin = join(folder, "kin.onnx");
  const ops = ["OneHot", "Compress"];
  const foreign = [
    ...ops.flatMap((op) => node(op, ["x", "i", "u"], [op], named(`own_${op}`))),
    ...node("Compress", ["x"], ["z"], [...named("other"), ...text(7, "org.example")]),
  ];
  const gather = [
    ...node("Gather", ["table", "within"], ["b"], named("second")),
    ...list("table", [10, 20, 30]),
    ...list("within", [2]),
  ];
  writeFileSync(kin, model([...foreign, ...gather, ...text(2, "g")]));
  const alone = join(folder, "kin-alone.onnx");
  writeFileSync(alone, model([...foreign, ...text(2, "g")]));

  it("lists them as refused with the reason, and its exit code is that of the gathers", async () => {
    const { status, stdout } = await runHere(["run", kin, "--json"]);
    expect(status).toBe(0);
    const { ok, gathers } = JSON.parse(stdout) as { ok: boolean; gathers: Record<string, unknown>[] };
    expect(ok).toBe(true);
    expect(gathers.map(({ name, op, verdict }) => [name, op, verdict])).toEqual([
      ...ops.map((op) => [`own_${op}`, op, "refused"]),
      ["second", "Gather", "legal"],
    ]);
    const reasons = gathers.map(
      ({ diagnostics }) => (diagnostics as { message: string }[])[0]?.message ?? "",
    );
    expect(reasons[0]).toContain("it writes by index; tilec compiles Gather, GatherElements, GatherND");
    expect(reasons[1]).toContain("the shape of its output depends on the values of its condition");
  });

  it("is an answer where it has no others", async () => {
    const { status, stdout } = await runHere(["run", alone]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^own_OneHot +OneHot +refused TC014/m);
    expect((await runHere(["run", alone, "--func", "own_OneHot"])).status).toBe(1);
  });
});

describe("a model that declares other shapes than its nodes make", () => {
  it("is told so, in the document and beside the table", async () => {
    const wrong = join(folder, "wrong.onnx");
    writeFileSync(
      wrong,
      model([
        ...node("Transpose", ["x"], ["t"], named("turn")),
        ...node("Gather", ["t", "last"], ["g"], named("pick")),
        ...text(2, "g"),
        ...input("x", onnxTypes.f32, [2, 3]),
        ...list("last", [-1]),
        ...bytes(13, info("t", onnxTypes.f32, [2, 3])),
      ]),
    );
    const message = `${wrong}: "t" is declared f32[2, 3], and Transpose "turn" makes f32[3, 2]`;
    const { status, stdout } = await runHere(["run", wrong, "--json"]);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      diagnostics: [{ code: "TC014", severity: "warning", message }],
    });
    expect((await runHere(["run", wrong])).stderr).toContain(`warning[TC014]: ${message}`);
    expect((await runHere(["explain", wrong])).stderr).toContain(`warning[TC014]: ${message}`);
  });
});

describe("a model whose outermost dims stay open", () => {
  const open = join(folder, "open.onnx");
  writeFileSync(
    open,
    model([
      ...node("Gather", ["words", "ids"], ["out"], named("look")),
      ...text(2, "g"),
      ...input("words", onnxTypes.f32, ["vocabulary", 8]),
      ...input("ids", onnxTypes.i32, [64]),
    ]),
  );
  const command = (...args: readonly string[]) => runHere(args);

  it("is judged by a formula with the size up to which it fits", async () => {
    const flags = ["--most", "vocabulary=100000", "--residency", "ub", "--tile", "64,8"];
    const { status, stdout, stderr } = await command("explain", open, ...flags);
    expect(status, stderr).toBe(1);
    // Rows of 32 B; 64 indices of 4 B, 64 rows of the result and 512 B of scratch.
    expect(stdout).toContain("32 VOCABULARY + 2816 <= 196608 bytes: legal for VOCABULARY <= 6056");
  });

  it("names what it cannot run: sizes are needed", async () => {
    const { status, stderr } = await command("run", open, "--most", "vocabulary=100", "--seed", "1");
    expect(status).toBe(2);
    expect(stderr).toContain("hint: --bind vocabulary=100");
    expect((await command("run", open, "--bind", "vocabulary=100", "--seed", "1")).status).toBe(0);
  });

  it.each([
    ["of another file", ["explain", "x.tir", "--most", "N=4"], "--most needs an .onnx model"],
    ["that is no list of extents", ["explain", open, "--most", "batch"], "batch is not name=extent"],
    ["of a dim that it lacks", ["explain", open, "--most", "rows=4"], 'no symbolic dim "rows"'],
  ])("refuses a most %s", async (_, args, message) => {
    expect((await command(...args)).stderr).toContain(message);
  });
});
