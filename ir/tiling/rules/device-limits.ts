/**
 * Rule 6: a WebGPU device binds what the program reads and writes, whatever its schedule. Source: the limits
 * of gpuweb, section 3.6.2.
 */
import { isScatter } from "../../access.js";
import { withCommas } from "../../counted.js";
import { isInPlace, type AccessFunc } from "../../func.js";
import { inputsOf, keyOf, outputOf, type Operand } from "../../func.js";
import { mayReport } from "../../policy.js";
import { deviceLimits as limitsOf, targetFacts, type Target } from "../../target.js";
import { alignUp, byteAligned, byteCount, bytesOf, elementCount, maxElements } from "../../types.js";
import { defaultLimits, needsOwners, storageBuffersOf, type StorageBuffers } from "../../wgsl-limits.js";
import type { Rule, RuleVerdict } from "./rule.js";

const source = "gpuweb/gpuweb: limits (section 3.6.2)";

/**
 * Rule on the limits of WebGPU targets: the number of storage buffers that a kernel binds, and the number of
 * elements of an operand.
 */
export const deviceLimits: Rule = {
  id: "device-limits",
  code: "TC502",
  judge: ({ gather, target }) =>
    targetFacts[target.kind].runsOnWebgpu ? [buffersBound(gather, target), positionsFit(gather)] : [],
};

/**
 * Returns the pass or fail result for the number of elements of the largest operand. The limit is 2^31,
 * because element offsets in a WebGPU kernel are signed 32-bit integers.
 */
function positionsFit({ operands }: AccessFunc): RuleVerdict {
  const elements = ({ type }: Operand): number => elementCount(type.shape);
  const largest = operands.reduce((max, operand) => (elements(operand) > elements(max) ? operand : max));
  const pass = elements(largest) < maxElements;
  return {
    rule: "element-positions",
    pass,
    get detail() {
      return `${keyOf(largest)} has ${elements(largest)} elements ${pass ? "<" : ">="} 2^31: positions in a kernel are 32-bit integers`;
    },
    source: "gpuweb/gpuweb: WGSL, i32 (section 6.2.2)",
  };
}

/**
 * Returns the number of storage buffers that the WebGPU kernel of a gather or scatter binds, and a text that
 * lists the buffers.
 */
export function boundBuffers(func: AccessFunc): StorageBuffers {
  const { write } = func.map;
  const { type } = outputOf(func);
  const hasElements = elementCount(type.shape) > 0;
  const owner = isScatter(func.map) && needsOwners(write, bytesOf(byteAligned(type.dtype)));
  return storageBuffersOf(inputsOf(func).length, {
    output: !isInPlace(func),
    status: hasElements && (mayReport(func.map) || write.duplicates === "error"),
    owner: hasElements && owner,
  });
}

/**
 * Returns the pass or fail result for the number of storage buffers that the kernel of a gather binds. The
 * limit is that of the WebGPU device.
 */
function buffersBound(gather: AccessFunc, target: Target): RuleVerdict {
  const { count, bindings } = boundBuffers(gather);
  const limit = limitsOf(target).maxStorageBuffersPerShaderStage;
  const pass = count <= limit;
  return {
    rule: "storage-buffers",
    pass,
    get detail() {
      return `${bindings}: ${count} ${pass ? "<=" : ">"} ${limit} (maxStorageBuffersPerShaderStage)`;
    },
    source,
  };
}

const boundBytes = ({ type }: Operand): number => alignUp(byteCount(type), 4);

/**
 * Returns a list with the pass or fail result for the size in bytes of the largest buffer that a program
 * binds on WebGPU. The list is empty for programs with dynamic sizes and for targets without WebGPU.
 */
export function bufferBytes({ operands, symbolic }: AccessFunc, target: Target): readonly RuleVerdict[] {
  if (!targetFacts[target.kind].runsOnWebgpu || symbolic !== undefined) return [];
  const limits = limitsOf(target);
  const largest = operands.reduce((max, operand) => (boundBytes(operand) > boundBytes(max) ? operand : max));
  const bytes = boundBytes(largest);
  const limit = Math.min(limits.maxBufferSize, limits.maxStorageBufferBindingSize);
  const pass = bytes <= limit;
  const every = defaultLimits.maxStorageBufferBindingSize;
  const more = pass && bytes > every ? `; request it: every device has ${every} B` : "";
  const detail = `${keyOf(largest)} ${bytes} B ${pass ? "<=" : ">"} ${limit} B (maxStorageBufferBindingSize, maxBufferSize)${more}`;
  const condition =
    more === ""
      ? {}
      : {
          condition: `the device has to grant buffers of ${withCommas(bytes)} B; every device grants ${withCommas(every)} B`,
        };
  return [{ rule: "buffer-bytes", pass, detail, source, ...condition }];
}
