/**
 * The process that `ForeignProcess` starts: runs kernels that tilec did not write. It ends with the process
 * that started it.
 */
import { CompileError, RunError } from "../../../ir/index.js";
import { acquireGpu } from "../../device/index.js";
import { openWgsl } from "./foreign-wgsl.js";
import type { ForeignReply, ForeignRequest } from "./foreign-process.js";

/** The device, opened with the first request. */
let device: Promise<GPUDevice> | undefined;
/** The kernel of the last request, by the text of its program. */
let last: { readonly key: string; readonly run: ReturnType<typeof openWgsl> } | undefined;

async function openDevice(): Promise<GPUDevice> {
  const gpu = await acquireGpu();
  if (!gpu.ok) throw new RunError([gpu.problem]);
  return gpu.gpu.device;
}

/**
 * Executes a request of the parent process and returns the reply: the output if inputs were given, or the
 * thrown error.
 */
async function replyTo({ described, program, inputs }: ForeignRequest): Promise<ForeignReply> {
  try {
    const key = JSON.stringify(program);
    if (last?.key !== key) last = { key, run: openWgsl(described, program, await (device ??= openDevice())) };
    const run = await last.run;
    return inputs === undefined ? {} : { output: await run(inputs) };
  } catch (thrown) {
    if (thrown instanceof CompileError) return { thrown: "CompileError", diagnostics: thrown.diagnostics };
    if (thrown instanceof RunError) return { thrown: "RunError", diagnostics: thrown.diagnostics };
    return { bug: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) };
  }
}

process.on("message", (request: ForeignRequest) => {
  void replyTo(request).then((reply) => process.send?.(reply));
});
// An open device would keep it alive.
process.on("disconnect", () => process.exit());
