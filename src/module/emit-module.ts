/** A kernel as a JavaScript file that imports nothing, and its declarations. */
import { clockVersion, cyclesOf } from "../../ir/clock/index.js";
import { throwIfErrors } from "../../ir/diagnostic.js";
import type { AccessFunc } from "../../ir/func.js";
import { scale } from "../../ir/linear.js";
import { mayReject } from "../../ir/policy.js";
import { deviceLimits, webgpu, type Target } from "../../ir/target.js";
import { printFunc, printSchedule } from "../../ir/text/print.js";
import { scatterMapOf } from "../../backends/scatter-map.js";
import { emitWasm, encodeModule, hasTasks, planWasm } from "../../backends/wasm/index.js";
import {
  beyondLimits,
  emitText,
  isNative,
  nativeArithmetic,
  neededLimits,
  pointLanes,
  type WgslKernel,
  type WgslPlan,
  planWgsl,
  type Arithmetic,
} from "../../backends/wgsl/index.js";
import type { Kernel } from "../api/compile.js";
import { printDeclarations, type ModuleKind } from "./declarations.js";
import {
  printFacts,
  printLines,
  printObject,
  printPoints,
  printTrips,
  printWritten,
  isScatterProgram,
  moduleMap,
  moduleProgram,
  type ModuleProgram,
} from "./module-facts.js";
import { printSizeForm } from "./print-form.js";

/** Source texts of an emitted JavaScript module: code and type declarations. */
export interface EmittedModule {
  readonly code: string;
  readonly declarations: string;
}

/** JavaScript source text of the runtime part of an emitted module, as returned by {@link RuntimeOf}. */
export type Runtime = string;

/**
 * Names of the runtimes that emitted modules contain: gathers and scatters on WebGPU, each with static or
 * with dynamic sizes, and gathers and scatters on WebAssembly.
 */
export const runtimes = [
  "gpu",
  "gpu-dynamic",
  "gpu-scatter",
  "gpu-scatter-dynamic",
  "cpu",
  "cpu-scatter",
] as const;

/** Function from the name of a runtime, one of {@link runtimes}, to JavaScript source. */
export type RuntimeOf = (name: (typeof runtimes)[number]) => Runtime;

/**
 * Returns the JavaScript code and type declarations of a module that executes a kernel. Throws a
 * CompileError: TC505 for a scatter without code for this kind, TC502 for exceeded device limits or missing
 * bounds, TC702 for an access map that differs between tiles. `device`: WebGPU target for which the kernel
 * may be compiled again.
 */
export function emitModule(
  kernel: Kernel,
  kind: ModuleKind,
  runtimeOf: RuntimeOf,
  device: Target = webgpu,
  arithmetic: Arithmetic = "proved",
): EmittedModule {
  switch (kind) {
    case "module":
      return emitGpu(kernel.forTarget(device), kernel, runtimeOf, arithmetic);
    case "module-cpu":
      return emitCpu(kernel, runtimeOf);
  }
}

/**
 * Returns the JavaScript code and type declarations of a WebGPU module. `given`: the user's kernel; `kernel`
 * is the same kernel or was compiled again from it for WebGPU. Throws a CompileError: TC502 if a device limit
 * is exceeded or no program is valid for all dynamic sizes, TC505 for a scatter without WebGPU code.
 */
function emitGpu(kernel: Kernel, given: Kernel, runtimeOf: RuntimeOf, arithmetic: Arithmetic): EmittedModule {
  const program = moduleProgram(kernel);
  const limits = deviceLimits(kernel.target);
  const plan = planWgsl(program, { limits, target: kernel.target, arithmetic });
  const text = emitText(plan);
  const { code } = text;
  // Of a program over symbols they are at the most.
  throwIfErrors(beyondLimits(plan.func, text, limits));
  // Fewer tasks, numbered through, may lie along one dim where more of them lie along two.
  const along =
    program.symbolic !== undefined && plan.grid.folded
      ? { maxComputeWorkgroupsPerDimension: limits.maxComputeWorkgroupsPerDimension }
      : {};
  const needed = Object.entries({ ...neededLimits(text), ...along });
  const requiredLimits = needed
    .filter(([, value]) => value > 0)
    .map(([name, value]) => [name, `${value}`] as const);
  const isWrite = isScatterProgram(program);
  // A runtime of gathers for numbers alone does without outputs that have no elements.
  const isDynamic = program.symbolic !== undefined || (!isWrite && plan.gather === undefined);
  const rejects = plan.gather?.reports ?? rejectsIndices(program);
  const fields = {
    ...printFacts(kernel, program, rejects),
    code: "code",
    bindings: printLines(
      plan.bindings.map(({ access, width, role, bytes }) => {
        const isScratch = isWrite && (role === "status" || role === "owner");
        const owners = role === "owner" ? plan.scatter?.move.owners : undefined;
        return printObject({
          role: isScratch ? JSON.stringify(role) : undefined,
          access: access === "read" ? undefined : JSON.stringify(access),
          width: width === 1 || !isDynamic ? undefined : `${width}`,
          bytes:
            !isScratch || !isDynamic
              ? undefined
              : `n=>${owners === undefined ? bytes : printSizeForm(scale(owners.entries, 4))}`,
        });
      }),
    ),
    ...(isDynamic
      ? {
          told: JSON.stringify(plan.sizes),
          ...(isWrite ? {} : { folded: `${plan.grid.folded}`, trips: printTrips(plan.nest.loops) }),
        }
      : {
          dispatch: JSON.stringify(plan.grid.dispatch),
          bytes: JSON.stringify(plan.bindings.map(({ bytes }) => bytes)),
        }),
    ...(isWrite ? scatterFields(program, plan, text) : {}),
    requiredLimits: "requiredLimits",
  };
  const runtime = `gpu${isWrite ? "-scatter" : ""}${isDynamic ? "-dynamic" : ""}` as const;
  const body = `const code = \`${shortened(code)}\`;
export const requiredLimits = ${printObject(Object.fromEntries(requiredLimits))};
${printPlan(fields)}${printRuntime(runtimeOf(runtime))}export const create = (device) => runtime.create(device, plan);
`;
  const again =
    kernel === given ? "" : `// compiled again for webgpu: the program's target is ${given.target.name}\n`;
  const { values } = plan.gather ?? plan.scatter?.move.point ?? {};
  const native = values !== undefined && isNative(values) ? `// ${nativeArithmetic}\n` : "";
  return files(kernel, program, "module", body, again + native);
}

