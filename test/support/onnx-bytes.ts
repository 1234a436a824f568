/** A minimal ONNX writer for tests: protobuf by hand, so that no reader of ours checks itself. Fields as in onnx.proto. */

const varint = (value: number): number[] => {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest === 0n ? low : low | 0x80);
  } while (rest !== 0n);
  return bytes;
};

export const number = (field: number, value: number): number[] => [...varint(field * 8), ...varint(value)];
export const bytes = (field: number, value: Iterable<number>): number[] => {
  const list = [...value];
  return [...varint(field * 8 + 2), ...varint(list.length), ...list];
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
} as const;

const valueInfo = (name: string, type: number, shape: readonly number[]): number[] => {
  const dims = shape.flatMap((extent) => bytes(1, number(1, extent)));
  return [...text(1, name), ...bytes(2, bytes(1, [...number(1, type), ...bytes(2, dims)]))];
};

export interface SingleNode {
  readonly op: string;
  readonly attribute?: readonly [name: string, value: number];
  readonly opset: number;
  readonly data: { readonly type: number; readonly shape: readonly number[] };
  readonly indices: { readonly type: number; readonly shape: readonly number[] };
  readonly outputShape: readonly number[];
}

/** A model of one gather with inputs `data` and `indices` and output `output`. */
export function singleNodeModel(node: SingleNode): Uint8Array {
  const attribute =
    node.attribute === undefined
      ? []
      : bytes(5, [...text(1, node.attribute[0]), ...number(3, node.attribute[1]), ...number(20, 2)]);
  const nodeProto = [
    ...text(1, "data"),
    ...text(1, "indices"),
    ...text(2, "output"),
    ...text(4, node.op),
    ...attribute,
  ];
  const graph = [
    ...bytes(1, nodeProto),
    ...text(2, "gather"),
    ...bytes(11, valueInfo("data", node.data.type, node.data.shape)),
    ...bytes(11, valueInfo("indices", node.indices.type, node.indices.shape)),
    ...bytes(12, valueInfo("output", node.data.type, node.outputShape)),
  ];
  return Uint8Array.from([...number(1, 8), ...bytes(7, graph), ...bytes(8, number(2, node.opset))]);
}
