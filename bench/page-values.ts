/** Code of the page of bench:values: tilec and onnxruntime-web on one adapter, device-resident. */
import { download, statusBuffer, storageBuffer, timed } from "./gpu-subjects.js";
import type { GpuLibrary } from "./library.js";
import { measure, type Row, type Subject } from "./rows.js";
import type { ValueWorkload } from "./value-workloads.js";
import { onnxRuntimeWebModel } from "./web-subjects.js";

/**
 * Measures tilec, and onnxruntime-web if the workload has an ONNX model, on a workload that does arithmetic
 * on gathered elements. Resolves to one row of times for each implementation.
 */
export async function valueRows(
  { compile, createRunner }: GpuLibrary,
  device: GPUDevice,
  workload: ValueWorkload,
  rounds: number,
  launches: number,
): Promise<readonly Row[]> {
  const { func, loop, name, onnx, outputBytes } = workload;
  const expected = new Uint8Array(outputBytes);
  loop(expected);
  const inputs = Object.entries(workload.inputs).map(
    ([key, list]) => [key, new Uint8Array(list.buffer, list.byteOffset, list.byteLength)] as const,
  );
  const output = storageBuffer(device, outputBytes);
  const buffers = {
    ...Object.fromEntries(
      inputs.map(([key, bytes]) => [key, storageBuffer(device, bytes.byteLength, bytes)]),
    ),
    output,
    status: statusBuffer(device),
  };
  const runner = await createRunner(device);
  const kernel = compile(func, { target: runner.target });
  const subjects: Subject[] = [
    {
      subject: "tilec",
      threads: 1,
      run: () =>
        timed(device, launches, (pass) => {
          runner.encode(pass, kernel, buffers);
        }),
      output: () => download(device, output, outputBytes),
    },
  ];
  if (onnx !== undefined) {
    const given = inputs.flatMap(([key, bytes]) => {
      const [dataType, dims] = onnx.tensors[key] ?? [];
      return dataType === undefined || dims === undefined ? [] : [[key, { bytes, dataType, dims }] as const];
    });
    subjects.push(await onnxRuntimeWebModel(onnx.model, Object.fromEntries(given), launches));
  }
  const rows = await measure(name, subjects, expected, rounds);
  for (const buffer of Object.values(buffers)) buffer.destroy();
  return rows;
}