/** Returns the JavaScript code and type declarations of a WebAssembly module. */
function emitCpu(kernel: Kernel, runtimeOf: RuntimeOf): EmittedModule {
  const program = moduleProgram(kernel);
  const plan = planWasm(program);
  const { module, layout } = emitWasm(plan);
  // The memory grows with what a run needs, whatever the sizes.
  const code = encodeModule({ ...module, memory: { pages: 1, shared: false } });
  const bytes = Array.from(code, (byte) => String.fromCharCode(byte)).join("");
  const isWrite = isScatterProgram(program);
  // Where two points that write one element reject the run, all index values are resolved again.
  const isChecked = isWrite && scatterMapOf(program).write.duplicates === "error";
  const fields = {
    ...printFacts(kernel, program, isChecked || rejectsIndices(program)),
    trips: printTrips(hasTasks(plan) ? plan.nest.loops : []),
    ...(isWrite ? printPoints(program) : {}),
    duplicates: isChecked ? printWritten(program) : undefined,
    code: JSON.stringify(btoa(bytes)),
    bufferBytes: `${layout.bufferBytes}`,
    told: JSON.stringify(plan.params),
  };
  const body = `${printPlan(fields)}${printRuntime(runtimeOf(isWrite ? "cpu-scatter" : "cpu"))}export const create = () => runtime.create(plan);
`;
  return files(kernel, program, "module-cpu", body, "");
}

/** Returns the fields of a WebGPU module's plan that only a scatter has. */
function scatterFields(
  program: ModuleProgram,
  { bindings, scatter }: WgslPlan,
  { before = [] }: WgslKernel,
): Readonly<Record<string, string | undefined>> {
  if (program.symbolic === undefined) return { ...printPoints(program), before: JSON.stringify(before) };
  const groups = (scatter?.move.steps ?? []).map(({ lanes }) => {
    const counts = lanes.map((form) => `(${printSizeForm(form)})/${pointLanes}`);
    return `Math.ceil(${counts.length === 1 ? counts.join("") : `Math.max(${counts.join(",")})`})`;
  });
  const owner = bindings.find(({ role }) => role === "owner");
  return {
    ...printPoints(program),
    before: JSON.stringify(before.map(({ entryPoint }) => ({ entryPoint }))),
    groups: `n=>[${groups.join(",")}]`,
    ownerBytes: owner && `${owner.bytes}`,
  };
}

/** True if a run of a program may end at an index value. */
function rejectsIndices(program: ModuleProgram): boolean {
  const map = moduleMap(program);
  return map !== undefined && mayReject(map);
}

const printPlan = (fields: Readonly<Record<string, string | undefined>>): string => {
  const lines = Object.entries(fields).flatMap(([name, text]) =>
    text === undefined ? [] : [`${name === text ? name : `${name}:${text}`},\n`],
  );
  return `const plan = {\n${lines.join("")}};\n`;
};

const printRuntime = (runtime: Runtime): string =>
  `${runtime.trim()}\nexport const { GatherError } = runtime;\n`;

/**
 * Returns the code and the type declarations of a module, both with comment lines at the top. `body`: code
 * without comments. `again`: lines that come first, for example that the program was compiled again for
 * WebGPU; may be empty.
 */
function files(
  kernel: Kernel,
  program: ModuleProgram,
  kind: ModuleKind,
  body: string,
  again: string,
): EmittedModule {
  const head = `${again}${headOf(kernel)}`;
  return { code: `${head}${body}`, declarations: printDeclarations(program, kind, head) };
}

const withoutTiles = ({ tiles: _, ...access }: AccessFunc): AccessFunc => access;

/** Returns the comment lines at the top of a module: the gather, the schedule, and the estimated cycles. */
function headOf(kernel: Kernel): string {
  const { tile, target } = kernel;
  const access = kernel.access === undefined ? undefined : withoutTiles(kernel.access);
  const { cycles } = cyclesOf(tile, target);
  const shown = access === undefined ? "" : printFunc({ ...access, schedule: {} });
  const lines = [
    ...shown.trim().split("\n"),
    `schedule {${printSchedule(tile.schedule)}}: legal on ${target.name}, about ${cycles} cycles by clock ${clockVersion}`,
  ];
  return lines.map((line) => `// ${line}\n`).join("");
}

/**
 * Returns code without comments and without blanks that separate nothing. The comments are the tile program
 * that `--emit tile` prints.
 */
const shortened = (code: string): string =>
  code
    .split("\n")
    .filter((line) => line !== "" && !line.trim().startsWith("//"))
    .map((line) =>
      line
        .trim()
        .replace(/ ?([+*<|&^(){}:,;?]|->) ?/g, "$1")
        // A type may end before it: `array<u32, 2> = …`.
        .replace(/(?<=[\w\])]) ?(==|!=|>=|>>|=|>) ?(?![=>])/g, "$1"),
    )
    .join("\n");
