/** Programs from descriptions: the one way builders, flags, case files and models make a source function. */
import {
  defined,
  at,
  CompileError,
  error,
  findOp,
  inputNames,
  operandsOf,
  resolveSource,
  roles,
  UniqueNames,
  type Attrs,
  type DType,
  type OpDef,
  type Operators,
  type Diagnostic,
  type Schedule,
  type Shape,
  type SourceFunc,
  type TensorType,
} from "../../ir/index.js";
import { nameField, yesOrNo, type Fields } from "../../backends/index.js";
import {
  attrsField,
  checkOptions,
  opField,
  operatorsField,
  scheduleField,
  targetNameField,
  typeField,
  typesField,
} from "./check-options.js";

/**
 * Description of a gather or scatter from which {@link program} builds a source function: operator,
 * attributes and tensor types.
 */
export interface ProgramDescription {
  /** Dialect and operator: `onnx.gather_elements`. */
  readonly op: string;
  readonly attrs: Attrs;
  readonly data: TensorType;
  readonly indices: TensorType;
  /**
   * Operators that `op` may name, as returned by `operatorsWith` of `tilec/ir`. Default: the built-in
   * operators.
   */
  readonly operators?: Operators;
  /** Further inputs, of an operator that takes them. */
  readonly others?: readonly TensorType[];
  /** True if a scatter writes into its first input; the operators that always do need no word of it. */
  readonly inPlace?: boolean;
  readonly name?: string;
  readonly target?: string;
  readonly schedule?: Schedule;
}

const descriptionFields: Fields<ProgramDescription> = {
  op: opField,
  attrs: attrsField,
  data: typeField,
  indices: typeField,
  operators: operatorsField,
  others: typesField,
  inPlace: yesOrNo(),
  name: nameField,
  target: targetNameField,
  schedule: scheduleField,
};

/** Result of {@link tryProgram}: the source function, or the diagnostics that reject the description. */
export type ProgramResult =
  | { readonly ok: true; readonly func: SourceFunc }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/**
 * Returns the names of a program's inputs, in order. If the operator has only data and indices, or `def` is
 * undefined, returns `data`, `indices`, `output`. Callers ignore the third name.
 */
export const operandNames = (def: OpDef | undefined, inputs: readonly TensorType[]): readonly string[] => {
  const named = def?.variadic === true || def?.writes !== undefined;
  const more = named || (def?.inputs ?? roles.slice(0, 2)).length > 2;
  return def === undefined || !more ? roles : inputNames(def, inputs);
};

/** Returns the source function that a description defines, or the diagnostics for an invalid description. */
export function tryProgram(description: ProgramDescription): ProgramResult {
  const wrong = checkOptions("a program", description, descriptionFields, {
    needs: ["op", "attrs", "data", "indices"],
  });
  if (wrong.length > 0) return { ok: false, diagnostics: wrong };
  const { op, attrs, data, indices, others = [], target, operators } = description;
  const inputs = [data, indices, ...others];
  const result = resolveSource({ op, attrs, inputs, operators });
  if (!result.ok) return { ok: false, diagnostics: result.diagnostics };
  const definition = findOp(op, operators);
  const { writes } = definition ?? {};
  if (description.inPlace === true && writes === undefined)
    return { ok: false, diagnostics: [gathersInPlace(op)] };
  const inPlace = description.inPlace === true || writes === "in place";
  const names = operandNames(definition, inputs);
  return {
    ok: true,
    func: {
      level: "source",
      name: description.name ?? op.slice(op.indexOf(".") + 1),
      op,
      attrs,
      ...defined({ operators }),
      operands: operandsOf(
        [
          ...inputs.map((type, k) => ({
            name: at(names, k),
            type,
            ...(k === 0 && inPlace ? { inout: true } : {}),
          })),
          {
            name: new UniqueNames(names.slice(0, inputs.length)).next("output"),
            type: { dtype: result.resolved.dtype ?? data.dtype, shape: result.resolved.output },
          },
        ],
        writes === undefined,
      ),
      schedule: description.schedule ?? {},
      ...defined({ target }),
    },
  };
}

/** Returns error TC702 for a gather that requests `inPlace`, which only scatters support. */
const gathersInPlace = (op: string): Diagnostic =>
  error("TC702", `inPlace applies to scatters only, and ${op} writes no operand in place`);

/**
 * Returns the source function that a description defines. Throws a CompileError if the description is invalid
 * or breaks a dialect rule (TC1xx).
 */
export function program(description: ProgramDescription): SourceFunc {
  const result = tryProgram(description);
  if (!result.ok) throw new CompileError(result.diagnostics);
  return result.func;
}

/** Tensor type as a pair of element type and shape: `["f32", [4096, 1024]]`. */
export type TypePair = readonly [dtype: DType, shape: Shape];

/** Returns the tensor type that a pair of element type and shape describes. */
export const tensorTypeOf = ([dtype, shape]: TypePair): TensorType => ({ dtype, shape });
