/**
 * Protobuf's wire format: tags, varints and the lengths of what is stepped over. Source: protobuf.dev,
 * Encoding.
 */

/** Wire types of Protobuf: numbers for the encoding of the data after a field's tag. */
export const wireTypes = {
  varint: 0,
  bit64: 1,
  lengthDelimited: 2,
  startGroup: 3,
  endGroup: 4,
  bit32: 5,
} as const;

/** protobuf's own limit on messages within messages. */
const maxGroupDepth = 100;

/**
 * Reader of Protobuf's wire format, with a current position in bytes. The methods throw a plain Error for
 * invalid bytes.
 */
export class WireReader {
  /** Position of the next byte. */
  position = 0;

  constructor(readonly bytes: Uint8Array) {}

  get left(): number {
    return this.bytes.length - this.position;
  }

  /** Returns a field number, 1 or more, and a wire type. */
  tag(): readonly [field: number, wire: number] {
    const tag = this.varint();
    const [field, wire] = [Number(tag >> 3n), Number(tag & 7n)];
    if (tag > 0xffff_ffffn || tag < 0n) throw new Error("illegal tag: more than 32 bits");
    if (field === 0 || wire > 5) throw new Error(`illegal tag: field ${field}, wire type ${wire}`);
    return [field, wire];
  }

  /** Returns a varint as an int64: of ten bytes at most, of which bits beyond the 64th are dropped. */
  varint(): bigint {
    let [low, high, shift] = [0, 0n, 0];
    for (let k = 0; k < 10; k++) {
      const byte = this.bytes[this.position];
      if (byte === undefined) throw new Error("it ends within a number");
      this.position++;
      // Numbers up to 28 bits, nearly all, are made without big integers.
      if (shift < 28) low |= (byte & 0x7f) << shift;
      else high |= BigInt(byte & 0x7f) << BigInt(shift);
      shift += 7;
      if (byte < 0x80) return high === 0n ? BigInt(low) : BigInt.asIntN(64, high | BigInt(low));
    }
    throw new Error("a number of more than ten bytes");
  }

  /** Skips a field and returns its bytes. */
  skip(wire: number, field: number, depth = 0): Uint8Array {
    const start = this.position;
    switch (wire) {
      case wireTypes.varint:
        this.varint();
        break;
      case wireTypes.bit64:
        this.#advance(8n);
        break;
      case wireTypes.bit32:
        this.#advance(4n);
        break;
      case wireTypes.lengthDelimited:
        this.#advance(BigInt.asUintN(64, this.varint()));
        break;
      case wireTypes.startGroup: {
        if (depth >= maxGroupDepth) throw new Error(`groups beyond a depth of ${maxGroupDepth}`);
        for (let [inner, type] = this.tag(); ; [inner, type] = this.tag()) {
          if (type !== wireTypes.endGroup) this.skip(type, inner, depth + 1);
          else if (inner === field) break;
          else throw new Error(`the group of field ${field} ends as that of field ${inner}`);
        }
        break;
      }
      default:
        throw new Error("a group ends that did not begin");
    }
    return this.bytes.subarray(start, this.position);
  }

  #advance(count: bigint): void {
    if (count > this.left)
      throw new Error(`${count.toString()} bytes are expected, and ${this.left} are left`);
    this.position += Number(count);
  }
}
