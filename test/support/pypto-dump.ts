/**
 * Graphs as PyPTO dumps them around ExpandFunction, written by hand after its printers and its Tiled operations (hicann/pypto at 883e7df,
 * framework/src/interface: function/function.cpp, operation/operation.cpp, tensor/logical_tensor.cpp, tensor/raw_tensor.cpp,
 * operation/vector/indexing.cpp, operation/operation_impl.cpp). No dump of PyPTO itself with a gather was at hand.
 */

/** `DataType` of framework/include/tilefwk/data_type.h, by the names of this project. */
const dataTypes: Readonly<Record<string, number>> = {
  ...{ i8: 1, i16: 2, i32: 3, i64: 4, f16: 6, f32: 7, bf16: 8, u8: 11, u16: 12, u32: 13, u64: 14 },
  ...{ bool: 15, f64: 16, f8e4m3fn: 17, f8e5m2: 18, f8e8m0fnu: 19 },
};

type Shape = readonly number[];

/** A call of a gather in a program. */
export interface DumpedCall {
  readonly op: "pypto.gather" | "pypto.index_select" | "pypto.gather_in_ub";
  readonly types: readonly (readonly [dtype: string, shape: Shape])[];
  /** Of gather and index_select; negative as `dim` may be. */
  readonly axis?: number;
  readonly blockSize?: number;
  readonly tile: Shape;
  readonly file?: string;
  readonly line?: number;
  /** Shape of the tensor that the data is a view of. */
  readonly viewOf?: Shape;
}

interface Tile {
  readonly inputs: readonly { readonly shape: Shape; readonly offset: Shape }[];
  readonly result: { readonly shape: Shape; readonly offset: Shape };
}

const opcodes = {
  "pypto.gather": "GATHER_ELEMENT",
  "pypto.index_select": "GATHER",
  "pypto.gather_in_ub": "GATHER_IN_UB",
} as const;

const resultOf = ({ op, types, axis = 0 }: DumpedCall): Shape => {
  const [[, data], [, index]] = types as [DumpedCall["types"][number], DumpedCall["types"][number]];
  if (op === "pypto.gather") return index;
  if (op === "pypto.gather_in_ub") return [index[1]!, data[1]!];
  const dim = axis < 0 ? axis + data.length : axis;
  return [...data.slice(0, dim), ...index, ...data.slice(dim + 1)];
};

/** The tiles as TiledGatherElementOperation, TiledGatherOperation and TiledGatherInUB cut them. */
function tilesOf(call: DumpedCall): Tile[] {
  const { op, types, axis = 0, tile } = call;
  const shapes = types.map(([, shape]) => shape);
  const [data, index] = [shapes[0]!, shapes[1]!];
  const result = resultOf(call);
  const dim = axis < 0 ? axis + data.length : axis;
  const tiles: Tile[] = [];
  const part = (extent: number, at: number, entry: number) => {
    const offset = at % extent;
    return { offset, shape: Math.min(extent - offset, entry) };
  };
  const visit = (offsets: readonly number[]): void => {
    const d = offsets.length;
    if (d < result.length) {
      for (let at = 0; at < result[d]!; at += tile[d]!) visit([...offsets, at]);
      return;
    }
    const along = (shape: Shape, of: (k: number) => number | undefined) => {
      const parts = shape.map((extent, k) => {
        const from = of(k);
        return from === undefined ? { offset: 0, shape: extent } : part(extent, offsets[from]!, tile[from]!);
      });
      return { shape: parts.map((one) => one.shape), offset: parts.map((one) => one.offset) };
    };
    const own = along(result, (k) => k);
    const inputs = {
      "pypto.gather": () => [along(data, (k) => (k === dim ? undefined : k)), along(index, (k) => k)],
      "pypto.index_select": () => [
        along(data, (k) => (k === dim ? undefined : k < dim ? k : k + index.length - 1)),
        along(index, (k) => dim + k),
      ],
      "pypto.gather_in_ub": () => [
        along(data, (k) => (k === 0 ? undefined : 1)),
        along(index, (k) => (k === 0 ? undefined : 0)),
        along(shapes[2]!, () => undefined),
      ],
    }[op]();
    tiles.push({ inputs, result: own });
  };
  visit([]);
  return tiles;
}

