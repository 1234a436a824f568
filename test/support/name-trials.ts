/** Programs of the shared cases under other names, on every backend, beside what the reference makes of them as they are written. */
import { readdirSync, readFileSync } from "node:fs";
import type { HostInputs, TensorData } from "../../backends/index.js";
import { referenceBackend } from "../../backends/reference/index.js";
import { simulateChecked, watOf } from "../../backends/sim/index.js";
import { buffersOf } from "../../backends/webgpu/buffers.js";
import { deviceFaults } from "../../backends/webgpu/errors.js";
import { resourcesOn } from "../../backends/webgpu/work.js";
import type { Runner } from "../../backends/webgpu/index.js";
import {
  byteCount,
  inputsOf,
  isSymbolName,
  keyOf,
  dynamicSymbols,
  outputOf,
  parseModule,
  printModule,
  RunError,
  targets,
  type Func,
  type Sizes,
} from "../../ir/index.js";
import { packageFile } from "../../src/device/package-files.js";
import { caseProgram } from "../../src/formats/case-program.js";
import { readCases } from "../../src/formats/cases.js";
import { tryCompile, type CompileOptions, type Kernel } from "../../src/index.js";
import type { Draw } from "../fuzz/mutate.js";
import { fastOutput } from "./fast.js";
import { loadModule } from "./modules.js";
import { ptoJob, type PtoJob } from "./pto.js";
import { identifiersIn, languageWords } from "./words.js";
import { diagnosticsOf, unlessRefused } from "./refusal.js";

/** A program, and the bytes of its inputs in their order. */
export interface CorpusProgram {
  readonly id: string;
  readonly func: Func;
  readonly sizes: Sizes;
  readonly inputs: readonly Uint8Array[];
}

const cases = packageFile("test/conformance/cases");

/** The programs of the shared cases, those of strings aside. */
export const corpus: readonly CorpusProgram[] = readdirSync(cases)
  .sort()
  .flatMap((file) => readCases(readFileSync(`${cases}/${file}`, "utf8"), file))
  .flatMap((test): readonly CorpusProgram[] => {
    const written = caseProgram({ ...test, bind: {} });
    if (!written.ok) return [];
    const { func } = written;
    const { bind: sizes = {} } = test;
    const given = inputsOf(func).map(({ name }) => test.inputs[name]);
    if (given.some((tensor) => tensor === undefined || tensor.type.dtype === "string")) return [];
    return [{ id: test.id, func, sizes, inputs: given.map((tensor) => tensor!.read().bytes) }];
  });

const compiled = (func: Func, options: CompileOptions): Kernel | undefined => {
  const result = tryCompile(func, options);
  return result.ok ? result.kernel : undefined;
};

/** Returns every text that a program becomes. */
export function emittedTexts({ func, sizes }: CorpusProgram): readonly string[] {
  const ascend = compiled(func, { bind: sizes, target: targets.ascendA2 });
  const gpu = compiled(func, { bind: sizes, target: targets.webgpu });
  const open = Object.keys(sizes).length === 0 ? undefined : compiled(func, { target: targets.webgpu });
  const texts = [
    ...[ascend, gpu].map((kernel) => kernel && printModule({ funcs: [kernel.tile] })),
    unlessRefused(() => ascend?.pto().code),
    unlessRefused(() => ascend?.pypto()),
    unlessRefused(() => gpu?.wgsl().code),
    unlessRefused(() => gpu && watOf(gpu.tile)),
    unlessRefused(() => open?.bind(sizes).wgsl().code),
  ];
  return texts.flatMap((text) => text ?? []);
}

/** Names that objects of JavaScript have, or that begin, end, repeat or grow as few names do. */
const odd = [
  ...["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf", "prototype", "then", "length"],
  ...["_", "__", "0", "00", "1e3", "3x4xf32", "0x7fffffff", "a_b", "a__b", "_a_b", "a_b_", "A_B", "a_b_2"],
  ...["x".repeat(101), "x".repeat(102), `${"y".repeat(5000)}1`, `${"y".repeat(5000)}2`],
];

/** Names for the programs of trials: each word in its turn, and now and then one that a word could become. */
export class NamePool {
  private next = 0;
  private readonly words: readonly string[];

  /** The words of the languages and of these texts. */
  constructor(
    texts: readonly string[],
    private readonly draw: Draw,
  ) {
    const all = [
      ...new Set([...Object.values(languageWords).flat(), ...odd, ...texts.flatMap(identifiersIn)]),
    ];
    for (let k = all.length - 1; k > 0; k--) {
      const other = draw(k + 1);
      [all[k], all[other]] = [all[other]!, all[k]!];
    }
    this.words = all;
  }

  /** The number of words, and of those that were names. */
  get counts(): readonly [all: number, used: number] {
    return [this.words.length, Math.min(this.next, this.words.length)];
  }

  /** A name that is not taken, and takes it. */
  take(taken: Set<string>): string {
    const near = [...taken][this.draw(taken.size)];
    let name = near === undefined || this.draw(5) > 0 ? this.word() : this.like(near);
    while (taken.has(name)) name = this.word();
    taken.add(name);
    return name;
  }

