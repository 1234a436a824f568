/** What every statement of a kernel shares: its code, loop variables, and where regions lie in memory. */
import type { IndexExpr } from "../../ir/expr.js";
import type { TileFunc } from "../../ir/func.js";
import { ubStrides, type Region, type UbBuffer } from "../../ir/tile.js";
import { at, dtypeBytes, invariant, strides, type DType } from "../../ir/types.js";
import { isParam, ubBuffers } from "../../ir/verify/accesses.js";
import { Code, type Amount, type LocalId } from "./code.js";
import { forwarding, type Forwarding } from "./forward.js";
import { addressOf, layoutOf, type WasmLayout } from "./layout.js";

/** A region in memory: where its first element lies, and bytes between neighbours along each dim. */
export interface Placed {
  /** Pushes the byte address of the first element. */
  readonly push: () => void;
  readonly strides: readonly number[];
  /** The parameter it lies in; absent in UB. */
  readonly param?: "data" | "indices" | "output";
}

export class Context {
  readonly code = new Code();
  readonly ub: LocalId;
  readonly bad: LocalId;
  readonly from: LocalId;
  readonly to: LocalId;
  private readonly ivs = new Map<string, LocalId>();
  private readonly buffers: ReadonlyMap<string, UbBuffer>;
  readonly forward: Forwarding;
  readonly layout: WasmLayout;

  constructor(readonly func: TileFunc) {
    this.layout = layoutOf(func);
    this.from = this.code.local("from");
    this.to = this.code.local("to");
    this.ub = this.code.local("ub");
    this.bad = this.code.local("bad");
    this.buffers = ubBuffers(func);
    this.forward = forwarding(func);
  }

  iv(name: string): LocalId {
    const known = this.ivs.get(name);
    if (known !== undefined) return known;
    const local = this.code.local(name);
    this.ivs.set(name, local);
    return local;
  }

  /** Pushes the value of an expression. */
  expr(expr: IndexExpr): void {
    const { code } = this;
    switch (expr.kind) {
      case "const":
        code.const(expr.value);
        return;
      case "iv":
        code.get(this.iv(expr.name));
        return;
      case "add":
      case "sub":
        this.expr(expr.lhs);
        this.expr(expr.rhs);
        code.op(expr.kind === "add" ? "i32.add" : "i32.sub");
        return;
      case "min": {
        const [lhs, rhs] = [code.local("lhs"), code.local("rhs")];
        this.expr(expr.lhs);
        code.set(lhs);
        this.expr(expr.rhs);
        code.set(rhs);
        code.get(lhs).get(rhs).get(lhs).get(rhs).op("i32.lt_s").op("select");
        return;
      }
    }
  }

  /** A size as a constant, or in a local. */
  amount(expr: IndexExpr): Amount {
    if (expr.kind === "const") return { kind: "const", value: expr.value };
    const local = this.code.local("size");
    this.expr(expr);
    this.code.set(local);
    return { kind: "local", local };
  }

  place(region: Region): Placed {
    const inPlace = this.forward.regions.get(region.buffer);
    const offsets = [region.offsets, ...(inPlace === undefined ? [] : [inPlace.offsets])];
    const name = inPlace?.buffer ?? region.buffer;
    const base = isParam(this.func, name) ? this.placeParam(name) : this.placeUb(name);
    const push = (): void => {
      base.push();
      for (const list of offsets) {
        list.forEach((offset, k) => {
          if (offset.kind === "const") {
            this.code.plus(offset.value * at(base.strides, k));
            return;
          }
          this.expr(offset);
          this.code.times(at(base.strides, k)).op("i32.add");
        });
      }
    };
    return { ...base, push };
  }

  private placeParam(name: string): Placed {
    const { func, layout } = this;
    const param = (["data", "indices", "output"] as const).find((role) => func[role].name === name);
    invariant(param !== undefined, `%${name} is no parameter`);
    const { dtype, shape } = func[param].type;
    return {
      push: () => void this.code.const(layout[param]),
      strides: inBytes(strides(shape), dtype),
      param,
    };
  }

  placeUb(name: string): Placed {
    const buffer = this.buffers.get(name);
    invariant(buffer !== undefined, `%${name} has no alloc`);
    return {
      push: () => void this.code.get(this.ub).plus(addressOf(buffer)),
      strides: inBytes(ubStrides(buffer), buffer.dtype),
    };
  }
}

const inBytes = (elements: readonly number[], dtype: DType): number[] =>
  elements.map((stride) => stride * dtypeBytes[dtype]);
