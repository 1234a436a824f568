/**
 * `.npy`, NumPy's array file (numpy.lib.format, versions 1 to 3). Own code because no npm reader covers complex, f16,
 * bool and 64-bit types together. Untrusted input: nothing is allocated before the sizes are known to fit the
 * file.
 */
import { checkArgument } from "../../ir/argument.js";
import {
  defined,
  CompileError,
  bitsOf,
  byteCount,
  bytesOf,
  dtypes,
  elementCount,
  elementsInByte,
  elementTypes,
  error,
  formatType,
  isComplex,
  isPacked,
  maxRank,
  rowsFillBytes,
  shownAmount,
  byteAligned,
  type DType,
  type Shape,
  type TensorType,
  type ByteAlignedType,
} from "../../ir/index.js";
import { maxStrings } from "../../backends/index.js";
import type { TensorValue } from "./tensor.js";

/** The type of NumPy's own code for it; strings carry their width behind theirs. */
const dtypeOfCode: ReadonlyMap<string, DType> = new Map(
  dtypes.flatMap((dtype) => {
    const { npy, class: kind } = elementTypes[dtype];
    return typeof npy === "string" && kind !== "string" ? [[npy, dtype] as const] : [];
  }),
);

/** Returns the `descr` entry of a .npy header, such as `<f2`: byte order and NumPy's type code. */
function descrOf(dtype: Exclude<ByteAlignedType, "string">): string {
  const { npy } = elementTypes[dtype];
  const code = typeof npy === "string" ? npy : elementTypes[npy.as].npy;
  return `${bitsOf(dtype) === 8 ? "|" : "<"}${code}`;
}

/** Maximum header size that NumPy itself reads, in bytes: `max_header_size` of numpy.lib.format. */
const maxHeaderBytes = 10_000;

const magic = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];

/**
 * Returns the tensor in the bytes of a .npy file. `name`: file name in diagnostics. Throws a CompileError
 * (TC011) if the bytes are not a complete .npy file, or if tilec does not support the element type or rank.
 */
export function readNpy(file: Uint8Array, name: string): TensorValue {
  checkArgument("readNpy", "bytes", file);
  const fail = (message: string, hint?: string): never => {
    throw new CompileError([error("TC011", `${name}: ${message}`, defined({ hint }))]);
  };
  if (!magic.every((byte, k) => file[k] === byte))
    return fail("not a .npy file", "write one with numpy.save");
  const again = "write the array again with numpy.save";
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const version = file[6] ?? 0;
  if (version < 1 || version > 3) return fail(`unknown .npy version ${version}`, again);
  const lengthBytes = version === 1 ? 2 : 4;
  const start = 8 + lengthBytes;
  if (file.byteLength < start)
    return fail(`truncated: ${file.byteLength} bytes end inside the header`, again);
  const headerLength = version === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  if (headerLength > maxHeaderBytes) {
    return fail(`the header takes ${headerLength} bytes; NumPy reads ${maxHeaderBytes} at most`, again);
  }
  if (start + headerLength > file.byteLength) {
    return fail(
      `truncated: the header of ${headerLength} bytes ends beyond the file of ${file.byteLength}`,
      again,
    );
  }
  const header = new TextDecoder().decode(file.subarray(start, start + headerLength));
  const descr = /'descr':\s*'([^']*)'/.exec(header)?.[1];
  const fortran = /'fortran_order':\s*(True|False)/.exec(header)?.[1];
  const shapeText = /'shape':\s*\(([^)]*)\)/.exec(header)?.[1];
  if (descr === undefined || fortran === undefined || shapeText === undefined) {
    return fail("the header lacks descr, fortran_order or shape", "structured arrays are not tensors");
  }
  const shape = shapeText
    .split(",")
    .map((piece) => piece.trim())
    .filter((piece) => piece !== "")
    .map((piece) => (/^\d+$/.test(piece) ? Number(piece) : NaN));
  if (shape.some((extent) => !Number.isSafeInteger(extent))) return fail(`bad shape (${shapeText})`, again);
  if (shape.length > maxRank) return fail(`rank ${shape.length}; tilec takes rank ${maxRank} at most`);
  if (fortran === "True" && shape.length > 1) {
    return fail("the array is in Fortran order", "save numpy.ascontiguousarray(array)");
  }
  const body = file.subarray(start + headerLength);
  const order = descr[0] ?? "";
  const unicode = /^[<|>=]U(\d{1,9})$/.exec(descr)?.[1];
  if (unicode !== undefined) return { ...strings(body, shape, Number(unicode), order === ">", again, fail) };
  const kind = descr.slice(1);
  const dtype = dtypeOfCode.get(kind);
  if (dtype === undefined || !"<>|=".includes(order)) {
    return fail(
      `element type ${descr} is not one of tilec's`,
      `tilec reads ${[...dtypeOfCode.keys()].join(", ")}`,
    );
  }
  const type = { dtype, shape };
  const bytes = byteCount(type);
  if (body.byteLength !== bytes) {
    return fail(
      `${formatType(type)} takes ${shownAmount(bytes)} bytes; the file holds ${body.byteLength}`,
      again,
    );
  }
  return { type, bytes: order === ">" ? swapped(body, dtype) : new Uint8Array(body) };
}