  private word(): string {
    return this.words[this.next++ % this.words.length]!;
  }

  /** What a name becomes where code is generated, or what becomes the same. */
  private like(name: string): string {
    const forms = [
      `gm_${name}`,
      `ub_${name}`,
      `iv_${name}`,
      `turn_${name}`,
      `view_${name}`,
      `tilec_kernel_${name}`,
    ];
    const ends = [`${name}_ub`, `${name}_2`, `${name}_`, `_${name}`, name.replace("_", "__"), `${name}_tile`];
    const all = [...forms, ...ends, name.toUpperCase(), name.toLowerCase(), `x_${name}`];
    return all[this.draw(all.length)]!;
  }
}

/** A symbol that a word makes. */
function symbolOf(word: string): string {
  const upper = word.toUpperCase().slice(0, 40);
  return isSymbolName(upper) ? upper : `N_${upper}`;
}

/** Returns a program under other names, as text: operands, buffers, loop variables, symbols and the function itself. */
export function renamed(func: Func, pool: NamePool): string {
  const { residency: _, buffers: __, ...schedule } = func.schedule;
  const kept = func.level === "access" ? (({ tiles: ___, ...rest }) => rest)(func) : func;
  const [values, symbols] = [new Map<string, string>(), new Map<string, string>()];
  const taken = new Set<string>();
  const own = (names: Map<string, string>, name: string, make: () => string): string => {
    const known = names.get(name) ?? make();
    names.set(name, known);
    return known;
  };
  let text = printModule({ funcs: [{ ...kept, schedule }] })
    .replaceAll(/%(\w+)/g, (_whole, name: string) => `%${own(values, name, () => pool.take(taken))}`)
    .replaceAll(/@(\w+)/g, () => `@${pool.take(new Set())}`);
  const takenSymbols = new Set<string>();
  for (const { name } of dynamicSymbols(func)) {
    let symbol = symbolOf(pool.take(new Set()));
    while (takenSymbols.has(symbol)) symbol = symbolOf(pool.take(new Set()));
    takenSymbols.add(symbol);
    symbols.set(name, symbol);
  }
  const known = [...symbols.keys()].join("|");
  if (known !== "")
    text = text.replaceAll(new RegExp(`(?<![\\w%@])(?:${known})(?![A-Z0-9_])`, "g"), (name) =>
      symbols.get(name)!,
    );
  return text;
}

/** Output bits in hexadecimal, or the point of the first bad index, its value and where that lies. */
async function outcomeOf(run: () => Uint8Array | Promise<Uint8Array>): Promise<string> {
  try {
    return Buffer.from(await run()).toString("hex");
  } catch (thrown) {
    const data =
      thrown instanceof RunError
        ? thrown.diagnostics[0]?.data
        : (thrown as { readonly data?: Readonly<Record<string, unknown>> }).data;
    if (data?.["point"] === undefined) throw thrown;
    return JSON.stringify([data["point"], data["value"], data["position"]]);
  }
}

const hostInputs = (func: Pick<Func, "operands">, bytes: readonly Uint8Array[]): HostInputs =>
  Object.fromEntries(
    inputsOf(func).map((operand, k) => [keyOf(operand), { type: operand.type, bytes: bytes[k]! }]),
  );

/** The reference's outcome of a program as it is written. */
const wanted = new Map<CorpusProgram, Promise<string>>();

async function outcomeAsWritten({ func, sizes, inputs }: CorpusProgram): Promise<string> {
  const kernel = compiled(func, { bind: sizes, target: targets.cpu });
  if (kernel === undefined) return "refused";
  return referenceOutcome(kernel, inputs);
}

const referenceOutcome = (kernel: Kernel, bytes: readonly Uint8Array[]): Promise<string> =>
  outcomeOf(async () => {
    const prepared = await referenceBackend.prepare(kernel);
    return (await prepared.run(hostInputs(kernel.tile, bytes))).output;
  });

/** What a launch on the caller's buffers gives, and its status word. */
async function encoded(runner: Runner, kernel: Kernel, bytes: readonly Uint8Array[]): Promise<Uint8Array> {
  const { device } = runner;
  const { tile } = kernel;
  const resources = resourcesOn({ device: device, faults: deviceFaults });
  try {
    const [storage, copySrc] = [128, 4];
    const sizes = new Map(runner.wgsl({ tile }).bindings.map(({ key, bytes: size }) => [key, size]));
    const bufferOf = (key: string, contents?: Uint8Array): GPUBuffer =>
      resources.buffer(sizes.get(key) ?? 4, storage | copySrc, contents);
    const none = new Uint8Array(4).fill(0xff);
    const buffers = buffersOf(
      tile,
      (operand) => bufferOf(keyOf(operand), bytes[tile.operands.indexOf(operand)]),
      resources.buffer(4, storage | copySrc, none),
    );
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    runner.encode(pass, { tile }, buffers);
    pass.end();
    const output = buffers[keyOf(outputOf(tile))]!;
    const read = resources.readback(encoder, output, 0, output.size);
    device.queue.submit([encoder.finish()]);
    const found = await read();
    await runner.checkStatus({ tile }, buffers);
    return found.subarray(0, byteCount(outputOf(tile).type));
  } finally {
    resources.destroy();
  }
}

