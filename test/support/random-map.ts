/** Random access maps from the grammar: nested reads, sums, div and mod, policies, counts from the end, symbols. */
import { policies, shapeOf, type Node, type OracleMap, type Policy } from "../oracle/maps.js";
import type { Draw } from "../fuzz/mutate.js";

/** A node with what it can be, by interval arithmetic. */
interface Ranged {
  readonly node: Node;
  readonly least: number;
  readonly most: number;
}

interface Growing {
  readonly name: string;
  readonly dtype: string;
  /** The symbol of its outermost extent. */
  readonly open?: string;
  /** What its coordinates need so far. */
  readonly extents: number[];
}

const bits: Readonly<Record<string, number>> = {
  i8: 8,
  u8: 8,
  i16: 16,
  u16: 16,
  i32: 32,
  u32: 32,
  i64: 64,
  u64: 64,
};
const indexTypes = ["i32", "i32", "i32", "i64", "u32", "u64", "i16", "u8"] as const;
const dataTypes = ["f32", "f32", "f16", "u8", "i64", "c128", "i32"] as const;

const whole = (value: number): Node => ({ kind: "whole", value });

/** Undefined where a draw came to more elements than is worth running. */
export function randomMap(draw: Draw): OracleMap | undefined {
  return new Maker(draw).make();
}

class Maker {
  private readonly tables: Growing[] = [];
  private readonly lets: { name: string; value: Ranged }[] = [];
  private readonly most: Record<string, number> = {};
  private readonly sizes: Record<string, number> = {};
  private readonly output: (number | string)[] = [];
  /** Extents at the most. */
  private readonly reach: number[] = [];
  private oob: Policy = "error";

  constructor(private readonly draw: Draw) {}

  make(): OracleMap | undefined {
    const { draw } = this;
    this.oob = this.policy();
    const rank = 1 + draw(3);
    for (let d = 0; d < rank; d++) {
      const extent = draw(16) === 0 ? 0 : 1 + draw(6);
      this.reach.push(extent);
      this.output.push(extent);
    }
    if (draw(4) === 0) this.openDim();
    const data: Growing = {
      name: "data",
      dtype: dataTypes[draw(dataTypes.length)]!,
      ...(draw(6) === 0 ? { open: this.symbol("V", 1 + draw(8)) } : {}),
      extents: [],
    };
    this.tables.push(data);
    for (let k = draw(3); k > 0; k--) this.lets.push({ name: `s${this.lets.length}`, value: this.site(2) });
    const results = draw(5) === 0 ? this.plain(data) : this.coordinates(data, 1 + draw(3), 2);
    return this.finished(results);
  }

  private symbol(name: string, most: number): string {
    this.most[name] = most;
    this.sizes[name] = this.draw(3) === 0 ? most : this.draw(most + 1);
    return name;
  }

  private openDim(): void {
    this.reach[0] = Math.max(1, this.reach[0]!);
    this.output[0] = this.symbol("N", this.reach[0]);
  }

  private policy(): Policy {
    const keep = policies[this.draw(policies.length)]!;
    // Whose promise most random values break.
    return keep === "unchecked" && this.draw(4) > 0 ? "error" : keep;
  }

  /** One that an input's dim is read at: never negative, and its extent grows to hold it. */
  private coordinate(table: Growing, k: number, depth: number): Node {
    const { draw } = this;
    if (k === 0 && table.open !== undefined) {
      table.extents[0] = this.most[table.open]!;
      if (table.open === "N") return { kind: "dim", dim: 0 };
      return { ...this.policed(depth), below: { kind: "size", name: table.open } };
    }
    const found = depth > 0 && draw(4) === 0 ? this.open(depth) : this.value(depth);
    const { node, most } = found.least < 0 ? plus(found, -found.least) : found;
    table.extents[k] = Math.max(table.extents[k] ?? 1, most + 1 + (draw(8) === 0 ? 1 : 0));
    return node;
  }

  private coordinates(table: Growing, rank: number, depth: number): Node[] {
    return Array.from({ length: rank }, (_, k) => this.coordinate(table, k, depth));
  }

