/** onnxruntime-node, as far as it is used. */
import { importPeer, installPeers } from "./peers.js";
import { messageOf } from "../ir/faults.js";

/** Tensor of onnxruntime: elements in `data`, extents in `dims`. */
export interface OnnxTensor {
  readonly data: ArrayBufferView | readonly string[];
  readonly dims: readonly number[];
}

interface Session {
  run(
    feeds: Readonly<Record<string, OnnxTensor>>,
    fetches?: Readonly<Record<string, OnnxTensor>>,
  ): Promise<Readonly<Record<string, OnnxTensor>>>;
  release(): Promise<void>;
}

/** Part of the API of onnxruntime-node that the benchmarks use. */
export interface OnnxRuntime {
  readonly Tensor: new (type: string, data: OnnxTensor["data"], dims: readonly number[]) => OnnxTensor;
  readonly InferenceSession: {
    create(
      model: Uint8Array,
      options: {
        readonly intraOpNumThreads?: number;
        readonly interOpNumThreads?: number;
        readonly executionMode?: "sequential" | "parallel";
        readonly logSeverityLevel?: 0 | 1 | 2 | 3 | 4;
      },
    ): Promise<Session>;
  };
}

/** Result of loading onnxruntime-node: the module, or the reason why loading failed. */
export type FoundOnnxRuntime =
  { readonly ok: true; readonly ort: OnnxRuntime } | { readonly ok: false; readonly reason: string };

/** Resolves to a session of a model on the CPU, with `threads` threads. */
export const sessionOf = (
  { InferenceSession }: OnnxRuntime,
  model: Uint8Array,
  threads: number,
): ReturnType<OnnxRuntime["InferenceSession"]["create"]> =>
  InferenceSession.create(model, {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: "sequential",
  });

/** Loads onnxruntime-node and resolves to the module, or to the reason why the package cannot be loaded. */
export async function findOnnxRuntime(): Promise<FoundOnnxRuntime> {
  try {
    return { ok: true, ort: (await importPeer("onnxruntime-node/dist/index.js")) as OnnxRuntime };
  } catch (thrown) {
    const [line = ""] = messageOf(thrown).split("\n");
    return { ok: false, reason: `${line} (${installPeers})` };
  }
}
