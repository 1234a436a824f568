/** Kernels that tilec did not write, as backends: checks hold them to the definition of a program. */
import {
  byName,
  callable,
  fromHost,
  isObject,
  stringsOf,
  text,
  toHost,
  integer,
  yesOrNo,
  type Backend,
  type BackendKernel,
  type Fields,
  type GatherData,
  type TensorData,
} from "../../../backends/index.js";
import {
  entryOf,
  inputsOf,
  invariant,
  keyOf,
  outputOf,
  throwIfErrors,
  type TensorType,
} from "../../../ir/index.js";
import { checkOptions } from "../../api/check-options.js";
import { ForeignProcess } from "./foreign-process.js";
import { declarationsOf, type ForeignWgsl, type OperandsOfProgram } from "./foreign-wgsl.js";

/**
 * Kernel that a caller supplies (not compiled by tilec), as a backend for tests. The kernel cannot report an
 * index out of range.
 */
export interface ForeignKernel extends Backend {
  /** Always false: the kernel cannot report an index out of range. */
  readonly rejects: false;
  /**
   * Ends the process that runs a WGSL kernel. Without this call, the process ends with the calling process.
   */
  readonly close: () => void;
}

/** Kernel that a caller supplies as a function, which computes the output from typed arrays by key. */
export interface ForeignFunction {
  readonly name?: string;
  /** Returns the output as a new array of the type `output`. */
  readonly run: (inputs: GatherData, output: TensorType) => TensorData | Promise<TensorData>;
}

const wgslFields: Fields<ForeignWgsl> = {
  name: text(),
  wgsl: text(),
  entry: text(),
  bind: byName("the binding of each operand, such as { data: 0, indices: 1, output: 2 }", integer(-Infinity)),
  dispatch: { ...text(), takes: 'counts of workgroups, such as "ceil(out0 / 64), out1"' },
  uniform: byName('sizes by binding, such as { 3: "out0, in0_1" }', text()),
  override: byName('sizes by name, such as { width: "in0_1" }', text()),
  usesArrayLength: yesOrNo(),
  timeout: integer(1),
};

const functionFields: Fields<ForeignFunction> = { name: text(), run: callable };

const isWgsl = (described: ForeignWgsl | ForeignFunction): described is ForeignWgsl =>
  isObject(described) && "wgsl" in described;

/**
 * Returns a test backend for a caller's kernel, which is WGSL or a function. The kernel cannot report an
 * index out of range; inputs with such an index are not compared. Throws a CompileError (TC702) if
 * `described` is incomplete or does not fit the WGSL.
 */
export function foreignKernel(described: ForeignWgsl | ForeignFunction): ForeignKernel {
  if (isWgsl(described)) {
    throwIfErrors(
      checkOptions("foreignKernel", described, wgslFields, { needs: ["wgsl", "bind", "dispatch"] }),
    );
    return wgslKernel(described);
  }
  throwIfErrors(checkOptions("foreignKernel", described, functionFields, { needs: ["run"] }));
  const { name = "foreign", run } = described;
  return {
    name,
    rejects: false,
    close: nothing,
    prepare: ({ tile }) => ({
      async run(inputs) {
        const { type } = outputOf(tile);
        const given = Object.fromEntries(
          inputsOf(tile).flatMap((operand) => {
            const host = entryOf(inputs, keyOf(operand));
            // A copy: others read the same inputs.
            return host === undefined
              ? []
              : [[keyOf(operand), fromHost(operand.type, host.bytes.slice(), stringsOf(inputs))] as const];
          }),
        );
        return { output: toHost("output", type, await run(given, type)).bytes };
      },
      release: nothing,
    }),
  };
}

const nothing = (): void => undefined;

/**
 * Returns a test backend for a caller's WGSL kernel. The kernel runs in a separate process, which is ended if
 * a launch exceeds the time limit.
 */
function wgslKernel(described: ForeignWgsl): ForeignKernel {
  // Refused at once, not with the first draw.
  declarationsOf(described);
  const process = new ForeignProcess(described);
  return {
    name: described.name ?? "foreign",
    rejects: false,
    async prepare(kernel: BackendKernel & { readonly source?: OperandsOfProgram }) {
      // As its author wrote it: the operands of a tile program may lack leading ones.
      const { operands } = kernel.source ?? kernel.tile;
      await process.request({ operands });
      return {
        async run(inputs) {
          const output = await process.request({ operands }, inputs);
          invariant(output !== undefined, "a launch has an output");
          return { output };
        },
        release: nothing,
      };
    },
    close() {
      process.close();
    },
  };
}
