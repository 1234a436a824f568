/**
 * Prints Dawn's SPIR-V of each kernel that stdin lists as JSON, behind a line `@@@@ NAME`. bench:isa runs it
 * as a process of its own.
 */
import { text } from "node:stream/consumers";
import { openGpu } from "./open-gpu.js";

interface NamedText {
  readonly name: string;
  readonly code: string;
}

const kernels = JSON.parse(await text(process.stdin)) as readonly NamedText[];
const { device } = await openGpu({ toggles: ["dump_shaders"] });
for (const { name, code } of kernels) {
  console.log(`@@@@ ${name}`);
  const module = device.createShaderModule({ code });
  device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: "main" } });
}
device.destroy();