/**
 * Returns the strings in the UTF-32 data of a .npy file. `width`: number of characters per string. Calls
 * `fail`, which throws, if the data is malformed. `again`: hint for a damaged file.
 */
function strings(
  body: Uint8Array,
  shape: number[],
  width: number,
  big: boolean,
  again: string,
  fail: (message: string, hint?: string) => never,
): TensorValue {
  const count = elementCount(shape);
  if (body.byteLength !== count * width * 4) {
    return fail(
      `${count} strings of ${width} take ${count * width * 4} bytes; the file holds ${body.byteLength}`,
      again,
    );
  }
  // Strings of no characters take no bytes: the file would not vouch for their number.
  if (width === 0 && count > 0) return fail(`${count} strings of 0 characters`, "save array.astype('<U1')");
  if (count > maxStrings) return fail(`${count} strings; tilec reads ${maxStrings} at most`);
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const read = (k: number): string => {
    let text = "";
    for (let c = 0; c < width; c++) {
      const point = view.getUint32((k * width + c) * 4, !big);
      if (point === 0) break;
      if (point > 0x10ffff) return fail(`string ${k} holds ${point}, which is no code point`, again);
      text += String.fromCodePoint(point);
    }
    return text;
  };
  const list = Array.from({ length: count }, (_, k) => read(k));
  return { type: { dtype: "string", shape }, bytes: new Uint8Array(), strings: list };
}

/**
 * Returns the data of a tensor converted from big-endian to little-endian. The parts of a complex number are
 * converted separately.
 */
function swapped(body: Uint8Array, dtype: DType): Uint8Array {
  const size = bytesOf(isComplex(dtype) ? elementTypes[dtype].component : byteAligned(dtype));
  const out = new Uint8Array(body.byteLength);
  for (let k = 0; k < out.length; k += size)
    for (let b = 0; b < size; b++) out[k + b] = body[k + size - 1 - b] ?? 0;
  return out;
}

/**
 * Returns the shape of the u8 tensor that stores a tensor with elements smaller than a byte. The last dim
 * counts bytes, or the shape has one dim if rows do not fill whole bytes.
 */
export const packedShape = (type: TensorType): Shape =>
  rowsFillBytes(type)
    ? type.shape.map((extent, k) =>
        k === type.shape.length - 1 ? extent / elementsInByte(type.dtype) : extent,
      )
    : [byteCount(type)];

/**
 * Returns the bytes of a .npy file with a tensor: version 1.0, C order, data aligned to 64 bytes. Throws a
 * CompileError (TC012) for a string tensor.
 */
export function writeNpy(value: TensorValue): Uint8Array {
  checkArgument("writeNpy", "tensor", value);
  const { dtype, shape } = value.type;
  if (dtype === "string") {
    throw new CompileError([
      error("TC012", "strings are written as .json, not .npy", { hint: "name the file *.json" }),
    ]);
  }
  // Packed elements as the bytes that they share.
  const extents = isPacked(dtype) ? packedShape(value.type) : shape;
  const tuple = extents.length === 1 ? `${extents[0]},` : extents.join(", ");
  const header = `{'descr': '${descrOf(isPacked(dtype) ? "u8" : dtype)}', 'fortran_order': False, 'shape': (${tuple}), }`;
  const total = Math.ceil((10 + header.length + 1) / 64) * 64;
  const out = new Uint8Array(total + value.bytes.byteLength);
  out.set([...magic, 1, 0]);
  new DataView(out.buffer).setUint16(8, total - 10, true);
  out.set(new TextEncoder().encode(`${header.padEnd(total - 11)}\n`), 10);
  out.set(value.bytes, total);
  return out;
}
