/**
 * wgsl: a tile program as one compute kernel. One case per tile statement; text only, no device.
 *
 * Parallel loops become workgroups, folded over two grid dims beyond the limit; lanes share a tile's elements. Elements
 * move as 32-bit words whatever their type: 8- and 16-bit elements are packed, and the workgroup whose tile holds a
 * word's first element writes the whole word, so that no two ever write one word.
 */
import { CompileError, error } from "../../ir/diagnostic.js";
import type { TileFunc } from "../../ir/func.js";
import { largestValue } from "../../ir/expr.js";
import { printExpr, printStmtHead } from "../../ir/print.js";
import { parallelNest, type ParallelNest } from "../../ir/tasks.js";
import {
  findGather,
  ubBytes,
  ubStrides,
  type ForStmt,
  type GatherStmt,
  type LoadStmt,
  type Region,
  type Stmt,
  type UbBuffer,
} from "../../ir/tile.js";
import {
  formatType,
  alignUp,
  at,
  byteCount,
  dtypeBytes,
  elementCount,
  invariant,
  strides,
  type IndexDType,
  type Shape,
} from "../../ir/types.js";
import { isParam, ubBuffers } from "../../ir/verify/accesses.js";
import { emitExpr, scaled, sum } from "./expr.js";
import { defaultLimits, type WgslBinding, type WgslKernel, type WgslLimits } from "./kernel.js";
import { Lines } from "./lines.js";
import { identifier } from "./names.js";
import { canBeNone, emitResolver, none } from "./resolve.js";

/** Throws a CompileError (TC502) when the program exceeds the limits. */
export function emitWgsl(func: TileFunc, limits: WgslLimits = defaultLimits): WgslKernel {
  return new Emitter(func, limits).kernel();
}

const lanesAtMost = 256;

class Emitter {
  private readonly out = new Lines();
  private readonly buffers: ReadonlyMap<string, UbBuffer>;
  /** One task is one workgroup. */
  private readonly nest: ParallelNest;
  private readonly stmt: GatherStmt | undefined;
  private readonly lanes: number;
  /** Elements in one 32-bit word (1, 2, 4), and words in one element (1, 2, 4). */
  private readonly perWord: number;
  private readonly wordsPer: number;

  constructor(
    private readonly func: TileFunc,
    private readonly limits: WgslLimits,
  ) {
    this.buffers = ubBuffers(func);
    this.nest = parallelNest(func.body);
    const left = parallelLoop(this.nest.body);
    if (left !== undefined)
      throw unsupported(`parallel loop %${left.iv} is in no perfect nest of loops with constant trips`);
    this.stmt = findGather(func.body);
    const size = dtypeBytes[func.data.type.dtype];
    this.perWord = Math.max(1, 4 / size);
    this.wordsPer = Math.max(1, size / 4);
    const slots = this.stmt === undefined ? 1 : this.slots(this.tileShape(this.stmt.to));
    const most = Math.min(
      lanesAtMost,
      limits.maxComputeInvocationsPerWorkgroup,
      limits.maxComputeWorkgroupSizeX,
    );
    this.lanes = Math.min(most, Math.max(32, 2 ** Math.ceil(Math.log2(Math.max(1, slots)))));
  }

  kernel(): WgslKernel {
    const { func, stmt } = this;
    const bindings = this.bindings();
    const workgroupBytes = [...this.buffers.values()].reduce(
      (bytes, buffer) => bytes + 4 * ubWords(buffer),
      0,
    );
    this.checkLimits(bindings, workgroupBytes);
    const tasks = stmt === undefined ? 0 : this.nest.tasks;
    const dispatch = this.fold(tasks);
    if (stmt !== undefined) this.emit(stmt, bindings, dispatch, tasks);
    return {
      code: this.out.toString(),
      entryPoint: "main",
      workgroupSize: this.lanes,
      dispatch,
      bindings,
      workgroupBytes,
      data: func.data.type,
      indices: func.indices.type,
      output: func.output.type,
    };
  }

  private bindings(): WgslBinding[] {
    const { func, stmt } = this;
    const operand = (role: "data" | "indices" | "output", binding: number): WgslBinding => ({
      binding,
      name: identifier(func[role].name),
      role,
      access: role === "output" ? "read_write" : "read",
      bytes: Math.max(4, alignUp(byteCount(func[role].type), 4)),
    });
    const operands = [operand("data", 0), operand("indices", 1), operand("output", 2)];
    if (stmt?.oob !== "error") return operands;
    return [...operands, { binding: 3, name: "status", role: "status", access: "read_write", bytes: 4 }];
  }

