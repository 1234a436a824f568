/**
 * Gathers of a graph that PyPTO dumps around its pass ExpandFunction: `Before_*` holds a tensor graph,
 * `After_*` a tile graph.
 *
 * Written after the printers of hicann/pypto at 883e7df (2026-08-22), under framework/src/interface:
 * Function::DumpJson and DumpJsonFile (function/function.cpp), Operation::DumpJson (operation/operation.cpp),
 * LogicalTensor::DumpJson (tensor/logical_tensor.cpp) and RawTensor::DumpJson (tensor/raw_tensor.cpp).
 * Neither graph states a tile: an operation of a tensor graph has none, and `tile.vec` of a tile graph is
 * empty, since its operations are made after the graph's kind has changed
 * (Operation::InitCoreTypeAndTileShape). So the tile is read off the tiles that ExpandFunction cut:
 * Function::AddOperation puts a view before each tile of an input and an assembly after each of a result.
 */
import { typeNames } from "../../backends/pypto/index.js";
import {
  at,
  CompileError,
  dtypes,
  elementCount,
  error,
  formatShape,
  maxElements,
  type AttrValue,
  warning,
  type Diagnostic,
  type DType,
  type Shape,
  type TensorType,
} from "../../ir/index.js";
import { isObject } from "../../backends/index.js";

type Json = Readonly<Record<string, unknown>>;

/** Operators by opcode (framework/src/interface/operation/opcode.cpp). */
const operators = {
  GATHER_ELEMENT: "pypto.gather",
  GATHER: "pypto.index_select",
  // A static function's tiles; others read global memory (TiledGatherOperation).
  GATHER_FROM_UB: "pypto.index_select",
  GATHER_IN_UB: "pypto.gather_in_ub",
} as const;
type Opcode = keyof typeof operators;

/**
 * Opcodes that cut a tile or a view out of a tensor; `assemblyOpcodes` put tiles together. The second name of
 * each applies if slices are enabled.
 */
const viewOpcodes = ["VIEW", "SLICE"];
const assemblyOpcodes = ["ASSEMBLE", "CONTRACT"];

/** `DataType` in the order of framework/include/tilefwk/data_type.h: a dump has their numbers. */
const dataTypes = [
  ...["DT_INT4", "DT_INT8", "DT_INT16", "DT_INT32", "DT_INT64", "DT_FP8", "DT_FP16", "DT_FP32", "DT_BF16"],
  ...["DT_HF4", "DT_HF8", "DT_UINT8", "DT_UINT16", "DT_UINT32", "DT_UINT64", "DT_BOOL", "DT_DOUBLE"],
  ...["DT_FP8E4M3", "DT_FP8E5M2", "DT_FP8E8M0"],
];

/**
 * Gather in a graph dumped by PyPTO: a tilec operator with input types and attributes. `tile`: tile shape in
 * the dump.
 */
export interface DumpedGather {
  /**
   * Location of the call in the program, such as `model.py:152`; without source locations, the function's
   * name and the operation's number.
   */
  readonly place: string;
  readonly op: (typeof operators)[Opcode];
  readonly attrs: Readonly<Record<string, AttrValue>>;
  /** The data, then what it is read by. */
  readonly inputs: readonly TensorType[];
  /** Largest extents of the tiles; absent in a tensor graph. */
  readonly tile?: Shape;
  /** Shape of the tensor that the data is a view of; absent where it is none. */
  readonly viewOf?: Shape;
  /** True if the data is loaded into UB whole along the gather dim. */
  readonly inUb?: true;
}

/** Gather in a graph dumped by PyPTO that tilec cannot convert to a program: location and reason. */
export interface UnjudgedGather {
  readonly place: string;
  readonly why: string;
}

/** True if a JSON value is a graph dumped by PyPTO. */
export const isPyptoDump = (value: unknown): boolean =>
  isObject(value) && "version" in value && Array.isArray(value["functions"]);

/** Version that the printers write. */
const readVersion = "2.0";

/**
 * Returns a list with a warning (TC020) if a PyPTO dump has a version other than "2.0". The list is empty for
 * version "2.0".
 */
export function otherVersion(dump: unknown, file: string): Diagnostic[] {
  const version = isObject(dump) && "version" in dump ? dump.version : undefined;
  if (version === readVersion) return [];
  const message = `${file} has version ${JSON.stringify(version)}; it is read as version "${readVersion}", which PyPTO writes at 883e7df (2026-08-22)`;
  const hint = "compare a verdict with the program, or dump again with PyPTO at 883e7df or later";
  return [warning("TC020", message, { hint })];
}

/**
 * Returns the gathers in a graph dumped by PyPTO, in the order of operations. A gather that tilec cannot
 * convert has a reason instead of an operator. Throws a CompileError (TC020) for a malformed dump.
 */
