/** A node of a model that cannot be read, or breaks a rule of its operator, is one refused row of a listing and costs no other. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { isBug } from "../../ir/faults.js";
import { gather } from "../../src/index.js";
import { listGathers } from "../../src/cli/list-model.js";
import { planModel } from "../../src/cli/plan-model.js";
import { loadModel, type ModelGather } from "../../src/cli/load-model.js";
import { noProject } from "../../src/config/project.js";
import { readNpy, writeNpy } from "../../src/formats/npy.js";
import type { OnnxNode } from "../../src/formats/onnx/index.js";
import {
  bytes,
  i64s,
  initializer,
  input,
  intAttribute,
  model,
  named,
  node,
  number,
  onnxTypes,
  output,
  raw,
  stringAttribute,
  tensor,
  text,
} from "../support/onnx-bytes.js";
import { runHere } from "../support/run-here.js";
import { scratchFolder } from "../support/scratch-folder.js";

const folder = scratchFolder("refused");

const blob = (length: number): number[] => bytes(9, new Uint8Array(length).fill(0x5a));
const quantized = (inputs: readonly string[], ...attributes: readonly number[][]): number[] =>
  node("GatherBlockQuantized", inputs, ["bad"], [...text(7, "com.microsoft"), ...attributes.flat()]);
const block = intAttribute("block_size", 16);
const scales = (...shape: readonly number[]): number[] =>
  initializer("f32", shape, blob(4 * shape.reduce((a, b) => a * b, 1)), "scales");
const table = initializer("u4", [4, 33], blob(66), "packed");

/** A node that makes `bad`, with what it reads; the model has `x` of f32[4, 5], `ids` of i64[3] and `open` of f32[n, 5] too. */
const bad: Readonly<Record<string, readonly (readonly number[])[]>> = {
  "an axis that is no integer": [node("Gather", ["x", "ids"], ["bad"], stringAttribute("axis", "rows"))],
  "an axis outside": [node("Gather", ["x", "ids"], ["bad"], intAttribute("axis", 7))],
  "an axis beyond 32 bits": [node("Gather", ["x", "ids"], ["bad"], intAttribute("axis", 2 ** 40))],
  "an axis that a caller gives": [
    node(
      "Gather",
      ["x", "ids"],
      ["bad"],
      bytes(5, [...text(1, "axis"), ...text(21, "outer"), ...number(20, 2)]),
    ),
  ],
  "batch dims outside": [node("GatherND", ["x", "pairs"], ["bad"], intAttribute("batch_dims", -3))],
  "ranks that differ": [node("GatherElements", ["x", "ids"], ["bad"])],
  "tuples that are too long": [
    node("GatherND", ["x", "long"], ["bad"]),
    initializer("i64", [1, 5], raw([0, 0, 0, 0, 0]), "long"),
  ],
  "indices of f32": [node("Gather", ["x", "x"], ["bad"])],
  "indices of f32, of an open size": [node("Gather", ["x", "open"], ["bad"])],
  "no indices": [node("Gather", ["x"], ["bad"])],
  "an element type that tilec lacks": [node("Gather", ["fp4", "ids"], ["bad"]), input("fp4", 23, [4])],
  "an element type without a number": [node("Gather", ["what", "ids"], ["bad"]), input("what", 77, [4])],
  "data without a dim": [node("Gather", ["scalar", "ids"], ["bad"]), input("scalar", 1, [])],
  "data of nine dims": [
    node("Gather", ["deep", "ids"], ["bad"]),
    input("deep", 1, [1, 1, 1, 1, 1, 1, 1, 1, 2]),
  ],
  "data of 65 dims": [
    node("Gather", ["deeper", "ids"], ["bad"]),
    input(
      "deeper",
      1,
      Array.from({ length: 65 }, () => 1),
    ),
  ],
  "data of 2^33 elements": [node("Gather", ["big", "ids"], ["bad"]), input("big", 1, [2 ** 20, 2 ** 13])],
  "an initializer of another length": [
    node("Gather", ["x", "short"], ["bad"]),
    initializer("i64", [3], bytes(9, i64s([1])), "short"),
  ],
  "an initializer of -1 elements": [
    node("Gather", ["x", "negative"], ["bad"]),
    initializer("i64", [-1], raw([0]), "negative"),
  ],
  "an initializer in another file": [
    node("Gather", ["x", "external"], ["bad"]),
    initializer("i64", [3], number(14, 1), "external"),
  ],
  "a sparse initializer": [
    node("Gather", ["x", "sparse"], ["bad"]),
    bytes(15, bytes(1, tensor("i64", [1], raw([0]), "sparse"))),
  ],
  "a constant without its tensor": [
    node("Constant", [], ["k"], bytes(5, [...text(1, "value"), ...number(20, 4)])),
    node("Gather", ["x", "k"], ["bad"]),
  ],
  "a node without an operator": [
    bytes(1, [...text(1, "x"), ...text(2, "made"), ...named("nameless")]),
    node("Gather", ["made", "ids"], ["bad"]),
  ],
  "3 bits": [quantized(["packed", "ids", "scales"], block, intAttribute("bits", 3)), table, scales(4, 3)],
  "blocks of 20": [
    quantized(["packed", "ids", "scales"], intAttribute("block_size", 20)),
    table,
    scales(4, 2),
  ],
  "scales of another shape": [quantized(["packed", "ids", "scales"], block), table, scales(4, 2)],
  "no scales": [quantized(["packed", "ids"], block), table],
  "zero points of another type": [
    quantized(["packed", "ids", "scales", "zeros"], block),
    table,
    scales(4, 3),
    initializer("i4", [4, 3], blob(6), "zeros"),
  ],
  "packed elements of another length": [
    quantized(["few", "ids", "scales"], block),
    initializer("u4", [4, 33], blob(65), "few"),
    scales(4, 3),
  ],
  "bytes gathered along their rows": [
    quantized(["held", "ids", "scales"], block, intAttribute("gather_axis", 1)),
    initializer("u8", [4, 16], blob(64), "held"),
    scales(4, 2),
  ],
};