  private checkLimits(bindings: readonly WgslBinding[], workgroupBytes: number): void {
    const { limits, func } = this;
    const span = { span: func.span };
    const found = bindings.flatMap(({ name, bytes }) => {
      const most = limits.maxStorageBufferBindingSize;
      if (bytes <= most) return [];
      const hint = "split the tensor, or request a device with a higher maxStorageBufferBindingSize";
      const message = `%${name} takes ${bytes} B, over the device's maxStorageBufferBindingSize of ${most} B`;
      return [error("TC502", message, { ...span, hint, data: { bytes, limit: most } })];
    });
    const storage = limits.maxComputeWorkgroupStorageSize;
    if (workgroupBytes > storage) {
      const message = `the tile needs ${workgroupBytes} B of workgroup memory, over the device's ${storage} B`;
      const hint = "compile for the device's own target, or use residency gm";
      found.push(error("TC502", message, { ...span, hint, data: { bytes: workgroupBytes, limit: storage } }));
    }
    if (found.length > 0) throw new CompileError(found);
  }

  /** Tasks over the x and y of the grid. */
  private fold(tasks: number): [number, number, number] {
    if (tasks === 0) return [0, 0, 0];
    const most = this.limits.maxComputeWorkgroupsPerDimension;
    const y = Math.ceil(tasks / most);
    invariant(y <= most, "a grid of two dims holds every task");
    return [Math.ceil(tasks / y), y, 1];
  }

  private emit(
    stmt: GatherStmt,
    bindings: readonly WgslBinding[],
    dispatch: readonly number[],
    tasks: number,
  ): void {
    const { out, func } = this;
    const types = (["data", "indices", "output"] as const).map(
      (v) => `%${func[v].name}: ${formatType(func[v].type)}`,
    );
    out.line(`// @${func.name}(${types.join(", ")})`);
    for (const { binding, name, access, role } of bindings) {
      const element = role === "status" ? "array<atomic<u32>>" : "array<u32>";
      out.line(`@group(0) @binding(${binding}) var<storage, ${access}> ${name}: ${element};`);
    }
    for (const buffer of this.buffers.values()) {
      out.line(`// ${printStmtHead({ op: "alloc", buffer })}`);
      out.line(`var<workgroup> ${identifier(buffer.name)}: array<u32, ${Math.max(1, ubWords(buffer))}>;`);
    }
    out.line("");
    stmt.map.results.forEach((access, k) => {
      if (access.kind !== "indirect") return;
      emitResolver(out, {
        name: `resolve_${k}`,
        extent: at(func.data.type.shape, k),
        negative: access.negative,
        oob: stmt.oob,
        dtype: func.indices.type.dtype as IndexDType,
        indices: identifier(func.indices.name),
      });
    });
    if (this.perWord > 1) this.emitElement(stmt);
    const [x, y] = [at(dispatch, 0), at(dispatch, 1)];
    out.line(`@compute @workgroup_size(${this.lanes})`);
    const head = "fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32)";
    out.block(head, () => {
      if (y === 1) out.line("let task = group.x;");
      else {
        out.line(`let task = group.y * ${x}u + group.x;`);
        if (x * y !== tasks) out.line(`if (task >= ${tasks}u) { return; }`);
      }
      let inner = tasks;
      for (const { stmt: loop, trips } of this.nest.loops) {
        out.line(`// ${printStmtHead(loop)}`);
        inner /= trips;
        const whole = inner === 1 ? "task" : `task / ${inner}u`;
        const turn = inner * trips === tasks ? whole : `(${whole}) % ${trips}u`;
        out.line(
          `let ${loop.iv} = ${sum([...scaled(emitExpr(loop.lower), 1), ...scaled(turn, loop.step)])};`,
        );
        // A view that the last iteration cuts short has fewer tiles.
        if (loop.lower.kind !== "const") out.line(`if (${loop.iv} >= ${emitExpr(loop.upper)}) { return; }`);
      }
      this.stmts(this.nest.body);
    });
  }