/** Returns a dump of one function with these calls; `slices`: pass option enable_slice, which renames views and assemblies of tiles. */
export function pyptoDump(
  calls: readonly DumpedCall[],
  stage: "Before" | "After",
  { slices = false, locations = true }: { readonly slices?: boolean; readonly locations?: boolean } = {},
) {
  const [view, assembly] = slices ? ["SLICE", "CONTRACT"] : ["VIEW", "ASSEMBLE"];
  const [tensors, rawtensors, operations]: [object[], object[], object[]] = [[], [], []];
  let [magics, raws, ops] = [1, 1, 10000];
  const tensor = (dtype: string, shape: Shape): number => {
    rawtensors.push({ kind: 0, datatype: dataTypes[dtype], format: 0, rawshape: shape, rawmagic: raws });
    tensors.push({
      ...{ kind: 1, offset: shape.map(() => 0), shape, validshape: shape, nodetype: 0, rawtensor: raws++ },
      ...{ magic: magics, mem_range: [0, 0], life_range: [-1, -1], mem_id: -1 },
    });
    return magics++;
  };
  const operation = (
    opcode: string,
    [ioperands, ooperands]: readonly (readonly number[])[],
    call: DumpedCall,
    more: object = {},
  ): void => {
    operations.push({
      ...{ kind: 2, ioperands, ooperands, itokens: [], otokens: [], opcode, latency: 100, opmagic: ops++ },
      ...(locations && call.file !== undefined ? { file: call.file, line: call.line } : {}),
      ...{ subgraphid: -1, mixSubgraphCore: "" },
      // The tile shape of an operation of a tile graph is never set.
      ...(stage === "After"
        ? { tile: { vec: [], cube: new Array(14).fill(0), comm: [0, 0, 0, 0, 0, 0, 0, 0, 0, 32767] } }
        : {}),
      ...more,
      ...{ sync_queue: {}, static: { sync_queue: {} } },
    });
  };
  const incasts: unknown[] = [];
  for (const call of calls) {
    const { op, types, axis = 0, blockSize, viewOf } = call;
    const [dataType] = types[0]!;
    const dim = axis < 0 ? axis + types[0]![1].length : axis;
    const attributes = {
      op_attr: op === "pypto.gather_in_ub" ? { block_size: blockSize } : { op_attr_axis: dim },
    };
    const inputs = types.map(([dtype, shape]) => tensor(dtype, shape));
    incasts.push(...inputs.map((magic) => [magic, []]));
    if (viewOf !== undefined) {
      const root = tensor(dataType, viewOf);
      operation("VIEW", [[root], [inputs[0]!]], call, {
        attr: [22, viewOf.length, ...viewOf.map(() => 0), 0, 0],
      });
    }
    const result = tensor(dataType, resultOf(call));
    if (stage === "Before") {
      operation(opcodes[op], [inputs, [result]], call, attributes);
      continue;
    }
    for (const tile of tilesOf(call)) {
      const parts = tile.inputs.map(({ shape, offset }, k) => {
        const own = tensor(types[k]![0], shape);
        operation(view, [[inputs[k]!], [own]], call, { attr: [22, offset.length, ...offset, 0, 0] });
        return own;
      });
      const own = tensor(dataType, tile.result.shape);
      const scratch = op === "pypto.gather" ? [tensor(types[1]![0], [64])] : [];
      operation(opcodes[op], [parts, [own, ...scratch]], call, attributes);
      operation(assembly, [[own], [result]], call, {
        attr: [22, tile.result.offset.length, ...tile.result.offset, 0],
      });
    }
  }
  const name = "TENSOR_loop_0_Unroll1_PATH0_hiddenfunc0";
  return {
    version: "2.0",
    functions: [
      {
        ...{ kind: 3, rawname: name, funcmagic: 8, functype: 5, graphtype: stage === "Before" ? 0 : 1 },
        ...{ func_magicname: `${name}_8`, _opseed: ops, incasts, outcasts: [], global_tensors: [] },
        ...{ operations, hash: 1, rawtensors, tensors },
      },
    ],
    entryhash: "1",
  };
}