const graphOf = (parts: readonly (readonly number[])[]): number[] => [
  ...node("Gather", ["x", "ids"], ["a"], named("first")),
  ...parts.flat(),
  ...node("Gather", ["x", "ids"], ["b"], named("last")),
  ...text(2, "g"),
  ...input("x", onnxTypes.f32, [4, 5]),
  ...input("ids", onnxTypes.i64, [3]),
  ...input("open", onnxTypes.f32, ["n", 5]),
  ...initializer("i64", [1, 1], raw([0]), "pairs"),
  ...["a", "bad", "b"].flatMap((name) => output(name, onnxTypes.f32)),
];

interface Listed {
  readonly ok: boolean;
  readonly gathers: readonly {
    readonly name: string;
    readonly verdict: string;
    readonly code?: string;
    readonly run?: { readonly ok: boolean };
  }[];
}
interface Planned {
  readonly nodes: readonly { readonly status: string }[];
}

const fileOf = (what: string): string => {
  const file = join(folder, `${what.replaceAll(/\W+/g, "-")}.onnx`);
  writeFileSync(file, model(graphOf(bad[what]!), 21, 10));
  return file;
};

describe("one node of three", () => {
  it.each(Object.keys(bad))("with %s is refused, and the others are compiled", async (what) => {
    const flags = { project: noProject };
    const loaded = loadModel(fileOf(what), {});
    const listed = listGathers(loaded.gathers, flags, {});
    expect(listed.map(({ name, verdict }) => [name, verdict])).toEqual([
      ["first", "legal"],
      ["bad", "refused"],
      ["last", "legal"],
    ]);
    const [why] = listed[1]!.diagnostics;
    expect(why).toMatchObject({ severity: "error", code: listed[1]!.code });
    expect(why!.message).not.toContain("internal error");
    const { nodes, bugs } = await planModel(loaded, listed);
    expect(nodes).toMatchObject([
      { name: "first", status: "compiled" },
      { name: "bad", status: "refused", reason: expect.stringMatching(/\w/) as string },
      { name: "last", status: "compiled" },
    ]);
    expect(bugs).toEqual([]);
  });

  it("is exit code 1 of a run, which runs the others, and none of a plan; alone it is the error", async () => {
    const file = fileOf("packed elements of another length");
    const ran = await runHere(["run", file, "--json", "--seed", "1"]);
    expect(ran.status, ran.stderr).toBe(1);
    const { ok, gathers } = JSON.parse(ran.stdout) as Listed;
    expect(ok).toBe(false);
    expect(gathers.map(({ name, verdict, run }) => [name, verdict, run?.ok])).toEqual([
      ["first", "legal", true],
      ["bad", "refused", undefined],
      ["last", "legal", true],
    ]);
    const planned = await runHere(["plan", file]);
    expect([planned.status, planned.stderr]).toEqual([0, ""]);
    const alone = await runHere(["explain", file, "--func", "bad"]);
    expect(alone.status).toBe(1);
    expect(alone.stderr).toContain(`error[${gathers[1]!.code!}]`);
  });

  it("in front of a gather, and that cannot be folded into it, costs the folding alone", () => {
    const file = join(folder, "zero.onnx");
    const graph = [
      ...node("DequantizeLinear", ["table", "one", "zero"], ["x"]),
      ...node("Gather", ["x", "ids"], ["y"]),
      ...initializer("i4", [4, 5], blob(10), "table"),
      ...initializer("f32", [], blob(4), "one"),
      ...initializer("i4", [], blob(3), "zero"),
      ...input("ids", onnxTypes.i64, [3]),
      ...output("y", onnxTypes.f32),
    ];
    writeFileSync(file, model(graph, 21, 10));
    const { gathers } = loadModel(file, {});
    expect(listGathers(gathers, { project: noProject }, {})).toMatchObject([
      {
        name: "y",
        verdict: "legal",
        kept: [expect.stringContaining('DequantizeLinear "x" is not folded: ') as string],
      },
    ]);
  });

  it("whose shape is not known is open, and no error", async () => {
    const file = join(folder, "open.onnx");
    writeFileSync(file, model(graphOf([node("Gather", ["open", "ids"], ["bad"])])));
    const { status, stdout } = await runHere(["run", file, "--json"]);
    expect(status).toBe(0);
    expect((JSON.parse(stdout) as Listed).gathers.map(({ verdict }) => verdict)).toEqual([
      "legal",
      "open",
      "legal",
    ]);
  });

  it.each(["tile", "wgsl", "module", "all"])(
    "costs no other one in compile --emit %s, which names it and ends with 1",
    async (emit) => {
      const file = join(folder, "among.onnx");
      writeFileSync(file, model(graphOf(bad["an axis outside"]!)));
      const out = join(folder, `among-${emit}`);
      const where = emit === "module" ? ["--out", out] : emit === "all" ? ["--dump-dir", out] : [];
      const { status, stdout, stderr } = await runHere(["compile", file, "--emit", emit, ...where]);
      expect(stderr).toMatch(/^error\[TC101\]: axis 7 is outside .*\n +\|? *= note: program @bad$/m);
      expect(status).toBe(1);
      const made = where.length === 0 ? stdout : readdirSync(out).join(" ");
      const expected = { tile: /@first[^]*@last/, wgsl: /@first[^]*@last/ };
      expect(made).toMatch(emit === "tile" || emit === "wgsl" ? expected[emit] : /first\b.*last\b/);
      expect(made).not.toMatch(/@bad|\bbad\./);
    },
  );

  it("is in the document of compile", async () => {
    const file = join(folder, "among.onnx");
    writeFileSync(file, model(graphOf(bad["an axis outside"]!)));
    const { status, stdout } = await runHere(["compile", file, "--json"]);
    const { kernels, diagnostics } = JSON.parse(stdout) as {
      kernels: { name: string }[];
      diagnostics: { code: string; notes: string[] }[];
    };
    expect(status).toBe(1);
    expect(kernels.map(({ name }) => name)).toEqual(["first", "last"]);
    expect(diagnostics).toMatchObject([{ code: "TC101", notes: ["program @bad"] }]);
  });

  it("of a .tir file costs no other program in compile", async () => {
    const file = join(folder, "two.tir");
    const program = (name: string, columns: number): string =>
      `func @${name}(%x: tensor<4x${columns}xf32>, %i: tensor<3xi64>) -> tensor<4x3xf32> {\n  %y = onnx.gather %x, %i {axis = 1}\n  return %y\n}\n`;
    writeFileSync(file, program("long", 2_000_000) + program("short", 20));
    const { status, stdout, stderr } = await runHere(["compile", file]);
    expect(status).toBe(1);
    expect(stdout).toContain("func @short(");
    expect(stdout).not.toContain("@long");
    expect(stderr).toMatch(/^error\[TC402\][^]*= note: program @long/);
    const whole = await runHere(["compile", file, "--residency", "ub", "--func", "long"]);
    expect([whole.status, whole.stdout]).toEqual([1, ""]);
  });

  it("alone is a row too", async () => {
    const file = join(folder, "alone.onnx");
    const graph = [
      ...node("Gather", ["x", "ids"], ["y"], intAttribute("axis", 7)),
      ...input("x", onnxTypes.f32, [4, 5]),
      ...input("ids", onnxTypes.i64, [3]),
      ...output("y", onnxTypes.f32),
    ];
    writeFileSync(file, model(graph));
    const { status, stdout } = await runHere(["run", file]);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^y +Gather +refused TC101/m);
  });

  it("that a bug in tilec stops is refused, with the bug", async () => {
    const func = gather({ data: ["f32", [4, 5]], indices: ["i64", [3]], axis: 0 });
    const broken = Object.defineProperty({ ...func }, "attrs", {
      get: () => {
        throw new TypeError("what no attribute does");
      },
    });
    const onnxNode = (name: string): OnnxNode => ({
      name,
      op: "Gather",
      domain: "",
      inputs: ["x", "ids"],
      outputs: [name],
      attributes: new Map(),
    });
    const nodes = ["first", "bad", "last"].map(onnxNode);
    const gathers = nodes.map((own): ModelGather => ({
      name: own.name,
      op: own.op,
      node: own,
      // An operator that does not terminate its own attributes: what no file can state.
      loaded: { func: own.name === "bad" ? broken : func },
      diagnostics: [],
    }));
    const listed = listGathers(gathers, { project: noProject }, {});
    expect(listed.map(({ verdict, code }) => [verdict, code])).toEqual([
      ["legal", undefined],
      ["refused", "TC201"],
      ["legal", undefined],
    ]);
    const uses = nodes.map((own) => ({ name: own.name, node: own, readers: [], returned: true }));
    const plan = await planModel({ uses }, listed);
    expect(plan.nodes.map(({ status }) => status)).toEqual(["compiled", "refused", "compiled"]);
    expect(plan.bugs).toHaveLength(1);
    expect(plan.bugs.every(isBug)).toBe(true);
    expect(plan.nodes[1]?.reason).toBe("internal error: what no attribute does");
  });
});