  private stmts(body: readonly Stmt[]): void {
    const { out } = this;
    for (const stmt of body) {
      if (stmt.op === "alloc") continue;
      out.line(`// ${printStmtHead(stmt)}`);
      switch (stmt.op) {
        case "for": {
          const range = `var ${stmt.iv} = ${emitExpr(stmt.lower)}; ${stmt.iv} < ${emitExpr(stmt.upper)}`;
          out.block(`for (${range}; ${stmt.iv} += ${stmt.step}u)`, () => {
            this.stmts(stmt.body);
          });
          break;
        }
        case "load":
          this.load(stmt);
          break;
        case "gather":
          this.gather(stmt);
          break;
        case "sync":
          out.line("workgroupBarrier();");
          break;
        case "store":
          throw new CompileError([
            error("TC502", "this program stages its output in UB; compile it for a webgpu target", {
              span: stmt.span,
            }),
          ]);
      }
    }
  }

  /** gm to workgroup memory, a word a lane, rows padded to whole words. */
  private load(stmt: LoadStmt): void {
    const { out } = this;
    const buffer = this.buffers.get(stmt.to);
    invariant(buffer !== undefined, `%${stmt.to} has no alloc`);
    if (elementCount(buffer.shape) === 0) return;
    const rowWords = buffer.rowBytes / 4;
    const outer = buffer.shape.slice(0, -1);
    const slots = elementCount(outer) * rowWords;
    const source = identifier(stmt.from.buffer);
    const gm = strides(this.paramShape(stmt.from.buffer));
    const rank = buffer.shape.length;
    this.lanesOver(slots, () => {
      const names = this.decode("slot", [...outer, rowWords]);
      const word = at(names, rank - 1);
      const guards = stmt.from.sizes
        .slice(0, -1)
        .flatMap((size, k) => this.guard(at(names, k), size, at(outer, k)));
      const row = sum(
        outer.flatMap((_, k) => this.address(at(stmt.from.offsets, k), at(names, k), at(gm, k))),
      );
      const lastOffset = at(stmt.from.offsets, rank - 1);
      const lastSize = emitExpr(at(stmt.from.sizes, rank - 1));
      const target = `${identifier(buffer.name)}[slot]`;
      this.guarded(guards, () => {
        if (this.perWord === 1) {
          const words = this.wordsPer === 1 ? lastSize : `(${lastSize}) * ${this.wordsPer}u`;
          const from = sum([
            ...scaled(row, this.wordsPer),
            ...scaled(emitExpr(lastOffset), this.wordsPer),
            word,
          ]);
          out.line(`if (${word} < ${words}) { ${target} = ${source}[${from}]; }`);
          return;
        }
        out.line(`let row = ${sum([row, ...scaled(emitExpr(lastOffset), 1)].filter((t) => t !== "0u"))};`);
        out.line("var packed = 0u;");
        for (let e = 0; e < this.perWord; e++) {
          const place = `${word} * ${this.perWord}u + ${e}u`;
          out.block(`if (${place} < ${lastSize})`, () => {
            out.line(`let source = row + ${place};`);
            out.line(`packed |= ${this.unpack(source, "source")} << ${this.shift(e)}u;`);
          });
        }
        out.line(`${target} = packed;`);
      });
    });
  }

  private gather(stmt: GatherStmt): void {
    const tile = this.tileShape(stmt.to);
    if (this.perWord === 1) this.gatherWords(stmt, tile);
    else this.gatherPacked(stmt, tile);
  }

  /** Elements of whole words: a lane takes every lanes-th element of the tile. */
  private gatherWords(stmt: GatherStmt, tile: Shape): void {
    const { out } = this;
    const gm = strides(this.func.output.type.shape);
    this.lanesOver(elementCount(tile), () => {
      const names = this.decode("slot", tile);
      const guards = stmt.to.sizes.flatMap((size, d) => this.guard(at(names, d), size, at(tile, d)));
      this.guarded(guards, () => {
        const to = sum(names.flatMap((name, d) => this.address(at(stmt.to.offsets, d), name, at(gm, d))));
        const from = this.source(stmt, names);
        const [read, write] = [from.name, identifier(stmt.to.buffer)];
        out.line(`let to = ${sum(scaled(to, this.wordsPer))};`);
        this.lookUps(
          stmt,
          names,
          from.nones,
          () => {
            out.line(`let source = ${sum(scaled(from.address, this.wordsPer))};`);
            for (let w = 0; w < this.wordsPer; w++) {
              const step = w === 0 ? "" : ` + ${w}u`;
              out.line(`${write}[to${step}] = ${read}[source${step}];`);
            }
          },
          () => {
            for (let w = 0; w < this.wordsPer; w++)
              out.line(`${write}[to${w === 0 ? "" : ` + ${w}u`}] = 0u;`);
          },
        );
      });
    });
  }

