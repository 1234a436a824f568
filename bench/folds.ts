/**
 * The choice of folding beside measured times: rows of a table of floats plus rows of a 4-bit table by the
 * same indices, 64 and 512 of them. Subjects are the model's kernels under each policy of `--fold`, launched
 * one behind the other in one pass.
 */
import { buffersOf } from "../backends/webgpu/buffers.js";
import { createRunner, type GpuBuffers, type Runner } from "../backends/webgpu/index.js";
import { at, cyclesOf, inputsOf, keyOf, parseModule, targets, type Func, type Operand } from "../ir/index.js";
import { lcg } from "../src/formats/lcg.js";
import { findGathers, readModel, type FoldPolicy } from "../src/formats/onnx/index.js";
import { compile, program, type Kernel } from "../src/index.js";
import { tokenModel, tokenTables } from "../test/support/token-model.js";
import type { NodeGpu } from "../src/device/node.js";
import { cpuMs, wallMs } from "./clocks.js";
import { download, statusBuffer, storageBuffer, timed } from "./gpu-subjects.js";
import { measure, type Row } from "./rows.js";

const { rows, columns, block } = tokenTables;
/** Times that the kernels are launched in a pass. */
const launches = 8;

/** A program and the tensors of the model that it reads and makes. */
interface Step {
  readonly func: Func;
  readonly reads: readonly string[];
  readonly makes: string;
}

/**
 * Returns the step that computes the Add node of the benchmark's ONNX model as a separate kernel, for
 * `tokens` tokens.
 */
function addOf(tokens: number): Step {
  const type = `tensor<1x${tokens}x${columns}xf32>`;
  const source = `func @add(%a: ${type}, %b: ${type}) -> ${type} {
  %y = access.gather %a, %b (d0, d1, d2) yield %a[d0, d1, d2] + %b[d0, d1, d2] {oob = clamp}
  return %y
}
`;
  return { func: at(parseModule(source, "add.tir").module.funcs, 0), reads: ["tok", "pos"], makes: "sum" };
}

/**
 * Returns the kernels of the benchmark's ONNX model, in execution order. The fold policy decides whether
 * gather kernels include the adjacent nodes.
 */
function stepsOf(tokens: number, fold: FoldPolicy): readonly Step[] {
  const gathers = findGathers(readModel(tokenModel(tokens), "m.onnx"), {}, { target: targets.webgpu, fold });
  const done = new Set<string>();
  const steps = gathers.flatMap((gather): Step[] => {
    if (!gather.ok || done.has(gather.node.name)) return [];
    const { folded, node: own } = gather;
    if (folded === undefined)
      return [{ func: program(gather.program), reads: own.inputs, makes: own.outputs[0] ?? "" }];
    for (const { name } of folded.nodes) done.add(name);
    const reads = inputsOf(folded.func).map((operand) => folded.reads[keyOf(operand)] ?? "");
    return [{ func: folded.func, reads, makes: folded.nodes.at(-1)?.outputs[0] ?? "" }];
  });
  const all = steps.some(({ makes }) => makes === "sum") ? steps : [...steps, addOf(tokens)];
  // What makes the sum is last.
  return [...all.filter(({ makes }) => makes !== "sum"), ...all.filter(({ makes }) => makes === "sum")];
}

/**
 * Returns the input tensors of the benchmark's ONNX model for a number of tokens, random from a fixed seed.
 */
function inputsFor(tokens: number): Readonly<Record<string, Uint8Array | Int32Array | Float32Array>> {
  const draw = lcg(1);
  const float = (): number => Math.fround(2 * draw() - 1);
  return {
    wte: Float32Array.from({ length: rows * columns }, float),
    ids: Int32Array.from({ length: tokens }, () => Math.floor(draw() * rows)),
    wq: Uint8Array.from({ length: (rows * columns) / 2 }, () => Math.floor(draw() * 256)),
    ws: Float32Array.from({ length: (rows * columns) / block }, float),
  };
}

/** Computes the expected output of the benchmark's ONNX model as bytes. */
function expectedOf({ wte, ids, wq, ws }: ReturnType<typeof inputsFor>): Uint8Array {
  const sums = Array.from(ids ?? []).flatMap((row) =>
    Array.from({ length: columns }, (_, column) => {
      const place = row * columns + column;
      const element = ((wq?.[place >> 1] ?? 0) >> (4 * (place & 1))) & 15;
      const scaled = Math.fround((element - 8) * (ws?.[Math.floor(place / block)] ?? 0));
      return Math.fround((wte?.[place] ?? 0) + scaled);
    }),
  );
  return new Uint8Array(Float32Array.from(sums).buffer);
}

