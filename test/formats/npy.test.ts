import { describe, expect, it } from "vitest";
import { CompileError } from "../../ir/index.js";
import { readNpy, writeNpy } from "../../src/formats/npy.js";
import { refusals } from "../support/refusal.js";

/** A version 1 file with this header, or a version 2 one for a header that version 1 cannot hold. */
function file(header: string, body: Uint8Array = new Uint8Array()): Uint8Array {
  const text = new TextEncoder().encode(header);
  const wide = text.length > 0xffff;
  const start = new Uint8Array(wide ? 12 : 10);
  start.set([0x93, ...new TextEncoder().encode("NUMPY"), wide ? 2 : 1, 0]);
  const view = new DataView(start.buffer);
  if (wide) view.setUint32(8, text.length, true);
  else view.setUint16(8, text.length, true);
  return Uint8Array.from([...start, ...text, ...body]);
}

const array = (descr: string, shape: string, body?: Uint8Array): Uint8Array =>
  file(`{'descr': '${descr}', 'fortran_order': False, 'shape': (${shape}), }\n`, body);

const refusal = (bytes: Uint8Array): string =>
  new CompileError(refusals(() => readNpy(bytes, "x.npy"))).message;

describe("a .npy file takes no more memory than its bytes vouch for", () => {
  it.each([
    ["strings of no characters", array("<U0", "3000000000,"), "3000000000 strings of 0 characters"],
    ["as many as a tensor may have", array("<U0", "2147483647,"), "2147483647 strings of 0 characters"],
    ["a shape whose product overflows", array("<f4", "4294967296, 4294967296"), "the file holds 0"],
    ["a string wider than any file", array("<U999999999", "1,"), "take 3999999996 bytes; the file holds 0"],
    ["a width that is no number of 32 bits", array("<U99999999999999999999", "0,"), "element type <U9999"],
    [
      "a header longer than NumPy reads",
      file(" ".repeat(10_001)),
      "the header takes 10001 bytes; NumPy reads 10000 at most",
    ],
    ["a header of version 2", file(" ".repeat(70_000)), "the header takes 70000 bytes"],
  ])("%s", (_what, bytes, says) => {
    expect(refusal(bytes)).toContain("error[TC011]: x.npy: ");
    expect(refusal(bytes)).toContain(says);
  });

  const intact = writeNpy({ type: { dtype: "f32", shape: [2] }, bytes: new Uint8Array(8) });
  it.each([
    ["in its first bytes", intact.slice(0, 9)],
    ["in its header", intact.slice(0, 40)],
    ["in its array", intact.slice(0, -1)],
    ["before another file", Uint8Array.from([...intact, ...intact])],
    ["in its strings", array("<U4", "2,", new Uint8Array(16))],
  ])("and one that ends %s says how to write it again", (_what, bytes) => {
    expect(refusal(bytes)).toContain("= hint: write the array again with numpy.save");
  });

  it("reads no strings of no characters", () => {
    expect(readNpy(array("<U0", "0,"), "x.npy").strings).toEqual([]);
  });
});

describe("a .npy header says what it means or is refused", () => {
  it.each([
    [
      "an element type called constructor",
      array("<constructor", "1,"),
      "element type <constructor is not one",
    ],
    ["a shape in hexadecimal", array("<f4", "0x2,", new Uint8Array(8)), "bad shape (0x2,)"],
    ["a shape with an exponent", array("<f4", "1e0,", new Uint8Array(4)), "bad shape (1e0,)"],
  ])("%s", (_what, bytes, says) => {
    expect(refusal(bytes)).toContain(says);
  });

  it("reads what it writes", () => {
    const value = { type: { dtype: "i64", shape: [2] }, bytes: new Uint8Array(16).fill(7) } as const;
    expect(readNpy(writeNpy(value), "x.npy")).toEqual(value);
  });
});