  /** Packed elements: a lane takes the words whose first element lies in a row of the tile. */
  private gatherPacked(stmt: GatherStmt, tile: Shape): void {
    const { out, perWord } = this;
    const rank = tile.length;
    const rows = tile.slice(0, -1);
    const wordsInRow = Math.ceil((tile[rank - 1] ?? 1) / perWord);
    const gm = strides(this.func.output.type.shape);
    const total = elementCount(this.func.output.type.shape);
    this.lanesOver(elementCount(rows) * wordsInRow, () => {
      const names = this.decode("slot", [...rows, wordsInRow]);
      const guards = stmt.to.sizes
        .slice(0, -1)
        .flatMap((size, d) => this.guard(at(names, d), size, at(rows, d)));
      this.guarded(guards, () => {
        const first = stmt.to.offsets.flatMap((offset, d) =>
          this.address(offset, d === rank - 1 ? "0u" : at(names, d), at(gm, d)),
        );
        const length = rank === 0 ? "1u" : emitExpr(at(stmt.to.sizes, rank - 1));
        out.line(`let first = ${sum(first)};`);
        out.line(
          `let word = (first + ${perWord - 1}u) / ${perWord}u + ${at(names, rank === 0 ? 0 : rank - 1)};`,
        );
        out.block(`if (word * ${perWord}u < first + ${length})`, () => {
          out.line("var packed = 0u;");
          out.block(`for (var e = 0u; e < ${perWord}u; e++)`, () => {
            out.line(`let flat = word * ${perWord}u + e;`);
            const beyond = () => {
              // The rest of the word belongs to another tile's elements: straight from global memory.
              const inside = total % perWord === 0 ? "" : `if (flat < ${total}u) `;
              out.line(`${inside}{ packed |= element(flat) << (e * ${32 / perWord}u); }`);
            };
            if (!this.stagesData(stmt)) {
              beyond();
              return;
            }
            out.block(`if (flat < first + ${length})`, () => {
              const coords = rank === 0 ? [] : [...names.slice(0, rank - 1), "(flat - first)"];
              const from = this.source(stmt, coords);
              this.lookUps(stmt, coords, from.nones, () => {
                out.line(`let source = ${from.address};`);
                out.line(`packed |= ${this.unpack(from.name, "source")} << (e * ${32 / perWord}u);`);
              });
            });
            out.block("else", beyond);
          });
          out.line(`${identifier(stmt.to.buffer)}[word] = packed;`);
        });
      });
    });
  }

  /** fn element(flat) -> the bits of one output element, from global memory: packed elements that tiles share. */
  private emitElement(stmt: GatherStmt): void {
    const { out, func } = this;
    const shape = func.output.type.shape;
    const data = strides(func.data.type.shape);
    const index = strides(func.indices.type.shape);
    out.block("fn element(flat: u32) -> u32", () => {
      const names = this.decode("flat", shape);
      const terms = stmt.map.results.flatMap((access, k) => {
        if (access.kind === "direct") return scaled(at(names, access.dim), at(data, k));
        const position = sum(
          access.at.flatMap((c, dim) =>
            scaled(c.kind === "dim" ? at(names, c.dim) : `${c.value}u`, at(index, dim)),
          ),
        );
        out.line(`let at${k} = resolve_${k}(${position});`);
        if (canBeNone(stmt.oob, at(func.data.type.shape, k)))
          out.line(`if (at${k} == ${none}) { return 0u; }`);
        return scaled(`at${k}`, at(data, k));
      });
      if (func.data.type.shape.includes(0)) {
        out.line("return 0u;");
        return;
      }
      out.line(`let source = ${sum(terms)};`);
      out.line(`return ${this.unpack(identifier(func.data.name), "source")};`);
    });
    out.line("");
  }

  /** The address of the element a tile coordinate gathers, in elements, once `lookUps` has declared `at<k>`. */
  private source(stmt: GatherStmt, coords: readonly string[]) {
    const staged = this.buffers.get(stmt.data.buffer);
    const shape = this.func.data.type.shape;
    const by = staged === undefined ? strides(shape) : ubStrides(staged);
    const nones: number[] = [];
    const terms = stmt.map.results.flatMap((access, k) => {
      const offset = at(stmt.data.offsets, k);
      if (access.kind === "direct") return this.address(offset, at(coords, access.dim), at(by, k));
      if (canBeNone(stmt.oob, at(shape, k))) nones.push(k);
      return this.address(offset, `at${k}`, at(by, k));
    });
    return { name: identifier(stmt.data.buffer), address: sum(terms), nones };
  }

