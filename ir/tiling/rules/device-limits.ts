/**
 * Rule 6: a WebGPU device binds what the program reads and writes, whatever its schedule. Source: the limits of gpuweb, section
 * 3.6.2.
 */
import { isScatter } from "../../access.js";
import type { AccessFunc } from "../../func.js";
import { inputsOf, keyOf, outputOf, type Operand } from "../../func.js";
import { mayReport } from "../../policy.js";
import { deviceLimits as limitsOf, targetFacts, type Target } from "../../target.js";
import { alignUp, byteCount, elementCount, maxElements } from "../../types.js";
import { defaultLimits, storageBuffersOf, type StorageBuffers } from "../../wgsl-limits.js";
import type { Rule, RuleVerdict } from "./rule.js";

const source = "gpuweb/gpuweb: limits (section 3.6.2)";

/** The rule on the number of buffers. How large each may be is judged when a kernel is printed or run: `bufferBytes`. */
export const deviceLimits: Rule = {
  id: "device-limits",
  code: "TC502",
  judge: ({ gather, target }) =>
    targetFacts[target.kind].runsOnWebgpu
      ? [...(isScatter(gather.map) ? [] : [buffersBound(gather, target)]), positionsFit(gather)]
      : [],
};

/** Positions in a WebGPU kernel are 32-bit integers with a sign. */
function positionsFit({ operands }: AccessFunc): RuleVerdict {
  const elements = ({ type }: Operand): number => elementCount(type.shape);
  const largest = operands.reduce((max, operand) => (elements(operand) > elements(max) ? operand : max));
  const pass = elements(largest) < maxElements;
  const detail = `${keyOf(largest)} has ${elements(largest)} elements ${pass ? "<" : ">="} 2^31: positions in a kernel are 32-bit integers`;
  return { rule: "element-positions", pass, detail, source: "gpuweb/gpuweb: WGSL, i32 (section 6.2.2)" };
}

/** Counts the storage buffers that the kernel of a gather binds. */
export const boundBuffers = (gather: AccessFunc): StorageBuffers =>
  storageBuffersOf(
    inputsOf(gather).length,
    mayReport(gather.map) && elementCount(outputOf(gather).type.shape) > 0,
  );

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
 * The verdict on the largest buffer that a gather binds on a WebGPU target; none for other targets, and for a program over symbols, of
 * which each size is judged by itself.
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
  return [{ rule: "buffer-bytes", pass, detail, source }];
}
