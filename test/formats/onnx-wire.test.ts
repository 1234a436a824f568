/** The wire reader against that of `@bufbuild/protobuf`: the same numbers, and both or neither can follow. */
import { BinaryReader } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { varint } from "../support/onnx-bytes.js";
import { WireReader } from "../../src/formats/onnx/wire-reader.js";

/** What a walk over all fields finds; undefined where it cannot go on. */
function walked(step: () => unknown, more: () => boolean): readonly unknown[] | undefined {
  const found: unknown[] = [];
  try {
    while (more()) found.push(step());
    return found;
  } catch {
    return undefined;
  }
}

const hostile = fc.oneof(
  fc
    .array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }), { maxLength: 4 })
    .map((values) => Uint8Array.from(values.flatMap((value) => varint(value)))),
  fc.uint8Array({ maxLength: 40 }),
  // Small tags and long runs of continued bytes.
  fc
    .array(fc.oneof(fc.integer({ min: 8, max: 45 }), fc.constantFrom(0, 1, 0x7f, 0x80, 0xff)), {
      maxLength: 40,
    })
    .map((bytes) => Uint8Array.from(bytes)),
);

/** Whether a number of more than 32 bits may be in it. */
const hasLongNumber = (bytes: Uint8Array): boolean =>
  bytes.some((_, k) => k + 4 <= bytes.length && bytes.subarray(k, k + 4).every((byte) => byte > 0x7f));

describe("the wire reader", () => {
  it("reads the varints of int64", () => {
    let followed = 0;
    fc.assert(
      fc.property(hostile, (bytes) => {
        const [own, other] = [new WireReader(bytes), new BinaryReader(bytes)];
        const got = walked(
          () => own.varint(),
          () => own.left > 0,
        );
        const wanted = walked(
          () => BigInt(other.int64()),
          () => other.pos < other.len,
        );
        expect(got).toEqual(wanted);
        if (got !== undefined) followed++;
      }),
      { numRuns: 3000 },
    );
    expect(followed).toBeGreaterThan(50);
  });

  it("steps over fields and groups", () => {
    let followed = 0;
    fc.assert(
      fc.property(hostile, (bytes) => {
        const [own, other] = [new WireReader(bytes), new BinaryReader(bytes)];
        const got = walked(
          () => {
            const [field, wire] = own.tag();
            return [field, wire, own.skip(wire, field).length];
          },
          () => own.left > 0,
        );
        const wanted = walked(
          () => {
            const [field, wire] = other.tag();
            return [field, wire, other.skip(wire, field).length];
          },
          () => other.pos < other.len,
        );
        // The other one takes longer varints than ten bytes, and lengths modulo 2^32.
        if (got !== undefined || !hasLongNumber(bytes)) expect(got).toEqual(wanted);
        if (got !== undefined && got.length > 0) followed++;
      }),
      { numRuns: 5000 },
    );
    expect(followed).toBeGreaterThan(50);
  });
});