  /** Declares `at<k>` for every gather dim; `then` runs where all have an element, `otherwise` where one reads as zero. */
  private lookUps(
    stmt: GatherStmt,
    coords: readonly string[],
    nones: readonly number[],
    then: () => void,
    otherwise?: () => void,
  ): void {
    const { out } = this;
    const index = strides(this.func.indices.type.shape);
    stmt.map.results.forEach((access, k) => {
      if (access.kind !== "indirect") return;
      const position = sum(
        access.at.flatMap((c, dim) =>
          this.address(
            at(stmt.origin, dim),
            c.kind === "dim" ? at(coords, c.dim) : `${c.value}u`,
            at(index, dim),
          ),
        ),
      );
      out.line(`let at${k} = resolve_${k}(${position});`);
    });
    if (nones.length === 0) {
      then();
      return;
    }
    out.block(`if (${nones.map((k) => `at${k} != ${none}`).join(" && ")})`, then);
    if (otherwise !== undefined) out.block("else", otherwise);
  }

  private stagesData(stmt: GatherStmt): boolean {
    return !isParam(this.func, stmt.data.buffer);
  }

  /** Bits of packed element number `place` of an array of words. */
  private unpack(name: string, place: string): string {
    const bits = 32 / this.perWord;
    const mask = bits === 8 ? "0xffu" : "0xffffu";
    return `((${name}[${place} / ${this.perWord}u] >> (${place} % ${this.perWord}u * ${bits}u)) & ${mask})`;
  }

  private shift(element: number): number {
    return element * (32 / this.perWord);
  }

  /** Declares `d0`, `d1`, …: the coordinates of a row-major position in a constant shape. */
  private decode(position: string, shape: Shape): string[] {
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

  private lanesOver(slots: number, body: () => void): void {
    const { out, lanes } = this;
    if (slots <= lanes) {
      out.block(slots === lanes ? "" : `if (lane < ${slots}u)`, () => {
        out.line("let slot = lane;");
        body();
      });
    } else {
      out.block(`for (var slot = lane; slot < ${slots}u; slot += ${lanes}u)`, body);
    }
  }

  /** The condition that a coordinate exists, where an edge tile may be smaller than the tile. */
  private guard(name: string, size: Region["sizes"][number], extent: number): string[] {
    if (size.kind === "const" && size.value >= extent) return [];
    return [`${name} < ${emitExpr(size)}`];
  }

  private guarded(conditions: readonly string[], body: () => void): void {
    if (conditions.length === 0) body();
    else this.out.block(`if (${conditions.join(" && ")})`, body);
  }

  private address(offset: Region["offsets"][number], name: string, stride: number): string[] {
    return [...scaled(emitExpr(offset), stride), ...scaled(name, stride)];
  }

  private paramShape(name: string): Shape {
    const { data, indices, output } = this.func;
    const value = [data, indices, output].find((v) => v.name === name);
    invariant(value !== undefined, `%${name} is no parameter`);
    return value.type.shape;
  }

  /** Extents of the whole tile: the largest the sizes can be. */
  private tileShape(region: Region): number[] {
    return region.sizes.map((size) => largest(size));
  }

  private slots(tile: Shape): number {
    if (this.perWord === 1) return elementCount(tile);
    return elementCount(tile.slice(0, -1)) * Math.ceil((tile[tile.length - 1] ?? 1) / this.perWord);
  }
}

/** 32-bit words of a UB tile. */
const ubWords = (buffer: UbBuffer): number => ubBytes(buffer) / 4;

/** Hand-written programs may take forms that no schedule gives and no kernel has. */
const unsupported = (message: string): CompileError =>
  new CompileError([
    error("TC502", message, { hint: "run it on sim, or write the loops as lower-to-tile does" }),
  ]);

/** Sizes are constants or `min(constant, …)`. */
function largest(size: Region["sizes"][number]): number {
  const value = largestValue(size);
  if (value === undefined)
    throw unsupported(`a region's size ${printExpr(size)} is no constant and no minimum with one`);
  return value;
}

function parallelLoop(body: readonly Stmt[]): ForStmt | undefined {
  for (const stmt of body) {
    const found = stmt.op !== "for" ? undefined : stmt.mode === "parallel" ? stmt : parallelLoop(stmt.body);
    if (found !== undefined) return found;
  }
  return undefined;
}
