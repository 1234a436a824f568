/** What every statement of a kernel shares: its text, its buffers, its lanes, and how addresses are written. */
import type { TileFunc } from "../../ir/func.js";
import {
  findGather,
  ubBytes,
  ubStrides,
  type GatherStmt,
  type Region,
  type UbBuffer,
} from "../../ir/tile.js";
import { dtypeBytes, elementCount, invariant, strides, type Shape } from "../../ir/types.js";
import { ubBuffers } from "../../ir/verify/accesses.js";
import { emitExpr, scaled } from "./expr.js";
import type { Lanes } from "./lanes.js";
import type { Lines } from "./lines.js";

/** How elements lie in 32-bit words. */
export interface ElementWords {
  readonly size: number;
  /** Elements in one word: 1, 2, 4. */
  readonly perWord: number;
  /** Words in one element: 1, 2, 4. */
  readonly wordsPer: number;
}

export class Context {
  readonly buffers: ReadonlyMap<string, UbBuffer>;
  readonly stmt: GatherStmt | undefined;
  readonly element: ElementWords;

  constructor(
    readonly func: TileFunc,
    readonly out: Lines,
    readonly lanes: Lanes,
  ) {
    this.buffers = ubBuffers(func);
    this.stmt = findGather(func.body);
    this.element = elementWords(func);
  }

  /** Strides in elements of what a region lies in. */
  strides(buffer: string): readonly number[] {
    const staged = this.buffers.get(buffer);
    return staged === undefined ? strides(this.paramShape(buffer)) : ubStrides(staged);
  }

  paramShape(name: string): Shape {
    const { data, indices, output } = this.func;
    const value = [data, indices, output].find((v) => v.name === name);
    invariant(value !== undefined, `%${name} is no parameter`);
    return value.type.shape;
  }

  /** Summands of an address along one dim. */
  address(offset: Region["offsets"][number], name: string, stride: number): string[] {
    return [...scaled(emitExpr(offset), stride), ...scaled(name, stride)];
  }

  /** Declares `d0`, `d1`, …: the coordinates of a row-major position in a constant shape. */
  decode(position: string, shape: Shape): string[] {
    const { out } = this;
    const moving = shape.flatMap((extent, d) => (extent > 1 ? [d] : []));
    return shape.map((extent, d) => {
      if (extent <= 1) return "0u";
      const inner = elementCount(shape.slice(d + 1));
      const whole = inner === 1 ? position : `${position} / ${inner}u`;
      const first = d === moving[0];
      if (first && inner === 1) return position;
      out.line(`let d${d} = ${first ? whole : `${inner === 1 ? whole : `(${whole})`} % ${extent}u`};`);
      return `d${d}`;
    });
  }

  /** One slot a lane, again and again until all are taken. */
  lanesOver(slots: number, body: () => void): void {
    const { out, lanes } = this;
    const lane = lanes.flat();
    if (slots <= lanes.count) {
      out.block(slots === lanes.count ? "" : `if (${lane} < ${slots}u)`, () => {
        out.line(`let slot = ${lane};`);
        body();
      });
    } else {
      out.block(`for (var slot = ${lane}; slot < ${slots}u; slot += ${lanes.count}u)`, body);
    }
  }

  /** The condition that a coordinate exists, where an edge tile may be smaller than the tile. */
  guard(name: string, size: Region["sizes"][number], extent: number): string[] {
    if (size.kind === "const" && size.value >= extent) return [];
    return [`${name} < ${emitExpr(size)}`];
  }

  guarded(conditions: readonly string[], body: () => void): void {
    if (conditions.length === 0) body();
    else this.out.block(`if (${conditions.join(" && ")})`, body);
  }

  /** Bits of packed element number `place` of an array of words. */
  unpack(name: string, place: string): string {
    const bits = 32 / this.element.perWord;
    const mask = bits === 8 ? "0xffu" : "0xffffu";
    const { perWord } = this.element;
    return `((${name}[${place} / ${perWord}u] >> (${place} % ${perWord}u * ${bits}u)) & ${mask})`;
  }
}

export function elementWords(func: TileFunc): ElementWords {
  const size = dtypeBytes[func.data.type.dtype];
  return { size, perWord: Math.max(1, 4 / size), wordsPer: Math.max(1, size / 4) };
}

/** 32-bit words of a UB tile. */
export const ubWords = (buffer: UbBuffer): number => ubBytes(buffer) / 4;