export function dumpedGathers(dump: unknown, file: string): readonly (DumpedGather | UnjudgedGather)[] {
  const reader = new Reader(file);
  const functions = reader.list(reader.object(dump, "the dump"), "functions", "the dump");
  return functions.flatMap((func, k) => {
    const path = `functions[${k}]`;
    return new Graph(reader.object(func, path), path, reader).gathers();
  });
}

/** Reads fields of a dump; each refusal (TC020) names the field. */
class Reader {
  constructor(private readonly file: string) {}

  refuse(path: string, takes: string): never {
    const message = `${path} of ${this.file} is not ${takes}`;
    const hint =
      "give a Before_*_ExpandFunction_*.json or an After_* one of PyPTO at 883e7df or later, as it was written";
    throw new CompileError([error("TC020", message, { hint })]);
  }

  object(value: unknown, path: string): Json {
    return isObject(value) && !Array.isArray(value) ? value : this.refuse(path, "an object");
  }

  list(value: Json, key: string, path: string): readonly unknown[] {
    const { [key]: list } = value;
    return Array.isArray(list) ? (list as readonly unknown[]) : this.refuse(`${path}.${key}`, "a list");
  }

  integer(value: unknown, path: string): number {
    return Number.isSafeInteger(value) ? Number(value) : this.refuse(path, "a whole number");
  }

  numbers(value: Json, key: string, path: string): readonly number[] {
    return this.list(value, key, path).map((entry, k) => this.integer(entry, `${path}.${key}[${k}]`));
  }
}

interface Operation {
  readonly json: Json;
  readonly path: string;
  readonly opcode: string;
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
  /** True if it is of a tile graph. */
  readonly isTile: boolean;
}

/** A function of a dump. Tensors are known by their `magic`. */
class Graph {
  private readonly shapes = new Map<number, Shape>();
  private readonly types = new Map<number, DType | undefined>();
  private readonly operations: readonly Operation[];
  /** The tensor that each view is of. */
  private readonly viewedFrom = new Map<number, number>();
  /** The tensor that each tile of a result is put into. */
  private readonly assembledTo = new Map<number, number>();

  constructor(
    private readonly json: Json,
    path: string,
    private readonly reader: Reader,
  ) {
    const rawTypes = new Map<number, DType | undefined>();
    reader.list(json, "rawtensors", path).forEach((value, k) => {
      const entry = `${path}.rawtensors[${k}]`;
      const raw = reader.object(value, entry);
      const name = dataTypes[reader.integer(raw["datatype"], `${entry}.datatype`)];
      rawTypes.set(
        reader.integer(raw["rawmagic"], `${entry}.rawmagic`),
        dtypes.find((dtype) => name !== undefined && typeNames[dtype] === name),
      );
    });
    reader.list(json, "tensors", path).forEach((value, k) => {
      const entry = `${path}.tensors[${k}]`;
      const tensor = reader.object(value, entry);
      const magic = reader.integer(tensor["magic"], `${entry}.magic`);
      this.shapes.set(magic, reader.numbers(tensor, "shape", entry));
      this.types.set(magic, rawTypes.get(reader.integer(tensor["rawtensor"], `${entry}.rawtensor`)));
    });
    this.operations = reader.list(json, "operations", path).map((value, k) => {
      const entry = `${path}.operations[${k}]`;
      const operation = reader.object(value, entry);
      const { opcode } = operation;
      return {
        json: operation,
        path: entry,
        opcode: typeof opcode === "string" ? opcode : reader.refuse(`${entry}.opcode`, "a string"),
        inputs: reader.numbers(operation, "ioperands", entry),
        outputs: reader.numbers(operation, "ooperands", entry),
        isTile: "tile" in operation,
      };
    });
    for (const { opcode, inputs, outputs } of this.operations) {
      const [from] = inputs;
      const [to] = outputs;
      if (from === undefined || to === undefined) continue;
      if (viewOpcodes.includes(opcode)) this.viewedFrom.set(to, from);
      if (assemblyOpcodes.includes(opcode)) this.assembledTo.set(from, to);
    }
  }

  /** Returns each gather once: the tiles of one make one. */
  gathers(): readonly (DumpedGather | UnjudgedGather)[] {
    const groups = new Map<string, Operation[]>();
    for (const operation of this.operations) {
      if (!Object.hasOwn(operators, operation.opcode)) continue;
      const [result = 0] = operation.outputs;
      const key = `${operation.opcode} ${operation.isTile ? (this.assembledTo.get(result) ?? result) : result}`;
      groups.set(key, [...(groups.get(key) ?? []), operation]);
    }
    return [...groups.values()].map((tiles) => this.gather(tiles));
  }

