/**
 * What a tile program moves, counted without moving it: loads and stores by their boxes, gathers in global memory by
 * the rows their indices name. The checked executor counts the same as it runs.
 */
import { gatherAccesses, indicesFollow, type IndirectAccess } from "../../ir/access.js";
import { evaluate } from "../../ir/expr.js";
import type { TileFunc } from "../../ir/func.js";
import type { Target } from "../../ir/target.js";
import { ubBytes, type GatherStmt, type LoadStmt, type Region, type StoreStmt } from "../../ir/tile.js";
import { at, contiguousRun, dtypeBytes, elementCount, invariant, strides } from "../../ir/types.js";
import { isParam, ubBuffers } from "../../ir/verify/accesses.js";
import { indexReader, resolveIndex, type HostInputs, type IndexReader } from "../memory.js";
import { box } from "./box.js";
import { execution } from "../../ir/clock/execution.js";
import { newCounters, type Counts } from "./summary.js";

export function countTraffic(func: TileFunc, inputs: HostInputs, target: Target): Counts {
  const walk = new Walk(func, inputs, target);
  walk.run();
  const buffers = [...ubBuffers(func).values()];
  const ends = buffers.flatMap((buffer) => (buffer.addresses ?? []).map((start) => start + ubBytes(buffer)));
  const { counters, tasks, gathers, syncs } = walk;
  return { counters, tasks, gathers, syncs, ubPeak: Math.max(0, ...ends) };
}

class Walk {
  readonly counters;
  tasks = 0;
  gathers = 0;
  syncs = 0;
  private readonly env = new Map<string, number>();
  private readonly read: IndexReader;

  constructor(
    private readonly func: TileFunc,
    inputs: HostInputs,
    target: Target,
  ) {
    this.counters = newCounters(target);
    this.read = indexReader(inputs.indices.bytes, func.indices.type.dtype);
  }

  run(): void {
    for (const step of execution(this.func.body, this.env)) {
      switch (step.op) {
        case "task":
          this.tasks++;
          break;
        case "load":
        case "store":
          this.transfer(step);
          break;
        case "gather":
          this.gathers++;
          this.gather(step);
          break;
        case "sync":
          this.syncs++;
          break;
      }
    }
  }

  private transfer(stmt: LoadStmt | StoreStmt): void {
    const region = stmt.op === "load" ? stmt.from : stmt.to;
    const operand = (["data", "indices", "output"] as const).find((o) => this.func[o].name === region.buffer);
    invariant(operand !== undefined, `%${region.buffer} is no parameter`);
    const { type } = this.func[operand];
    const sizes = this.values(region.sizes);
    const count = elementCount(sizes);
    const counter = this.counters[operand];
    counter.transfers++;
    if (count === 0) return;
    const run = contiguousRun(sizes, type.shape);
    counter.burst(run * dtypeBytes[type.dtype], count / run);
  }

  private gather(stmt: GatherStmt): void {
    const { func, counters } = this;
    const sizes = this.values(stmt.to.sizes);
    const inGm = (region: Region): boolean => isParam(func, region.buffer);
    if (inGm(stmt.indices)) this.gatherIndices(stmt, sizes);
    if (inGm(stmt.data)) this.gatherRows(stmt, sizes);
    if (inGm(stmt.to)) {
      counters.output.transfers++;
      const run = contiguousRun(sizes, func.output.type.shape);
      const count = elementCount(sizes);
      if (count > 0) counters.output.burst(run * dtypeBytes[func.output.type.dtype], count / run);
    }
  }

  /** Each index of the tile once, in the order in which the output first needs it. */
  private gatherIndices(stmt: GatherStmt, sizes: readonly number[]): void {
    const counter = this.counters.indices;
    const size = dtypeBytes[this.func.indices.type.dtype];
    const results = gatherAccesses(stmt.map);
    const follows = indicesFollow(stmt.map);
    const position = this.positions(stmt);
    counter.transfers++;
    for (const out of box(sizes.map((extent, d) => (follows.has(d) ? extent : Math.min(extent, 1))))) {
      for (const { access } of results) counter.run(position(access, out) * size, size);
    }
    counter.endRun();
  }

  /** The rows that the indices name: outputs that share an index and lie together in the data move as one. */
  private gatherRows(stmt: GatherStmt, sizes: readonly number[]): void {
    const { func } = this;
    const counter = this.counters.data;
    const size = dtypeBytes[func.data.type.dtype];
    const by = strides(func.data.type.shape);
    const offsets = this.values(stmt.data.offsets);
    const position = this.positions(stmt);
    const { outer, run } = this.rows(stmt, sizes);
    counter.transfers++;
    const coords = sizes.map((extent, d) => (d < outer ? extent : Math.min(extent, 1)));
    for (const out of box(coords)) {
      let from = offsets.reduce((sum, offset, k) => sum + offset * at(by, k), 0);
      let found = true;
      stmt.map.results.forEach((access, k) => {
        if (access.kind === "direct") from += at(out, access.dim) * at(by, k);
        else {
          const extent = at(func.data.type.shape, k);
          const index = resolveIndex(this.read, position(access, out), extent, access.negative, stmt.oob);
          if (index < 0) found = false;
          else from += index * at(by, k);
        }
      });
      if (found) counter.run(from * size, run * size);
    }
    counter.endRun();
  }

  /** Output dims from `outer` on share an index and are `run` neighbours in the data. */
  private rows(stmt: GatherStmt, sizes: readonly number[]): { readonly outer: number; readonly run: number } {
    const by = strides(this.func.data.type.shape);
    const follows = indicesFollow(stmt.map);
    let outer = sizes.length;
    let run = 1;
    while (outer > 0 && !follows.has(outer - 1)) {
      const k = stmt.map.results.findIndex((r) => r.kind === "direct" && r.dim === outer - 1);
      if (k === -1 || at(by, k) !== run) break;
      outer--;
      run *= at(sizes, outer);
    }
    return { outer, run };
  }

  private positions(stmt: GatherStmt) {
    const origin = this.values(stmt.origin);
    const by = strides(this.func.indices.type.shape);
    return ({ at: coords }: IndirectAccess, out: readonly number[]): number =>
      coords.reduce(
        (sum, c, k) => sum + (at(origin, k) + (c.kind === "dim" ? at(out, c.dim) : c.value)) * at(by, k),
        0,
      );
  }

  private values(list: Region["sizes"]): number[] {
    return list.map((expr) => evaluate(expr, this.env));
  }
}