  /** As operators gather: output dims, and bare reads of one table, all at the same dims and each at numbers of its own. */
  private plain(data: Growing): Node[] {
    const { draw } = this;
    const own = this.newTable();
    const table = this.tables[own]!;
    const dims = table.extents.map((_, k) => {
      if (k === 0 && table.open !== undefined) return this.dim(0);
      if (draw(4) === 0) return undefined;
      const dim = this.dim(draw(this.reach.length));
      return draw(3) === 0 ? plus(dim, 1 + draw(3)) : dim;
    });
    return Array.from({ length: 1 + draw(3) }, (_, k) => {
      if (k === 0 && data.open !== undefined) return this.coordinate(data, k, 1);
      if (draw(3) === 0) {
        const { node, most } = this.dim(draw(this.reach.length));
        data.extents[k] = most + 1;
        return node;
      }
      data.extents[k] = 1 + draw(8);
      const at = dims.map((dim, d) => {
        const { node, most } = dim ?? this.number();
        if (d > 0 || table.open === undefined) table.extents[d] = Math.max(table.extents[d]!, most + 1);
        return node;
      });
      return { kind: "read", table: own, at };
    });
  }

  private number(): Ranged {
    const value = this.draw(6);
    return { node: whole(value), least: value, most: value };
  }

  /** A bare read, or a policy without a bound, times a number and beside dims: its bound is the largest that fits. */
  private open(depth: number): Ranged {
    const { draw } = this;
    const below = 1 + draw(6);
    const read = this.read(depth - 1);
    const counted: Node = draw(4) === 0 ? { kind: "fromEnd", of: read } : read;
    const held: Node = draw(4) === 0 ? { kind: "policy", keep: this.policy(), of: counted } : counted;
    let found: Ranged = { node: held, least: 0, most: below - 1 };
    if (draw(3) === 0) found = times(found, 1 + draw(3));
    const dims = this.reach.flatMap((extent, d) => (draw(3) === 0 && extent > 0 ? [d] : []));
    for (const d of dims) found = sum("plus", found, this.dim(d));
    return draw(4) === 0 ? plus(found, draw(3)) : found;
  }

  private dim(d: number): Ranged {
    return { node: { kind: "dim", dim: d }, least: 0, most: Math.max(0, this.reach[d]! - 1) };
  }

  private value(depth: number): Ranged {
    const { draw } = this;
    const choice = draw(depth > 0 ? 12 : 3);
    if (choice < 2) return this.dim(draw(this.reach.length));
    if (choice === 2) return this.number();
    switch (choice) {
      case 3:
        return sum("plus", this.value(depth - 1), this.value(depth - 1));
      case 4:
        return sum("minus", this.value(depth - 1), this.value(depth - 1));
      case 5:
        return times(this.value(depth - 1), [2, 3, 4, -1][draw(4)]!);
      case 6:
      case 7: {
        const of = this.value(depth - 1);
        const { node, least, most } = of.least < 0 ? plus(of, -of.least) : of;
        const by = 1 + draw(5);
        if (choice === 6)
          return {
            node: { kind: "div", of: node, by },
            least: Math.floor(least / by),
            most: Math.floor(most / by),
          };
        return { node: { kind: "mod", of: node, by }, least: 0, most: Math.min(most, by - 1) };
      }
      case 8:
      case 9: {
        const { lets } = this;
        if (lets.length === 0) return this.site(depth);
        const { name, value } = lets[draw(lets.length)]!;
        return { node: { kind: "let", name }, least: value.least, most: value.most };
      }
      default:
        return this.site(depth);
    }
  }

  private site(depth: number): Ranged {
    const below = 1 + this.draw(8);
    return { node: { ...this.policed(depth), below: whole(below) }, least: 0, most: below - 1 };
  }

  /** A read or a sum under a policy, its bound left open. */
  private policed(depth: number): Extract<Node, { kind: "policy" }> {
    const { draw } = this;
    let of: Node;
    switch (draw(4)) {
      case 0:
        of = this.rawSum(depth);
        break;
      case 1:
        of = this.value(depth - 1).node;
        break;
      default:
        of = this.read(depth - 1);
    }
    // What stands alone is an index operand already.
    if (of.kind === "policy") of = { kind: "plus", left: of, right: whole(1) };
    const counted = draw(4) === 0;
    const fromEnd: Node = counted
      ? { kind: "fromEnd", of, ...(draw(2) === 0 ? { extent: 1 + draw(8) } : {}) }
      : of;
    return { kind: "policy", keep: this.policy(), of: fromEnd };
  }