/** onnxruntime 1.30's outputs for the indices 5, 0 and -1: SHA-256 of the bytes. */
describe("reported models", () => {
  it.each([
    ["u4-seven-blocks", ["y"], ["e73120fdcaf0cd7b01087472716efecf71f8a4af2f533b164e8152861f87ec40"]],
    ["i4-oneblock-zp", ["y"], ["e647abe7db2e992f1183ece6d4077d965980595c59f51c4989678ade11a74376"]],
    [
      "one-bad-of-three",
      ["a", "y", "b"],
      [
        "17b0761f87b081d5cf10757ccc89f12be355c70e2e29df288b65b30710dcbcd1",
        "7c5fb81c4f2bcc718385a8b40f30172a9a24531c965f9593fd52dfa135a2de50",
        "17b0761f87b081d5cf10757ccc89f12be355c70e2e29df288b65b30710dcbcd1",
      ],
    ],
  ])("%s has the bits of onnxruntime", async (name, gathers, hashes) => {
    const file = fileURLToPath(new URL(`inputs/${name}.onnx`, import.meta.url));
    const given = join(folder, "indices.npy");
    const indices = BigInt64Array.of(5n, 0n, -1n);
    writeFileSync(
      given,
      writeNpy({ type: { dtype: "i64", shape: [3] }, bytes: new Uint8Array(indices.buffer) }),
    );
    const plan = await runHere(["plan", file, "--json"]);
    expect((JSON.parse(plan.stdout) as Planned).nodes.map(({ status }) => status)).toEqual(
      gathers.map(() => "compiled"),
    );
    const seeded = await runHere(["run", file, "--seed", "1", "--backend", "reference,sim"]);
    expect(seeded.status, seeded.stderr).toBe(0);
    for (const [k, func] of gathers.entries())
      for (const executor of ["checked", "fast"]) {
        const out = join(folder, "out.npy");
        const flags = ["--func", func, "--input", `indices=${given}`, "--out", `output=${out}`];
        const ran = await runHere(["run", file, ...flags, "--executor", executor]);
        expect(ran.status, ran.stderr).toBe(0);
        const found = readNpy(readFileSync(out), out).bytes;
        expect(createHash("sha256").update(found).digest("hex"), `${func}, ${executor}`).toBe(hashes[k]);
      }
  });
});
