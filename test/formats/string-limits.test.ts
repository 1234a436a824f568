import { describe, expect, it } from "vitest";
import { maxStrings } from "../../backends/index.js";
import { readNpy } from "../../src/formats/npy.js";
import { readTensorFile } from "../../src/formats/onnx/index.js";
import { bytes, number, onnxTypes } from "../support/onnx-bytes.js";

const count = maxStrings + 1;

describe("more strings than an array holds are a diagnostic", () => {
  it("in a .npy file", () => {
    const header = new TextEncoder().encode(
      `{'descr': '<U1', 'fortran_order': False, 'shape': (${count},), }\n`,
    );
    const file = new Uint8Array(10 + header.length + 4 * count);
    file.set([0x93, ...new TextEncoder().encode("NUMPY"), 1, 0, header.length, 0, ...header]);
    expect(() => readNpy(file, "x.npy")).toThrow(
      `error[TC011]: x.npy: ${count} strings; tilec reads ${maxStrings} at most`,
    );
  });

  it("in an ONNX tensor", () => {
    const head = [...number(1, count), ...number(2, onnxTypes.string)];
    const empty = bytes(6, []);
    const file = new Uint8Array(head.length + empty.length * count);
    file.set(head);
    for (let k = 0; k < count; k++) file.set(empty, head.length + empty.length * k);
    expect(() => readTensorFile(file, "x.pb")).toThrow(
      `${count}xstring is ${count} strings; tilec reads ${maxStrings} at most`,
    );
  });
});
