/**
 * Kernels for PTO-ISA on the judge of test/pto/shim, compiled by the C++ compiler on the path: many kernels in one translation
 * unit, since a compiler takes longer to start than to read them.
 */
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { emitPto, type PtoKernel } from "../../backends/pto/index.js";
import { packageFile } from "../../src/device/package-files.js";
import { byteCount, hasScatter, outputOf, type Target, type TileFunc } from "../../ir/index.js";

const exec = promisify(execFile);

const shim = packageFile("test/pto/shim");

let found: string | null | undefined;

/** The compiler's name; undefined, with a word, where there is none, and an error where CI=true, since CI must not skip. */
export function cppCompiler(): string | undefined {
  found ??= ["clang++", "g++", "c++"].find(works) ?? null;
  if (found !== null) return found;
  if (process.env["CI"] === "true") throw new Error("no C++ compiler in CI");
  console.warn("SKIPPED, no C++ compiler: none of clang++, g++, c++ is on the path");
  return undefined;
}

function works(command: string): boolean {
  try {
    execFileSync(command, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** What the documents leave open of f32: whether subnormals are flushed, by which results, and what stands in place of an infinity. */
export interface FloatSwitches {
  readonly flush: boolean;
  /** Results that are tiny before they are rounded are flushed, in place of those after. */
  readonly before: boolean;
  /** The largest number stands for a result past the range. */
  readonly largest: boolean;
}

/** Every machine that the documents allow. A NaN has another payload each time. */
export const machines: readonly FloatSwitches[] = [
  { flush: false, before: false, largest: false },
  { flush: true, before: false, largest: false },
  { flush: true, before: true, largest: false },
  { flush: false, before: false, largest: true },
];

/** A kernel with what it runs on. */
export interface PtoJob {
  readonly floats?: FloatSwitches;
  readonly kernel: PtoKernel;
  readonly tile: TileFunc;
  readonly target: Target;
  /** Bytes of each input, in the order of the operands. */
  readonly inputs: readonly Uint8Array[];
}

/**
 * True if a kernel can tell of a bad index: for an output without elements nothing is launched, and the host
 * looks up its indices.
 */
export const canTell = ({ kernel }: PtoJob): boolean => kernel.blocks > 0;

export interface PtoVerdict {
  /** What the judge objects to; empty where it does not. */
  readonly fault: string;
  /** Whether a block told of an index out of range. */
  readonly status: boolean;
  readonly output: Uint8Array;
}

/** The kernels of some jobs, each once. */
const kernelsOf = (jobs: readonly PtoJob[]): readonly PtoKernel[] => [
  ...new Set(jobs.map(({ kernel }) => kernel)),
];

/** The text of several kernels, each in a namespace of its own: their entry points differ. */
export function unitOf(jobs: readonly PtoJob[]): string {
  const kernels = kernelsOf(jobs);
  const names = new Set(kernels.map(({ entryPoint }) => entryPoint));
  if (names.size !== kernels.length) throw new Error("entry points of one unit differ");
  const bodies = kernels.map(({ code, entryPoint, checkEntryPoint, params }, k) => {
    const lines = code.split("\n").filter((line) => !/^#include|^using namespace/.test(line));
    const args = params.map(({ word }, p) => `(${word}*)p[${p}]`).join(", ");
    return [
      `namespace unit${k} {`,
      ...lines,
      `inline void call(void** p) { ${entryPoint}(${args}); }`,
      ...(checkEntryPoint === undefined
        ? []
        : [`inline void check(void** p) { ${checkEntryPoint}(${args}); }`]),
      "}",
    ].join("\n");
  });
  const table = kernels
    .map(({ checkEntryPoint }, k) =>
      checkEntryPoint === undefined ? `{unit${k}::call, nullptr}` : `{unit${k}::call, unit${k}::check}`,
    )
    .join(", ");
  return [
    "#include <run.hpp>",
    "using namespace pto;",
    ...bodies,
    `static const run::Kernel kernels[] = {${table}};`,
    "int main(int count, char** args) { return run::main(count, args, kernels); }",
    "",
  ].join("\n");
}

/** A kernel that takes longer than all of them together should hangs. */
const patienceMs = 500_000;

/** Compiles the kernels as one unit and runs each on its inputs. Throws where they do not compile. */
export async function runPto(jobs: readonly PtoJob[]): Promise<readonly PtoVerdict[]> {
  const compiler = cppCompiler();
  if (compiler === undefined) throw new Error("no C++ compiler");
  if (jobs.length === 0) return [];
  const folder = mkdtempSync(join(tmpdir(), "tilec-pto-"));
  const file = (name: string): string => join(folder, name);
  try {
    writeFileSync(file("unit.cpp"), unitOf(jobs));
    writeFileSync(file("jobs"), jobBytes(jobs));
    const flags = ["-std=c++17", "-O0", "-w", "-I", shim];
    await exec(compiler, [...flags, file("unit.cpp"), "-o", file("unit")], { maxBuffer: 2 ** 26 });
    await exec(file("unit"), [file("jobs"), file("verdicts")], { timeout: patienceMs });
    return verdictsOf(readFileSync(file("verdicts")), jobs.length);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function jobBytes(jobs: readonly PtoJob[]): Uint8Array {
  const parts: Uint8Array[] = [];
  const number = (value: number): void => {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(value), true);
    parts.push(bytes);
  };
  const bytes = (value: Uint8Array): void => {
    number(value.length);
    parts.push(value);
  };
  number(jobs.length);
  const numbers = new Map(kernelsOf(jobs).map((kernel, k) => [kernel, k]));
  jobs.forEach(({ kernel, tile, target, inputs, floats }) => {
    number(numbers.get(kernel) ?? 0);
    number(kernel.blocks);
    number(tile.schedule.ubBytes ?? target.ubBytes);
    number(target.vectorGatherBytes.reduce((mask, size) => mask | (1 << size), 0));
    number(target.dmaRows);
    number(target.isa === "a5" ? 1 : 0);
    for (const on of [floats?.flush, floats?.before, floats?.largest]) number(on === true ? 1 : 0);
    const inPlace = tile.operands.some(({ inout }) => inout === true);
    number(inPlace ? 2 : hasScatter(tile.body) ? 1 : 0);
    const copies = kernel.buffers.flatMap(({ name, addresses, bytes: size }) =>
      addresses.map((address) => ({ name, address, size })),
    );
    number(copies.length);
    for (const { name, address, size } of copies) {
      bytes(new TextEncoder().encode(name));
      number(address);
      number(size);
    }
    number(inputs.length + (inPlace ? 0 : 1));
    inputs.forEach(bytes);
    // Nothing of the output is right before it is stored.
    if (!inPlace) bytes(new Uint8Array(byteCount(outputOf(tile).type)).fill(0xcd));
  });
  return Buffer.concat(parts);
}

function verdictsOf(bytes: Buffer, count: number): PtoVerdict[] {
  let at = 0;
  const number = (): number => Number(bytes.readBigUInt64LE((at += 8) - 8));
  const take = (length: number): Buffer => bytes.subarray(at, (at += length));
  return Array.from({ length: count }, () => {
    const fault = take(number()).toString("utf8");
    const status = number() !== 0;
    return { fault, status, output: take(number()) };
  });
}

/** A job on every machine that the documents allow. */
export const onMachines = (job: PtoJob): readonly PtoJob[] => machines.map((floats) => ({ ...job, floats }));

/** A kernel's job under a name of its own. Throws a CompileError where PTO-ISA cannot express it. */
export function ptoJob(
  { tile, target }: { readonly tile: TileFunc; readonly target: Target },
  name: string,
  inputs: readonly Uint8Array[],
): PtoJob {
  const named = { ...tile, name };
  return { kernel: emitPto(named, target), tile: named, target, inputs };
}
