/**
 * AttributeProto (onnx/onnx onnx.proto): one value, and a `type` that says which, absent in the oldest files.
 */
import type { OnnxAttribute, OnnxGraph, OnnxTensor } from "./model.js";
import type { Message, Source } from "./wire.js";

/** Functions that parse the graphs and tensors nested in an attribute, for {@link readAttribute}. */
export interface Nested {
  graph(message: Message): OnnxGraph;
  tensor(source: Source, bytes: Uint8Array): OnnxTensor;
}

type Kind = OnnxAttribute["kind"];

/** AttributeProto.AttributeType. */
const kinds: ReadonlyMap<number, Kind> = new Map<number, Kind>([
  [1, "float"],
  [2, "int"],
  [3, "string"],
  [4, "tensor"],
  [5, "graphs"],
  [6, "floats"],
  [7, "ints"],
  [8, "strings"],
  [10, "graphs"],
]);

/** Parses an attribute of an ONNX node (AttributeProto) and returns the name and the value. */
export function readAttribute(
  message: Message,
  nested: Nested,
): { readonly name: string; readonly attribute: OnnxAttribute } {
  const { source } = message;
  let [name, type, reference] = ["", 0, ""];
  let int: bigint | undefined;
  let float: Uint8Array | undefined;
  let string: string | undefined;
  let tensor: OnnxTensor | undefined;
  const ints: bigint[] = [];
  const floats: Uint8Array[] = [];
  const strings: string[] = [];
  const graphs: OnnxGraph[] = [];
  while (message.next()) {
    switch (message.field) {
      case 1:
        name = message.text();
        break;
      case 2:
        float = message.fixed(4);
        break;
      case 3:
        int = message.int();
        break;
      case 4:
        string = message.text();
        break;
      case 5:
        tensor = nested.tensor(source, message.payload());
        break;
      case 6:
      case 11:
        graphs.push(nested.graph(message.message("GraphProto")));
        break;
      case 7:
        source.spend();
        floats.push(message.fixed(4));
        break;
      case 8:
        message.ints((value) => {
          source.spend();
          ints.push(value);
        });
        break;
      case 9:
        strings.push(message.text());
        break;
      case 20:
        type = message.int32();
        break;
      case 21:
        reference = message.text();
        break;
      default:
        message.skip();
    }
  }

  const present = (): Kind => {
    if (int !== undefined) return "int";
    if (float !== undefined) return "float";
    if (string !== undefined) return "string";
    if (tensor !== undefined) return "tensor";
    if (graphs.length > 0) return "graphs";
    if (floats.length > 0) return "floats";
    if (strings.length > 0) return "strings";
    return ints.length > 0 ? "ints" : "other";
  };
  const kind = reference === "" ? (type === 0 ? present() : (kinds.get(type) ?? "other")) : "reference";
  const value = (): OnnxAttribute => {
    switch (kind) {
      case "int":
        return { kind, value: int ?? 0n };
      case "ints":
        return { kind, values: ints };
      case "float":
        return { kind, bytes: float ?? new Uint8Array(4) };
      case "floats":
        return { kind, bytes: joined(floats) };
      case "string":
        return { kind, values: [string ?? ""] };
      case "strings":
        return { kind, values: strings };
      case "tensor":
        return tensor === undefined ? { kind: "other" } : { kind, tensor };
      case "graphs":
        return { kind, graphs };
      case "reference":
        return { kind, name: reference };
      case "other":
        return { kind };
    }
  };
  return { name, attribute: value() };
}

/** Concatenates byte arrays and returns the result. */
function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(pieces.reduce((total, piece) => total + piece.byteLength, 0));
  let place = 0;
  for (const piece of pieces) {
    out.set(piece, place);
    place += piece.byteLength;
  }
  return out;
}