  private gather(tiles: readonly Operation[]): DumpedGather | UnjudgedGather {
    const first = at(tiles, 0);
    const { json, path, opcode, isTile } = first;
    const place = this.placeOf(first);
    const op = operators[opcode as Opcode];
    const attrs = this.attributesOf(json, path, op);
    // Before each tile of an input stands its view.
    const wholes = first.inputs.map((magic) => (isTile ? (this.viewedFrom.get(magic) ?? magic) : magic));
    const [data] = wholes;
    if (data === undefined) return this.reader.refuse(`${path}.ioperands`, "a list of its inputs");
    const axis = op === "pypto.gather_in_ub" ? 0 : Number(attrs["dim"]);
    const inputs: TensorType[] = [];
    for (const [k, magic] of wholes.entries()) {
      const dtype = this.types.get(magic);
      if (dtype === undefined) return { place, why: `tilec has no element type for input ${k} of ${op}` };
      const shape = this.shapeOf(magic, path);
      const dim = shape.findIndex((extent) => extent < 0);
      const extents = k === 0 && op !== "pypto.gather" ? withLongest(shape, axis) : shape;
      if (extents.some((extent) => extent < 0))
        return {
          place,
          why: `dim ${dim} of input ${k} of ${op} is dynamic: its shape is ${formatShape(shape)}`,
        };
      inputs.push({ dtype, shape: extents });
    }
    const root = this.rootOf(data);
    return {
      place,
      op,
      attrs,
      inputs,
      ...(isTile ? { tile: this.tileOf(tiles, op, at(inputs, 0), at(inputs, 1), axis) } : {}),
      ...(root === data ? {} : { viewOf: this.shapeOf(root, path) }),
      ...(opcode === "GATHER_FROM_UB" ? { inUb: true } : {}),
    };
  }

  private attributesOf(json: Json, path: string, op: DumpedGather["op"]): Record<string, AttrValue> {
    const attrs = this.reader.object(json["op_attr"], `${path}.op_attr`);
    const read = (key: string): number => this.reader.integer(attrs[key], `${path}.op_attr.${key}`);
    return op === "pypto.gather_in_ub"
      ? { block_size: read("block_size"), axis: -2 }
      : { dim: read("op_attr_axis") };
  }

  /**
   * Returns the largest extents of the tiles. Off the gather dim, those of pypto.gather's data count where
   * its index ends earlier. Along it, a tile of the whole index may be any longer one, too: it covers the
   * data.
   */
  private tileOf(
    tiles: readonly Operation[],
    op: DumpedGather["op"],
    { shape: data }: TensorType,
    { shape: index }: TensorType,
    axis: number,
  ): Shape {
    const pieces = tiles.map(({ inputs, outputs, path }) => ({
      result: this.shapeOf(outputs[0] ?? -1, path),
      input: this.shapeOf(inputs[0] ?? -1, path),
    }));
    const max = at(pieces, 0).result.map((_, d) => Math.max(...pieces.map(({ result }) => at(result, d))));
    if (op !== "pypto.gather") return max;
    const dim = axis < 0 ? axis + data.length : axis;
    return max.map((entry, d) => {
      if (d !== dim) return Math.max(entry, ...pieces.map(({ input }) => at(input, d)));
      return entry < at(index, d) ? entry : Math.max(entry, at(data, d));
    });
  }

  private rootOf(magic: number): number {
    let root = magic;
    const visited = new Set<number>();
    for (let next = this.viewedFrom.get(root); next !== undefined && !visited.has(next);) {
      visited.add(next);
      root = next;
      next = this.viewedFrom.get(root);
    }
    return root;
  }

  private shapeOf(magic: number, path: string): Shape {
    return (
      this.shapes.get(magic) ?? this.reader.refuse(path, `an operation on tensors of the dump: ${magic}`)
    );
  }

  private placeOf({ json }: Operation): string {
    const { file, line, semantic_label: label, opmagic } = json;
    if (typeof file === "string") return `${file}:${String(line)}`;
    if (isObject(label) && "filename" in label && "lineno" in label)
      return `${String(label.filename)}:${String(label.lineno)}`;
    return `${String(this.json["func_magicname"])}, operation ${String(opmagic)}`;
  }
}

/**
 * Returns a shape with the longest extent that a tensor can have along a dynamic gather dim. PyPTO reads the
 * rows in global memory: no rule on the tile asks for their number.
 */
function withLongest(shape: Shape, axis: number): Shape {
  const dim = axis < 0 ? axis + shape.length : axis;
  if (shape[dim] !== -1) return shape;
  const row = elementCount(shape.with(dim, 1));
  return row <= 0 ? shape : shape.with(dim, Math.floor((maxElements - 1) / row));
}