  /** Reads inside it have no policy of their own. */
  private rawSum(depth: number): Node {
    const { draw } = this;
    const read: Node = { kind: "times", by: [1, 2, 4, -1, 2 ** 30][draw(5)]!, of: this.read(depth - 1) };
    const other = draw(3) === 0 ? this.read(depth - 1) : this.value(depth - 1).node;
    return { kind: draw(3) === 0 ? "minus" : "plus", left: read, right: other };
  }

  private read(depth: number): Node {
    const { draw } = this;
    const known = this.tables.length - 1;
    const own = known > 0 && (known >= 4 || draw(3) === 0) ? 1 + draw(known) : this.newTable();
    const table = this.tables[own]!;
    const rank = table.extents.length;
    return {
      kind: "read",
      table: own,
      at: this.coordinates(table, rank, depth),
    };
  }

  private newTable(): number {
    const { draw } = this;
    const open = this.output[0] === "N" && draw(2) === 0;
    this.tables.push({
      name: ["i", "bt", "seq", "st", "cu", "w", "loop"][this.tables.length]!,
      dtype: indexTypes[draw(indexTypes.length)]!,
      ...(open ? { open: "N" } : {}),
      extents: Array.from({ length: 1 + draw(2) }, () => 1),
    });
    return this.tables.length - 1;
  }

  private finished(results: readonly Node[]): OracleMap | undefined {
    const { draw } = this;
    const tables = this.tables.map(({ name, dtype, open, extents }) => ({
      name,
      dtype,
      shape: extents.map((extent, k) => (k === 0 && open !== undefined ? open : extent)),
    }));
    const sized = tables.map(({ shape }) => shapeOf(shape, { sizes: this.sizes }).reduce((a, b) => a * b, 1));
    if (sized.some((elements) => elements > 20_000)) return undefined;
    const data = tables[0]!;
    const filled = draw(4) === 0;
    const map: OracleMap = {
      tables: tables.map((table, k) => ({
        ...table,
        values: k === 0 ? [] : Array.from({ length: sized[k]! }, () => this.index(table.dtype)),
      })),
      output: this.output,
      lets: this.lets.map(({ name, value }) => ({ name, value: value.node })),
      results,
      oob: this.oob,
      fill: 0n,
      sizes: this.sizes,
      most: this.most,
    };
    const width = { u8: 8, f16: 16 }[data.dtype] ?? 32;
    return filled && fills(map) ? { ...map, fill: BigInt(draw(2 ** Math.min(24, width))) } : map;
  }

  private index(dtype: string): bigint {
    const { draw } = this;
    const width = bits[dtype]!;
    const signed = dtype.startsWith("i");
    if (draw(12) === 0) {
      const most = 1n << BigInt(signed ? width - 1 : width);
      return [most - 1n, signed ? -most : 0n, most >> 1n, most / 4n][draw(4)]!;
    }
    return BigInt(draw(10) - (signed && draw(3) === 0 ? 6 : 0));
  }
}

const sum = (kind: "plus" | "minus", a: Ranged, b: Ranged): Ranged => ({
  node: { kind, left: a.node, right: b.node },
  least: a.least + (kind === "plus" ? b.least : -b.most),
  most: a.most + (kind === "plus" ? b.most : -b.least),
});

const plus = (of: Ranged, value: number): Ranged =>
  sum("plus", of, { node: whole(value), least: value, most: value });

const times = ({ node, least, most }: Ranged, by: number): Ranged => ({
  node: { kind: "times", by, of: node },
  least: Math.min(by * least, by * most),
  most: Math.max(by * least, by * most),
});

/** Whether some value fills: by its own policy, or by that of the gather, which open reads take. */
function fills({ lets, results, oob }: OracleMap): boolean {
  const within = (node: Node, held: boolean): boolean => {
    switch (node.kind) {
      case "whole":
      case "dim":
      case "size":
      case "let":
        return false;
      case "plus":
      case "minus":
        return within(node.left, held) || within(node.right, held);
      case "times":
      case "div":
      case "mod":
        return within(node.of, held);
      case "fromEnd":
        return (!held && oob === "fill") || within(node.of, true);
      case "read":
        return (!held && oob === "fill") || node.at.some((coord) => within(coord, false));
      case "policy":
        return node.keep === "fill" || within(node.of, true);
    }
  };
  return [...lets.map(({ value }) => value), ...results].some((node) => within(node, false));
}
