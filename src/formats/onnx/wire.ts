/**
 * Protobuf messages, field by field. Models are untrusted: every length is checked against the bytes that are
 * there before anything is made from it, and what a model can make the reader allocate is bounded.
 */
import type { CompileError } from "../../../ir/index.js";
import { modelError } from "./fail.js";
import { WireReader, wireTypes } from "./wire-reader.js";
import { messageOf } from "../../../ir/faults.js";

/**
 * Names, numbers and messages kept from one file. The largest published models hold some hundred thousand; a
 * file of two-byte messages would otherwise take a hundred times its size in memory.
 */
const maxItems = 8_000_000;

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * ONNX file that is being parsed: the name for diagnostics, and a limit on the number of items that the
 * parser creates.
 */
export class Source {
  #items = 0;
  constructor(readonly file: string) {}

  /**
   * Adds `items` to the number of items that are kept in memory. An item that takes the memory of several
   * counts as several. Throws an error if the file has too many items.
   */
  spend(items = 1): void {
    this.#items += items;
    if (this.#items > maxItems) throw this.fail(`more than ${maxItems} names, numbers and messages`);
  }

  fail(message: string, hint?: string): CompileError {
    return modelError(this.file, message, hint);
  }
}

/**
 * Reader of the fields of one Protobuf message. After each call of `next`, exactly one other method must read
 * or skip the field.
 */
export class Message {
  readonly #reader: WireReader;
  #field = 0;
  #wire: number = wireTypes.varint;

  /** `name` is the message's name in onnx.proto. */
  constructor(
    readonly source: Source,
    readonly name: string,
    bytes: Uint8Array,
  ) {
    this.#reader = new WireReader(bytes);
  }

  /** The field number that `next` found. */
  get field(): number {
    return this.#field;
  }

  /** Moves to the next field; false at the end of the message. */
  next(): boolean {
    if (this.#reader.left === 0) return false;
    [this.#field, this.#wire] = this.#guard(() => this.#reader.tag());
    return true;
  }

  skip(): void {
    if (this.#wire === wireTypes.lengthDelimited) this.#delimited();
    else this.#guard(() => this.#reader.skip(this.#wire, this.#field));
  }

  /** Returns a `bytes` field or a message: a view of the file, not a copy. */
  payload(): Uint8Array {
    this.#expect(wireTypes.lengthDelimited);
    return this.#delimited();
  }

  /** Returns a message within this one. */
  message(name: string): Message {
    this.source.spend();
    return new Message(this.source, name, this.payload());
  }

  /** Reads a text as UTF-8. Malformed bytes become U+FFFD, because names only need to be distinguishable. */
  text(): string {
    this.source.spend();
    return utf8.decode(this.payload());
  }

  /** Returns an int64, or an enum or int32 where the file may hold any value. */
  int(): bigint {
    this.source.spend();
    this.#expect(wireTypes.varint);
    return this.#guard(() => this.#reader.varint());
  }

  /** Returns an int32 or an enum: the low 32 bits, as protobuf says. */
  int32(): number {
    return Number(BigInt.asIntN(32, this.int()));
  }

  /** Visits every number of a repeated int64, uint64 (as int64) or int32 field, packed or not. */
  ints(visit: (value: bigint) => void): void {
    if (this.#wire === wireTypes.lengthDelimited) {
      const reader = new WireReader(this.#delimited());
      while (reader.left > 0) visit(this.#guard(() => reader.varint()));
    } else {
      this.#expect(wireTypes.varint);
      visit(this.#guard(() => this.#reader.varint()));
    }
  }

  /** Returns the number of values that `ints` would visit, without decoding them. */
  countInts(): number {
    if (this.#wire !== wireTypes.lengthDelimited) {
      this.#expect(wireTypes.varint);
      this.skip();
      return 1;
    }
    let count = 0;
    // The last byte of a varint is the one below 128.
    for (const byte of this.#delimited()) if (byte < 0x80) count++;
    return count;
  }

  /** Returns the bytes of a repeated float (4) or double (8) field, whether packed or not. */
  fixed(size: 4 | 8): Uint8Array {
    if (this.#wire === wireTypes.lengthDelimited) {
      const packed = this.#delimited();
      if (packed.byteLength % size !== 0)
        throw this.fail(`${packed.byteLength} bytes are no list of ${size}-byte numbers`);
      return packed;
    }
    this.#expect(size === 4 ? wireTypes.bit32 : wireTypes.bit64);
    return this.#guard(() => this.#reader.skip(this.#wire, this.#field));
  }

  fail(message: string): CompileError {
    return this.source.fail(`${this.name} field ${this.#field}: ${message}`);
  }

  #expect(wire: number): void {
    if (this.#wire !== wire) throw this.fail(`wire type ${this.#wire}, expected ${wire}`);
  }

  #delimited(): Uint8Array {
    const reader = this.#reader;
    const length = this.#guard(() => BigInt.asUintN(64, reader.varint()));
    const { left } = reader;
    if (length > left) throw this.fail(`a length of ${length.toString()} bytes; ${left} are left`);
    const start = reader.position;
    reader.position += Number(length);
    return reader.bytes.subarray(start, reader.position);
  }

  /**
   * Runs a read of the wire reader. The reader throws plain Errors for malformed bytes, which become
   * diagnostics that name the file.
   */
  #guard<T>(read: () => T): T {
    try {
      return read();
    } catch (thrown) {
      const reason = messageOf(thrown);
      throw this.source.fail(
        `not whole protobuf: ${reason}, in ${this.name} at its byte ${this.#reader.position}`,
        "the file is truncated, damaged, or not an ONNX file",
      );
    }
  }
}
