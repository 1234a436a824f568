/** A minimal ONNX writer for tests: protobuf by hand, so that no reader of ours checks itself. Fields as in onnx.proto. */

export const varint = (value: bigint): number[] => {
  const out: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 0x7fn; rest >>= 7n) out.push(Number(rest & 0x7fn) | 0x80);
  return [...out, Number(rest)];
};
export const number = (field: number, value: number): number[] => [
  ...varint(BigInt(field * 8)),
  ...varint(BigInt(value)),
];
export const bytes = (field: number, value: Iterable<number>): number[] => {
  const list = [...value];
  return [...varint(BigInt(field * 8 + 2)), ...varint(BigInt(list.length)), ...list];
};
export const text = (field: number, value: string): number[] => bytes(field, new TextEncoder().encode(value));

/** TensorProto.DataType */
export const onnxTypes = {
  f32: 1,
  u8: 2,
  i8: 3,
  u16: 4,
  i16: 5,
  i32: 6,
  i64: 7,
  string: 8,
  bool: 9,
  f16: 10,
  f64: 11,
  u32: 12,
  u64: 13,
  c64: 14,
  c128: 15,
  bf16: 16,
  f8e4m3fn: 17,
  f8e4m3fnuz: 18,
  f8e5m2: 19,
  f8e5m2fnuz: 20,
  f8e8m0fnu: 24,
  u4: 21,
  i4: 22,
  u2: 25,
  i2: 26,
} as const;

export const packed = (field: number, values: readonly bigint[]): number[] =>
  bytes(
    field,
    values.flatMap((value) => varint(value)),
  );
export const unpacked = (field: number, values: readonly bigint[]): number[] =>
  values.flatMap((value) => [...varint(BigInt(field * 8)), ...varint(value)]);
const dims = (shape: readonly number[]): number[] => shape.flatMap((extent) => number(1, extent));

export const tensor = (
  dtype: keyof typeof onnxTypes | number,
  shape: readonly number[],
  elements: readonly number[],
  name = "w",
) => [
  ...dims(shape),
  ...number(2, typeof dtype === "number" ? dtype : onnxTypes[dtype]),
  ...text(8, name),
  ...elements,
];

const dim = (value: number | string) =>
  bytes(1, typeof value === "number" ? number(1, value) : text(2, value));
export const info = (name: string, type: number, shape?: readonly (number | string)[]): number[] => {
  const shaped = shape === undefined ? [] : bytes(2, shape.flatMap(dim));
  return [...text(1, name), ...bytes(2, bytes(1, [...number(1, type), ...shaped]))];
};
export const input = (name: string, type: number, shape?: readonly (number | string)[]) =>
  bytes(11, info(name, type, shape));
export const output = (name: string, type: number, shape?: readonly (number | string)[]) =>
  bytes(12, info(name, type, shape));
export const initializer = (...args: Parameters<typeof tensor>) => bytes(5, tensor(...args));

export const intAttribute = (name: string, value: number) =>
  bytes(5, [...text(1, name), ...number(3, value), ...number(20, 2)]);
export const intsAttribute = (name: string, values: readonly number[]) =>
  bytes(5, [...text(1, name), ...unpacked(8, values.map(BigInt)), ...number(20, 7)]);
export const stringAttribute = (name: string, value: string) =>
  bytes(5, [...text(1, name), ...text(4, value), ...number(20, 3)]);
export const graphAttribute = (name: string, graph: readonly number[]) =>
  bytes(5, [...text(1, name), ...bytes(6, graph), ...number(20, 5)]);
export const tensorAttribute = (name: string, value: readonly number[]) =>
  bytes(5, [...text(1, name), ...bytes(5, value), ...number(20, 4)]);
export const node = (
  op: string,
  inputs: readonly string[],
  outputs: readonly string[],
  rest: readonly number[] = [],
) =>
  bytes(1, [
    ...inputs.flatMap((name) => text(1, name)),
    ...outputs.flatMap((name) => text(2, name)),
    ...text(4, op),
    ...rest,
  ]);
export const named = (name: string) => text(3, name);

/** `format`: the version of the file's format, of which 10 has types of 4 bits. */
export const model = (graph: readonly number[], version = 17, format = 8): Uint8Array =>
  Uint8Array.from([...number(1, format), ...bytes(7, graph), ...bytes(8, number(2, version))]);

export const i64s = (values: readonly number[]): number[] => [
  ...new Uint8Array(BigInt64Array.from(values, BigInt).buffer),
];
export const raw = (values: readonly number[]): number[] => bytes(9, i64s(values));

export interface SingleNode {
  readonly op: string;
  readonly attribute?: readonly [name: string, value: number];
  readonly opset: number;
  readonly data: { readonly type: number; readonly shape: readonly number[] };
  readonly indices: { readonly type: number; readonly shape: readonly number[] };
  readonly outputShape: readonly number[];
}

/** A model of one gather with inputs `data` and `indices` and output `output`. */
export function singleNodeModel({
  op,
  attribute,
  opset,
  data,
  indices,
  outputShape,
}: SingleNode): Uint8Array {
  return model(
    [
      ...node(op, ["data", "indices"], ["output"], attribute === undefined ? [] : intAttribute(...attribute)),
      ...text(2, "gather"),
      ...input("data", data.type, data.shape),
      ...input("indices", indices.type, indices.shape),
      ...output("output", data.type, outputShape),
    ],
    opset,
  );
}