/** What a module gives for arrays under the names of the text. */
async function moduleOutcome(
  kernel: Kernel,
  bytes: readonly Uint8Array[],
  sizes: Sizes,
  device: GPUDevice | undefined,
): Promise<string | undefined> {
  // Of the sums whose bounds stay open there are no modules.
  const loaded = await loadModule(kernel, device === undefined ? "module-cpu" : "module").catch(
    (thrown: unknown) => void diagnosticsOf(thrown),
  );
  if (loaded === undefined) return undefined;
  const made = await loaded.create(device);
  const operands = inputsOf(kernel.tile);
  const keys = operands.map(keyOf);
  const named = operands.map((operand, k): [string, TensorData] => [
    keys.includes(operand.name) ? keyOf(operand) : operand.name,
    bytes[k]!,
  ]);
  try {
    return await outcomeOf(async () => {
      const { outputs } = await made.run(Object.fromEntries(named), sizes);
      const [output] = Object.values(outputs);
      if (!ArrayBuffer.isView(output)) throw new Error("a module gives an array");
      return new Uint8Array(output.buffer, output.byteOffset, output.byteLength);
    });
  } finally {
    made.dispose();
  }
}

/** A trial's outcome, and its kernel for PTO-ISA, where it has one. */
export interface NameOutcome {
  readonly outcome: "right bits" | "error" | "refused";
  readonly job?: PtoJob & { readonly want: string; readonly text: string };
}

/** Throws an Error for the first backend that gives something else than the reference of the program as it is written. */
export async function judgeNames(
  program: CorpusProgram,
  pool: NamePool,
  draw: Draw,
  runner?: Runner,
): Promise<NameOutcome> {
  const { sizes } = program;
  const want = await (wanted.get(program) ?? outcomeAsWritten(program));
  wanted.set(program, Promise.resolve(want));
  if (want === "refused") return { outcome: "refused" };
  const target = [targets.ascendA2, targets.cpu, targets.webgpu][draw(3)]!;
  const base = compiled(program.func, { bind: sizes, target: runner?.target ?? target });
  if (base === undefined) return { outcome: "refused" };
  const asTile = Object.keys(sizes).length === 0 && draw(4) === 0;
  const text = renamed(asTile ? base.tile : program.func, pool);
  const { module, diagnostics } = parseModule(text, "renamed.tir");
  const [func] = module.funcs;
  if (func === undefined) throw new Error(`${JSON.stringify(diagnostics)}\n${text}`);
  const own = new Map(
    dynamicSymbols(program.func).map(({ name }, k) => [dynamicSymbols(func)[k]!.name, sizes[name]!]),
  );
  const bound: Sizes = Object.fromEntries(own);
  const bytes = program.inputs;
  const agree = (who: string, found: string | undefined): void => {
    if (found !== undefined && found !== want)
      throw new Error(`${program.id}: ${who} gives ${found}, not ${want}\n${text}`);
  };
  const on = (who: string, options: CompileOptions): Kernel => {
    const result = tryCompile(func, { bind: bound, ...options });
    if (!result.ok) throw new Error(`${program.id}: ${who}: ${JSON.stringify(result.diagnostics)}\n${text}`);
    return result.kernel;
  };
  const kernel = on(base.target.name, { target: base.target });
  const inputs = hostInputs(kernel.tile, bytes);
  agree("reference", await referenceOutcome(kernel, bytes));
  agree("sim, checked", await outcomeOf(() => simulateChecked(kernel.tile, inputs, kernel.target).output));
  agree("sim, fast", await outcomeOf(() => fastOutput(kernel, inputs)));
  const open = Object.keys(bound).length === 0 ? kernel : on("open", { target: base.target, bind: {} });
  const given = open === kernel ? {} : bound;
  agree("a module for WebAssembly", await moduleOutcome(open, bytes, given, undefined));
  if (runner !== undefined) {
    agree("webgpu", await outcomeOf(() => runner.runBytes(kernel, inputs)));
    agree("webgpu, encoded", await outcomeOf(() => encoded(runner, kernel, bytes)));
    if (open !== kernel)
      agree("webgpu, bound", await outcomeOf(() => runner.runBytes(open.bind(bound), inputs)));
    agree("a module for WebGPU", await moduleOutcome(open, bytes, given, runner.device));
  }
  const ascend =
    asTile && base.target !== targets.ascendA2
      ? undefined
      : compiled(func, { bind: bound, target: targets.ascendA2 });
  const job = ascend && unlessRefused(() => ptoJob(ascend, ascend.name, bytes));
  const outcome = want.startsWith("[") ? "error" : "right bits";
  return { outcome, ...(job === undefined ? {} : { job: { ...job, want, text } }) };
}
