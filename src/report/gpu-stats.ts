/** Counts of a WebGPU kernel, as text. */
import {
  sectorBytes,
  subgroupLanes,
  type DispatchStats,
  type KernelStats,
} from "../../backends/wgsl/index.js";
import { inPercent, withCommas } from "../../ir/counted.js";
import { deviceClassOf, type DeviceClass, type Target } from "../../ir/target.js";
import { table } from "./table.js";

/** Classes of devices, each with the figures that kernels for it are chosen by. */
const deviceClasses = {
  gpu: "a GPU, by assumptions of target webgpu (tilec targets webgpu has them, with ranges)",
  software: "an adapter in software, by measured figures",
} as const satisfies Readonly<Record<DeviceClass, string>>;

/**
 * Returns the instruction, access and byte counts of a WebGPU kernel as text. `stats`: undefined for an
 * output without elements.
 */
export function renderGpuStats(name: string, stats: KernelStats | undefined, target: Target): string {
  const head = `@${name}: WebGPU kernel`;
  if (stats === undefined) return `${head}\n  the output has no elements: no kernel is launched`;
  const { before, workgroupSize } = stats;
  const bytes = before === undefined ? "of the output" : "that the points of the scatter write";
  return [
    `${head}, counted on one workgroup${before === undefined ? "" : " of each kind, for all"}`,
    `  ${workgroupSize.join(" x ")} lanes in subgroups of ${subgroupLanes}, sectors of ${sectorBytes} B; indices in range and at random`,
    `  device class            ${deviceClasses[deviceClassOf(target)]}`,
    ...(before ?? []).flatMap((step) => [`dispatch ${step.entryPoint}`, renderDispatch(step, bytes)]),
    ...(before === undefined || before.length === 0 ? [] : ["dispatch main"]),
    renderDispatch(stats, bytes),
  ].join("\n");
}

/**
 * Returns the counts of one dispatch as text, most of them per byte of output. `bytes`: end of the heading
 * `for each byte …`, for example `of the output`.
 */
function renderDispatch(stats: DispatchStats, bytes: string): string {
  const { outputBytes, buffers, loadsInFlight, activeLanes } = stats;
  const each = (count: number): string => count.toFixed(2);
  return [
    `  output                  ${Number(outputBytes.toFixed(1)).toLocaleString("en")} B`,
    `  active lanes            ${inPercent(activeLanes)}`,
    `  loads in flight         ${loadsInFlight} of gathered data, each lane`,
    `  workgroup memory        ${withCommas(stats.workgroupBytes)} B`,
    `for each byte ${bytes}`,
    `  instructions            ${each(stats.instructions)}`,
    `  divisions in loops      ${each(stats.divisionsInLoops)}`,
    `  128-bit calls in loops  ${each(stats.int128InLoops)}`,
    `  bytes set to zero       ${each(stats.zeroFilledBytes)}`,
    table(
      ["  access", "bytes", "count", "sector efficiency"],
      buffers.map(({ name: buffer, kind, bytesPerAccess, perOutputByte, sectorEfficiency }) => [
        `  ${kind} ${buffer}`,
        Number(bytesPerAccess.toFixed(1)),
        Number(perOutputByte.toFixed(3)),
        inPercent(sectorEfficiency),
      ]),
    ),
  ].join("\n");
}
