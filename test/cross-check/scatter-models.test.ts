/**
 * Random models with a scatter, beside onnxruntime on one thread: those of seeds from 0 on that it takes, until there are 40.
 * SCATTER_MODELS=2000 takes so many, SCATTER_SEED=N begins with another seed.
 */
import { describe, expect, it } from "vitest";
import { referenceOfMap } from "../../backends/reference/index.js";
import { FastExecutor, simulateChecked } from "../../backends/sim/index.js";
import { toHost, type HostInputs } from "../../backends/index.js";
import type { OnnxRuntime, OnnxTensor } from "../../bench/onnxruntime.js";
import { bindSizes, inputsOf, keyOf, type AccessFunc, type SourceFunc } from "../../ir/index.js";
import { compile, program, targets } from "../../src/index.js";
import {
  fixedInputs,
  readModel,
  surveyModel,
  type OnnxGather,
  type OnnxUncompiled,
} from "../../src/formats/onnx/index.js";
import { drawer } from "../fuzz/mutate.js";
import { requireOnnxRuntime } from "../support/onnxruntime.js";
import { elementTypes, scatterModel, type ScatterModel } from "./scatter-models.js";

const count = Number(process.env["SCATTER_MODELS"] ?? 40);
const first = Number(process.env["SCATTER_SEED"] ?? 0);

type Tensors = ReadonlyMap<string, Uint8Array>;

const bytesOf = ({ data }: OnnxTensor): Uint8Array => {
  const { buffer, byteOffset, byteLength } = data as Uint8Array;
  return new Uint8Array(buffer, byteOffset, byteLength).slice();
};

/** Throws what was thrown, unless it says that onnxruntime has no kernel of that operator, type or reduction. */
function ifAbsent(thrown: unknown): undefined {
  if (!/NOT_IMPLEMENTED|is not a registered function\/op|not supported with Scatter/.test(String(thrown)))
    throw thrown;
}

/** Every tensor of the model; undefined where onnxruntime has no kernel for it. */
async function computed(ort: OnnxRuntime, scatter: ScatterModel): Promise<Tensors | undefined> {
  const options = { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 4 } as const;
  const session = await ort.InferenceSession.create(scatter.file(scatter.made), options).catch(ifAbsent);
  if (session === undefined) return undefined;
  const feeds = scatter.tensors.flatMap(({ name, dtype, shape, bytes, fixed }) => {
    if (fixed) return [];
    const [type, ArrayType] = elementTypes[dtype];
    return [[name, new ort.Tensor(type, new ArrayType(bytes.slice().buffer), shape)] as const];
  });
  const results = await session.run(Object.fromEntries(feeds)).catch(ifAbsent);
  await session.release();
  if (results === undefined) return undefined;
  return new Map([
    ...scatter.tensors.map(({ name, bytes }) => [name, bytes] as const),
    ...Object.entries(results).map(([name, tensor]) => [name, bytesOf(tensor)] as const),
  ]);
}

/** A program of the model: its function, the tensors that it reads by key, and those that the model fixes. */
interface Found {
  readonly func: AccessFunc | SourceFunc;
  readonly reads: Readonly<Record<string, string>>;
  readonly fixed: Readonly<Record<string, { readonly bytes: Uint8Array }>>;
  readonly nodes: number;
}

/** The scatter's programs: alone, folded, and over a symbol. */
function programsOf(scatter: ScatterModel): readonly Found[] {
  const survey = surveyModel(readModel(scatter.file(), "m.onnx"), {}, { fold: "always" });
  const isScatter = ({ node }: OnnxGather | OnnxUncompiled): boolean => node.outputs[0] === "y";
  const found = survey.nodes.filter(isScatter).flatMap((entry): Found[] => {
    if (!entry.ok) throw new Error(entry.diagnostic.message);
    const func = program(entry.program);
    const reads = Object.fromEntries(inputsOf(func).map((input, k) => [keyOf(input), entry.node.inputs[k]!]));
    const { folded } = entry;
    return [
      { func, reads, fixed: fixedInputs(entry), nodes: 1 },
      ...(folded === undefined
        ? []
        : [{ func: folded.func, reads: folded.reads, fixed: folded.inputs, nodes: folded.nodes.length }]),
    ];
  });
  if (scatter.open === 0) return found;
  const most = surveyModel(readModel(scatter.file([], true), "m.onnx"), { most: { N: scatter.open + 3 } });
  const open = most.nodes.filter(isScatter).flatMap((entry): Found[] => {
    if (entry.ok || !("open" in entry) || entry.open === undefined) return [];
    const bound = bindSizes(entry.open.func, { N: scatter.open });
    if (!bound.ok || bound.func.level !== "access") throw new Error(JSON.stringify(bound));
    const reads = Object.fromEntries(
      inputsOf(bound.func).map((input, k) => [keyOf(input), entry.node.inputs[k]!]),
    );
    return [{ func: bound.func, reads, fixed: fixedInputs(entry.open), nodes: 0 }];
  });
  return [...found, ...open];
}

const ort = await requireOnnxRuntime();

describe("onnxruntime", () => {
  it("gives the same bits for random models with a scatter", { timeout: 3_600_000 }, async (context) => {
    if (ort === undefined) return context.skip();
    const seen = { compared: 0, folded: 0, open: 0, fixed: 0 };
    const kinds = new Map<string, number>();
    const absent = new Map<string, number>();
    for (let seed = first; seen.compared < count; seed++) {
      const scatter = scatterModel(drawer(seed));
      const label = `seed ${seed}: ${scatter.op} ${scatter.reduction} ${scatter.dtype}`;
      const kind = `${scatter.op} ${scatter.reduction}`;
      const tensors = await computed(ort, scatter);
      if (tensors === undefined) {
        absent.set(`${kind} ${scatter.dtype}`, (absent.get(`${kind} ${scatter.dtype}`) ?? 0) + 1);
        continue;
      }
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      seen.compared++;
      const expected = tensors.get("y")!;
      for (const { func, reads, fixed, nodes } of programsOf(scatter)) {
        if (nodes === 0) seen.open++;
        if (nodes > 1) seen.folded++;
        if (Object.keys(fixed).length > 0) seen.fixed++;
        const inputs = (): HostInputs =>
          Object.fromEntries(
            inputsOf(func).map((operand) => {
              const key = keyOf(operand);
              const bytes = fixed[key]?.bytes ?? tensors.get(reads[key]!)!;
              return [key, toHost(key, operand.type, bytes.slice())];
            }),
          );
        const kernel = compile(func, { target: seed % 2 === 0 ? targets.webgpu : targets.ascendA2 });
        const results = {
          reference: referenceOfMap(kernel.access!.map, kernel.access!.operands, inputs()),
          checked: simulateChecked(kernel.tile, inputs(), kernel.target).output,
          fast: Uint8Array.from(FastExecutor.create(kernel.tile).run(inputs()).output),
        };
        for (const [how, bits] of Object.entries(results))
          expect(bits, `${label} ${func.name} ${how}`).toEqual(expected);
      }
    }
    expect(kinds.size).toBeGreaterThan(8);
    if (process.env["SCATTER_MODELS"] !== undefined) console.log(seen, kinds, absent);
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
  });
});
