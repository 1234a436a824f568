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

/** Fields of an AttributeProto. */
interface Fields {
  name: string;
  /** AttributeProto.AttributeType; 0 if the message states none. */
  type: number;
  /** Name of the attribute of a function that has the value; empty if there is none. */
  reference: string;
  int?: bigint;
  float?: Uint8Array;
  string?: string;
  tensor?: OnnxTensor;
  readonly ints: bigint[];
  readonly floats: Uint8Array[];
  readonly strings: string[];
  readonly graphs: OnnxGraph[];
}

/** Parses an attribute of an ONNX node (AttributeProto) and returns the name and the value. */
export function readAttribute(
  message: Message,
  nested: Nested,
): { readonly name: string; readonly attribute: OnnxAttribute } {
  const fields: Fields = { name: "", type: 0, reference: "", ints: [], floats: [], strings: [], graphs: [] };
  while (message.next()) readField(message, nested, fields);
  return { name: fields.name, attribute: attributeOf(kindOf(fields), fields) };
}

/** Parses the current field of an AttributeProto into `fields`. Fields of no attribute are skipped. */
function readField(message: Message, nested: Nested, fields: Fields): void {
  const { source } = message;
  switch (message.field) {
    case 1:
      fields.name = message.text();
      break;
    case 2:
      fields.float = message.fixed(4);
      break;
    case 3:
      fields.int = message.int();
      break;
    case 4:
      fields.string = message.text();
      break;
    case 5:
      fields.tensor = nested.tensor(source, message.payload());
      break;
    case 6:
    case 11:
      fields.graphs.push(nested.graph(message.message("GraphProto")));
      break;
    case 7:
      source.spend();
      fields.floats.push(message.fixed(4));
      break;
    case 8:
      message.ints((value) => {
        source.spend();
        fields.ints.push(value);
      });
      break;
    case 9:
      fields.strings.push(message.text());
      break;
    case 20:
      fields.type = message.int32();
      break;
    case 21:
      fields.reference = message.text();
      break;
    default:
      message.skip();
  }
}

/** Returns the kind that an attribute states or, for an attribute that states none, of the present field. */
function kindOf({ type, reference, int, float, string, tensor, ...lists }: Fields): Kind {
  if (reference !== "") return "reference";
  if (type !== 0) return kinds.get(type) ?? "other";
  if (int !== undefined) return "int";
  if (float !== undefined) return "float";
  if (string !== undefined) return "string";
  if (tensor !== undefined) return "tensor";
  if (lists.graphs.length > 0) return "graphs";
  if (lists.floats.length > 0) return "floats";
  if (lists.strings.length > 0) return "strings";
  return lists.ints.length > 0 ? "ints" : "other";
}

/**
 * Returns the value of an attribute, in the field of its kind. An absent number is 0, an absent text empty.
 */
function attributeOf(kind: Kind, fields: Fields): OnnxAttribute {
  switch (kind) {
    case "int":
      return { kind, value: fields.int ?? 0n };
    case "ints":
      return { kind, values: fields.ints };
    case "float":
      return { kind, bytes: fields.float ?? new Uint8Array(4) };
    case "floats":
      return { kind, bytes: joined(fields.floats) };
    case "string":
      return { kind, values: [fields.string ?? ""] };
    case "strings":
      return { kind, values: fields.strings };
    case "tensor":
      return fields.tensor === undefined ? { kind: "other" } : { kind, tensor: fields.tensor };
    case "graphs":
      return { kind, graphs: fields.graphs };
    case "reference":
      return { kind, name: fields.reference };
    case "other":
      return { kind };
  }
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