interface Prepared {
  readonly kernel: Kernel;
  readonly buffers: GpuBuffers;
}

/**
 * Measures the kernels of the benchmark's ONNX model for a number of tokens, under each fold policy (rule for
 * merging nodes into gather kernels). Resolves to the measured times (`rows`), and to the estimated cycles of
 * all kernels, launches included (`cycles`).
 */
async function measureTokens(runner: Runner, tokens: number, rounds: number, now: () => number) {
  const { device } = runner;
  const given = inputsFor(tokens);
  const expected = expectedOf(given);
  const tensors = new Map(
    Object.entries(given).map(([name, list]) => [
      name,
      storageBuffer(device, list.byteLength, new Uint8Array(list.buffer)),
    ]),
  );
  const cycles = new Map<string, number>();
  const subjects = [];
  for (const fold of ["never", "cost", "always"] as const) {
    const held = new Map(tensors);
    const bufferOf = (name: string): GPUBuffer => {
      const known = held.get(name) ?? storageBuffer(device, expected.byteLength);
      held.set(name, known);
      return known;
    };
    const prepared: Prepared[] = [];
    let total = 0;
    for (const { func, reads, makes } of stepsOf(tokens, fold)) {
      const estimated = compile(func, { target: targets.webgpu });
      total += cyclesOf(estimated.tile, estimated.target).cycles + estimated.target.launchCycles;
      const kernel = compile(func, { target: runner.target });
      await runner.prepare(kernel);
      const names = [...reads, makes];
      const { operands } = kernel.tile;
      const own = (operand: Operand): GPUBuffer => bufferOf(at(names, operands.indexOf(operand)));
      prepared.push({ kernel, buffers: buffersOf(kernel.tile, own, statusBuffer(device)) });
    }
    const subject = `${fold}-${prepared.length}`;
    cycles.set(subject, total);
    subjects.push({
      subject,
      threads: 1,
      run: () =>
        timed(
          device,
          launches,
          (pass) => {
            for (const { kernel, buffers } of prepared) runner.encode(pass, kernel, buffers);
          },
          now,
        ),
      output: () => download(device, bufferOf("sum"), expected.byteLength),
    });
  }
  return { rows: await measure(`${tokens} tokens`, subjects, expected, rounds), cycles };
}

/** Measures the time of one kernel launch, in microseconds. */
async function measureLaunch(runner: Runner, rounds: number, now: () => number): Promise<number> {
  const { device } = runner;
  const source = `func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = access.gather %x (d0) yield %x[d0] + %x[d0] {oob = clamp}
  return %y
}
`;
  const kernel = compile(at(parseModule(source, "twice.tir").module.funcs, 0), { target: runner.target });
  const buffers = buffersOf(kernel.tile, () => storageBuffer(device, 16), statusBuffer(device));
  const times: number[] = [];
  for (let round = 0; round < rounds; round++)
    times.push(
      await timed(
        device,
        400,
        (pass) => {
          runner.encode(pass, kernel, buffers);
        },
        now,
      ),
    );
  return 1000 * Math.min(...times);
}

/**
 * Measures the kernels of the benchmark's ONNX model for 64 and 512 tokens, under each fold policy (rule for
 * merging nodes into gather kernels). Resolves to one row of times for each policy and number of tokens.
 * Prints the ratios of policy `cost` to the remaining policies.
 */
export async function measureFolds({ device, software }: NodeGpu, rounds: number): Promise<readonly Row[]> {
  const runner = await createRunner(device);
  const now = software ? cpuMs : wallMs;
  console.error(`a launch takes ${(await measureLaunch(runner, rounds, now)).toFixed(1)} us`);
  const found: Row[] = [];
  for (const tokens of [64, 512]) {
    const { rows: own, cycles } = await measureTokens(runner, tokens, rounds, now);
    const chosen = own.find(({ subject }) => subject.startsWith("cost"));
    for (const { subject, leastMs } of own) {
      if (chosen === undefined || subject === chosen.subject) continue;
      const ratio = (figure: number, to: number): string => (figure / to).toFixed(2);
      const estimated = ratio(cycles.get(chosen.subject) ?? 0, cycles.get(subject) ?? 0);
      console.error(
        `${tokens} tokens: ${chosen.subject} takes ${ratio(chosen.leastMs, leastMs)} of the time of ${subject}, and ${estimated} of its cycles`,
      );
    }
    found.push(...own);
  }
  return found;
}
