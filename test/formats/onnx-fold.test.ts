/** Gathers with the views around them as one access program, beside the same chain run one node at a time on plain arrays. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defined, printFunc, targets } from "../../ir/index.js";
import { compile, run } from "../../src/index.js";
import { findGathers, labelOf, readModel, type OnnxGather } from "../../src/formats/onnx/index.js";
import {
  bytes,
  info,
  initializer,
  input,
  intAttribute,
  intsAttribute,
  model,
  named,
  node,
  onnxTypes,
  raw,
} from "../support/onnx-bytes.js";

interface Plain {
  readonly shape: readonly number[];
  readonly values: readonly number[];
}

const count = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);
const flat = (shape: readonly number[], place: readonly number[]): number =>
  shape.reduce((sum, extent, k) => sum * extent + place[k]!, 0);
const places = (shape: readonly number[]): number[][] =>
  shape.reduce<number[][]>(
    (all, extent) => all.flatMap((place) => Array.from({ length: extent }, (_, k) => [...place, k])),
    [[]],
  );
const made = (shape: readonly number[], at: (place: number[]) => number): Plain => ({
  shape,
  values: places(shape).map(at),
});

/** A node of a chain: its bytes from the names of what it reads and makes, and what it makes of an array. */
interface Step {
  readonly write: (from: string, to: string) => readonly number[];
  readonly result: Plain;
}

const list = (name: string, values: readonly number[]): number[] =>
  initializer("i64", [values.length], raw(values), name);

function transpose(x: Plain, n: number): Step {
  const perm = x.shape.map((_, k) => (k + n) % x.shape.length);
  const result = made(
    perm.map((k) => x.shape[k]!),
    (place) =>
      x.values[
        flat(
          x.shape,
          x.shape.map((_, k) => place[perm.indexOf(k)]!),
        )
      ]!,
  );
  return { write: (from, to) => node("Transpose", [from], [to], intsAttribute("perm", perm)), result };
}

/** Every element, or every second, forwards or backwards, without the first where one is left. */
function slice(x: Plain, n: number): Step {
  const axis = n % x.shape.length;
  const extent = x.shape[axis]!;
  const skip = extent > 1 && n % 2 === 1 ? 1 : 0;
  const step = [1, 2, -1, -2][n % 4]!;
  const [start, end] = step > 0 ? [skip, extent] : [extent - 1 - skip, -1000];
  const kept = Array.from({ length: extent }, (_, k) => start + k * step).filter((k) => k >= 0 && k < extent);
  const result = made(
    x.shape.map((old, k) => (k === axis ? kept.length : old)),
    (place) =>
      x.values[
        flat(
          x.shape,
          place.map((at, k) => (k === axis ? kept[at]! : at)),
        )
      ]!,
  );
  const write = (from: string, to: string): number[] => [
    ...list(`${to}s`, [start]),
    ...list(`${to}e`, [end]),
    ...list(`${to}a`, [axis]),
    ...list(`${to}t`, [step]),
    ...node("Slice", [from, `${to}s`, `${to}e`, `${to}a`, `${to}t`], [to]),
  ];
  return { write, result };
}

function expand(x: Plain, n: number): Step {
  const shape = [1 + (n % 2), ...x.shape.map((extent) => (extent === 1 ? 1 + (n % 3) : extent))];
  const result = made(
    shape,
    ([, ...place]) =>
      x.values[
        flat(
          x.shape,
          place.map((at, k) => (x.shape[k] === 1 ? 0 : at)),
        )
      ]!,
  );
  return {
    write: (from, to) => [...list(`${to}s`, shape), ...node("Expand", [from, `${to}s`], [to])],
    result,
  };
}

/** A dim split in two. */
function reshape(x: Plain, n: number): Step {
  const axis = n % x.shape.length;
  const extent = x.shape[axis]!;
  const part = [4, 3, 2, 1].find((size) => extent % size === 0)!;
  return reshapedTo(x, [...x.shape.slice(0, axis), extent / part, part, ...x.shape.slice(axis + 1)]);
}

const reshapedTo = (x: Plain, shape: readonly number[]): Step => ({
  write: (from, to) => [...list(`${to}s`, shape), ...node("Reshape", [from, `${to}s`], [to])],
  result: { shape, values: x.values },
});

/** Two dims made one. */
function merge(x: Plain, n: number): Step {
  if (x.shape.length < 2) return reshape(x, n);
  const axis = n % (x.shape.length - 1);
  const [a, b] = [x.shape[axis]!, x.shape[axis + 1]!];
  return reshapedTo(x, [...x.shape.slice(0, axis), a * b, ...x.shape.slice(axis + 2)]);
}

/** All dims divided anew: the greatest divisor first that is 4 at most, then the rest. */
function redivided(x: Plain, n: number): Step {
  const total = count(x.shape);
  const part = [4, 3, 2, 1].map((_, k) => [4, 3, 2, 1][(k + n) % 4]!).find((size) => total % size === 0)!;
  return reshapedTo(x, [part, total / part]);
}

function squeeze(x: Plain, n: number): Step {
  const axis = x.shape.indexOf(1);
  if (axis === -1 || x.shape.length === 1) return unsqueeze(x, n);
  const result = { shape: x.shape.filter((_, k) => k !== axis), values: x.values };
  return {
    write: (from, to) => [...list(`${to}a`, [axis]), ...node("Squeeze", [from, `${to}a`], [to])],
    result,
  };
}

function unsqueeze(x: Plain, n: number): Step {
  const axis = n % (x.shape.length + 1);
  const result = { shape: [...x.shape.slice(0, axis), 1, ...x.shape.slice(axis)], values: x.values };
  return {
    write: (from, to) => [...list(`${to}a`, [axis]), ...node("Unsqueeze", [from, `${to}a`], [to])],
    result,
  };
}

/** One dim gets one before it, or one behind it. */
function flatten(x: Plain, n: number): Step {
  if (x.shape.length !== 1) return identity(x);
  const axis = n % 2;
  const shape = axis === 0 ? [1, x.shape[0]!] : [x.shape[0]!, 1];
  const write: Step["write"] = (from, to) => node("Flatten", [from], [to], intAttribute("axis", axis));
  return { write, result: { shape, values: x.values } };
}

const identity = (x: Plain): Step => ({ write: (from, to) => node("Identity", [from], [to]), result: x });

const kinds = [transpose, slice, expand, reshape, merge, redivided, squeeze, unsqueeze, flatten, identity];

/** The element of an extent that an index names: a negative one counts from the end. */
const elementNamed = (index: number, extent: number): number => (index < 0 ? index + extent : index);

const gathered = (data: Plain, indices: Plain, axis: number): Plain =>
  made([...data.shape.slice(0, axis), ...indices.shape, ...data.shape.slice(axis + 1)], (place) => {
    const rank = indices.shape.length;
    const index = indices.values[flat(indices.shape, place.slice(axis, axis + rank))]!;
    const at = elementNamed(index, data.shape[axis]!);
    return data.values[flat(data.shape, [...place.slice(0, axis), at, ...place.slice(axis + rank)])]!;
  });

const gatheredElements = (data: Plain, indices: Plain, axis: number): Plain =>
  made(indices.shape, (place) => {
    const index = indices.values[flat(indices.shape, place)]!;
    const at = elementNamed(index, data.shape[axis]!);
    return data.values[
      flat(
        data.shape,
        place.map((own, k) => (k === axis ? at : own)),
      )
    ]!;
  });

const gatheredTuples = (data: Plain, indices: Plain, batch: number): Plain => {
  const outer = indices.shape.slice(0, -1);
  const tuple = indices.shape.at(-1)!;
  return made([...outer, ...data.shape.slice(batch + tuple)], (place) => {
    const picked = Array.from({ length: tuple }, (_, k) =>
      elementNamed(
        indices.values[flat(indices.shape, [...place.slice(0, outer.length), k])]!,
        data.shape[batch + k]!,
      ),
    );
    const coords = [...place.slice(0, batch), ...picked, ...place.slice(outer.length)];
    return data.values[flat(data.shape, coords)]!;
  });
};

interface Chain {
  readonly graph: readonly number[];
  readonly inputs: Readonly<Record<string, Plain>>;
  readonly wanted: Plain;
  readonly nodes: number;
}

interface Choice {
  readonly kind: number;
  readonly n: number;
}

const choices = fc.array(fc.record({ kind: fc.nat(kinds.length - 1), n: fc.nat(11) }), { maxLength: 2 });
const shapes = (most: number) => fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: most });
const gatherChoice = fc.record({
  onIndices: choices,
  behind: choices,
  axis: fc.nat(7),
  shape: shapes(2),
  nested: fc.boolean(),
  op: fc.constantFrom("Gather", "GatherElements", "GatherND"),
  tuple: fc.nat(7),
  numbers: fc.array(fc.nat(1000), { minLength: 36, maxLength: 36 }),
});

/** Views of the data, then gathers with views of their indices and behind them. */
const chains: fc.Arbitrary<Chain> = fc
  .record({
    shape: shapes(3),
    onData: choices,
    gathers: fc.array(gatherChoice, { minLength: 1, maxLength: 2 }),
  })
  .map(({ shape, onData, gathers }) => {
    const graph: number[] = [];
    let views = 0;
    let nodes = 0;
    const through = (name: string, x: Plain, steps: readonly Choice[]): readonly [string, Plain] => {
      let at: readonly [string, Plain] = [name, x];
      for (const { kind, n } of steps) {
        const { write, result } = kinds[kind]!(at[1], n);
        if (result.shape.length > 6 || count(result.shape) > 300) continue;
        const to = `v${views++}`;
        graph.push(...write(at[0], to));
        nodes++;
        at = [to, result];
      }
      return at;
    };
    const x: Plain = { shape, values: Array.from({ length: count(shape) }, (_, k) => 7 * k + 1) };
    const inputs: Record<string, Plain> = { x };
    graph.push(...input("x", onnxTypes.i32, shape));
    let [from, data] = through("x", x, onData);
    const picksOf = (
      shape: readonly number[],
      numbers: readonly number[],
      below: (k: number) => number,
    ): Plain => ({
      shape,
      values: Array.from({ length: count(shape) }, (_, k) => {
        const extent = below(k);
        return (numbers[k % numbers.length]! % (2 * extent)) - extent;
      }),
    });
    /** A tensor of indices of a shape that the gather asks for, as a view makes it: of one dim, or turned round. */
    const viewedAs = (name: string, wanted: Plain, flatFirst: boolean): string => {
      const to = `v${views++}`;
      nodes++;
      const turned: Plain = flatFirst
        ? { shape: [count(wanted.shape)], values: wanted.values }
        : made([...wanted.shape].reverse(), (place) => wanted.values[flat(wanted.shape, place.reverse())]!);
      inputs[name] = turned;
      graph.push(...input(name, onnxTypes.i64, turned.shape));
      if (flatFirst) graph.push(...reshapedTo(turned, wanted.shape).write(name, to));
      else {
        const perm = wanted.shape.map((_, k) => wanted.shape.length - 1 - k);
        graph.push(...node("Transpose", [name], [to], intsAttribute("perm", perm)));
      }
      return to;
    };
    gathers.forEach((choice, g) => {
      const { onIndices, behind, axis: chosen, shape: own, nested, numbers, op, tuple: width } = choice;
      const axis = chosen % data.shape.length;
      if (op !== "Gather") {
        const elements = op === "GatherElements";
        const batch = data.shape.length > 1 && data.shape[0]! <= 4 ? chosen % 2 : 0;
        const tuple = 1 + (width % (data.shape.length - batch));
        const shape = elements
          ? data.shape.map((extent, k) => (k === axis ? 1 + (width % 5) : Math.max(1, extent - (chosen % 2))))
          : [...data.shape.slice(0, batch), ...own, tuple];
        const wanted = picksOf(shape, numbers, (k) => data.shape[elements ? axis : batch + (k % tuple)]!);
        const result = elements ? gatheredElements(data, wanted, axis) : gatheredTuples(data, wanted, batch);
        if (result.shape.length > 7 || count(result.shape) > 3000 || shape.length > 8) return;
        const [read, to] = [viewedAs(`i${g}`, wanted, nested), `g${g}`];
        const attribute = elements ? intAttribute("axis", axis) : intAttribute("batch_dims", batch);
        graph.push(...node(op, [from, read], [to], [...attribute, ...named(to)]));
        nodes++;
        [from, data] = through(to, result, behind);
        return;
      }
      const extent = data.shape[axis]!;
      const indices: Plain = {
        shape: own,
        values: Array.from({ length: count(own) }, (_, k) => (numbers[k]! % (2 * extent)) - extent),
      };
      const name = `i${g}`;
      const picks: Plain = { shape: [2], values: numbers.slice(0, 2).map((n) => n % own[0]!) };
      const before = nodes;
      const direct = through(name, indices, onIndices);
      const viewed = nested && onIndices.length === 0 ? gathered(indices, picks, 0) : direct[1];
      const read = viewed === direct[1] ? direct[0] : `${name}p`;
      const result = gathered(data, viewed, axis);
      if (g > 0 && (result.shape.length > 7 || count(result.shape) > 3000)) {
        nodes = before;
        return;
      }
      inputs[name] = indices;
      graph.push(...input(name, onnxTypes.i64, own));
      if (read === `${name}p`) {
        inputs[`p${g}`] = picks;
        graph.push(...input(`p${g}`, onnxTypes.i64, [2]), ...node("Gather", [name, `p${g}`], [read]));
        nodes++;
      }
      const to = `g${g}`;
      graph.push(...node("Gather", [from, read], [to], [...intAttribute("axis", axis), ...named(to)]));
      nodes++;
      [from, data] = through(to, result, behind);
    });
    graph.push(...bytes(12, info(from, onnxTypes.i32, data.shape)));
    return { graph, inputs, wanted: data, nodes };
  })
  .filter(({ wanted }) => wanted.shape.length <= 8 && count(wanted.shape) <= 3000);

const gathersOf = (graph: readonly number[]): OnnxGather[] => findGathers(readModel(model(graph), "m.onnx"));

const foldedOf = (graph: readonly number[]) => {
  const last = gathersOf(graph).at(-1);
  if (last?.ok !== true) throw new Error(last?.diagnostic.message ?? "no gather");
  return last;
};

describe("gathers and the views around them", () => {
  it(
    "folded, give the bits of the nodes one at a time, on reference and sim",
    { timeout: 120_000 },
    async () => {
      let folded = 0;
      const operators = new Set<string>();
      await fc.assert(
        fc.asyncProperty(chains, async ({ graph, inputs, wanted, nodes }) => {
          const gather = foldedOf(graph);
          expect(gather.kept).toEqual([]);
          expect(gather.folded?.nodes.length ?? 1).toBe(nodes);
          if (gather.folded === undefined) return;
          folded++;
          for (const { op } of gather.folded.nodes) operators.add(op);
          const { func } = gather.folded;
          const kernel = compile(func, { target: targets.webgpu });
          const tensors = Object.fromEntries(
            func.operands.slice(0, -1).map(({ name, role }) => {
              const given = inputs[name] ?? inputs[role === "data" ? "x" : "i0"]!;
              const { values } = given;
              return [name, role === "data" ? Int32Array.from(values) : BigInt64Array.from(values, BigInt)];
            }),
          );
          for (const backend of ["reference", "sim"] as const) {
            const { outputs } = await run(kernel, tensors, { backend });
            expect(Array.from(outputs.output as Int32Array)).toEqual(wanted.values);
          }
          expect(func.operands.at(-1)?.type.shape).toEqual(wanted.shape);
        }),
        { numRuns: 150 },
      );
      expect(folded).toBeGreaterThan(60);
      const all = ["Gather", "GatherElements", "GatherND", "Transpose", "Slice", "Expand", "Reshape"];
      expect([...operators]).toEqual(expect.arrayContaining([...all, "Squeeze", "Unsqueeze", "Flatten"]));
    },
  );
});

const x = input("x", onnxTypes.i32, [4, 6]);
const ids = input("ids", onnxTypes.i64, [3]);
const gather = node("Gather", ["t", "ids"], ["g"], named("pick"));
const transposed = node("Transpose", ["x"], ["t"], named("turn"));
const y = bytes(12, info("y", onnxTypes.i32));

describe("a folded gather", () => {
  it("says its nodes and its map", () => {
    const chain = [
      ...transposed,
      ...gather,
      ...list("s", [-1]),
      ...list("e", [-9]),
      ...list("a", [1]),
      ...list("st", [-2]),
      ...node("Slice", ["g", "s", "e", "a", "st"], ["y"], named("cut")),
    ];
    const { folded, kept, program } = foldedOf([...x, ...ids, ...y, ...chain]);
    expect(kept).toEqual([]);
    expect(program.data.shape).toEqual([6, 4]);
    expect(folded?.nodes.map(labelOf)).toEqual(['Transpose "turn"', 'Gather "pick"', 'Slice "cut"']);
    expect(folded?.func.name).toBe("pick_folded");
    expect(folded?.func.operands.map(({ type }) => type.shape)).toEqual([[4, 6], [3], [3, 2]]);
    // Slice of 4 columns from the last, two apart: 3 - 2 * d1; the rows of the transposed are the data's columns.
    expect(printFunc(folded!.func)).toContain("(3 - 2 * d1, from_end(%indices[d0]))");
  });

  it("names the tensors of the model that it reads", () => {
    const { folded } = foldedOf([...x, ...ids, ...y, ...transposed, ...gather]);
    expect(folded?.reads).toEqual({ data: "x", indices: "ids" });
  });

  it("reads a slice that goes backwards to the end, which INT32_MAX names whatever the step", () => {
    const cut = (end: number): readonly number[] => [
      ...transposed,
      ...gather,
      ...list("s", [2]),
      ...list("e", [end]),
      ...list("a", [0]),
      ...list("st", [-1]),
      ...node("Slice", ["g", "s", "e", "a", "st"], ["y"], named("cut")),
    ];
    const shapeOf = (end: number) =>
      foldedOf([...x, ...ids, ...y, ...cut(end)]).folded?.func.operands.at(-1)?.type.shape;
    expect(shapeOf(2 ** 31 - 1)).toEqual([3, 4]);
    expect(shapeOf(0)).toEqual([2, 4]);
  });

  it("says the rows and columns of a merged tensor by div and mod", () => {
    const merge = [...list("s", [24]), ...node("Reshape", ["x", "s"], ["t"], named("merge"))];
    const { folded, kept } = foldedOf([...x, ...ids, ...merge, ...gather, ...y]);
    expect(kept).toEqual([]);
    expect(folded?.nodes.map(labelOf)).toEqual(['Reshape "merge"', 'Gather "pick"']);
    expect(printFunc(folded!.func)).toContain("let s0 = from_end(%indices[d0]) -> (s0 div 6, s0 mod 6)");
  });

  it("leaves a slice whose bounds hang on values alone, and names it", () => {
    const bounds = ["s", "e"].flatMap((name) => input(name, onnxTypes.i64, [1]));
    const cut = node("Slice", ["x", "s", "e"], ["t"], named("cut"));
    const shaped = bytes(13, info("t", onnxTypes.i32, [2, 6]));
    const { folded, kept } = foldedOf([...x, ...ids, ...bounds, ...cut, ...gather, ...shaped, ...y]);
    expect(folded).toBeUndefined();
    expect(kept).toEqual(['Slice "cut" is not folded: from [4, 6] to [2, 6] its coordinates are not known']);
  });

  it("keeps its own output where something else reads it", () => {
    const tail = [...node("Transpose", ["g"], ["y"], named("back")), ...node("Relu", ["g"], ["z"])];
    const { folded } = foldedOf([...x, ...ids, ...transposed, ...gather, ...tail, ...y]);
    expect(folded?.nodes.map(labelOf)).toEqual(['Transpose "turn"', 'Gather "pick"']);
  });

  it("has the tensors that the model fixes", () => {
    const table = initializer("f32", [2, 3], bytes(9, new Uint8Array(24)), "x");
    const { folded, data } = foldedOf([...table, ...ids, ...transposed, ...gather, ...y]);
    expect(data).toBeUndefined();
    expect(Object.keys(folded?.inputs ?? {})).toEqual(["data"]);
    expect(folded?.inputs["data"]?.type.shape).toEqual([2, 3]);
  });

  it("does not grow without bound: a chain of gathers by themselves stays apart once it is long", () => {
    const doubling = Array.from({ length: 30 }, (_, k) =>
      node("Gather", [`c${k}`, `c${k}`], [`c${k + 1}`]),
    ).flat();
    const all = gathersOf([...input("c0", onnxTypes.i64, [3]), ...doubling, ...bytes(12, info("c30", 7))]);
    const sites = all.map((entry) => (entry.ok ? (entry.folded?.func.map.indices.length ?? 1) : 0));
    expect(sites).toHaveLength(30);
    expect(Math.max(...sites)).toBeLessThanOrEqual(16);
    expect(Math.max(...sites)).toBeGreaterThan(1);
  });
});

describe("a reduction behind a gather", () => {
  const rows = node("Gather", ["x", "ids"], ["g"], named("pick"));
  const axes = (...list: readonly number[]): readonly number[] => [
    ...intsAttribute("axes", list),
    ...intAttribute("keepdims", 0),
  ];
  const firstOf = (graph: readonly number[], version: number): OnnxGather & { readonly ok: true } => {
    const [first] = findGathers(readModel(model(graph, version), "m.onnx"));
    if (first?.ok !== true) throw new Error("no gather");
    return first;
  };
  const reduced = (op: string, type: number, attributes: readonly number[], rest: readonly number[] = []) =>
    firstOf(
      [
        ...input("x", type, [4, 6]),
        ...ids,
        ...rows,
        ...node(op, ["g"], ["s"], [...attributes, ...named("sum")]),
        ...(rest.length > 0 ? rest : node("Identity", ["s"], ["y"], named("end"))),
        ...bytes(12, info("y", type)),
      ],
      11,
    );

  it("is what the terms along its dim come to, with what stands behind it", () => {
    const { folded, kept } = reduced("ReduceMean", onnxTypes.f16, axes(0));
    expect(kept).toEqual([]);
    expect(folded?.nodes.map(labelOf)).toEqual(['Gather "pick"', 'ReduceMean "sum"', 'Identity "end"']);
    expect(printFunc(folded!.func)).toContain(
      "(d0; r < 3) yield f16(mean(f32(%data[from_end(%indices[r]), d0])))",
    );
    expect(folded?.hints.map(({ code, message }) => `${code} ${message}`)).toEqual([
      expect.stringMatching(
        /^TC910 the order in which ReduceMean "sum" adds its 3 elements is not defined by ONNX/,
      ),
    ]);
    // Along a row, the index is the element's own.
    const along = reduced("ReduceMax", onnxTypes.u8, axes(-1));
    expect(printFunc(along.folded!.func)).toContain(
      "(d0; r < 6) yield u8(max(i32(%data[from_end(%indices[d0]), r])))",
    );
    expect(along.folded?.hints).toEqual([]);
    expect(reduced("ReduceSum", onnxTypes.i32, axes(0)).folded?.hints).toEqual([]);
  });

  it("is divided, as floats alone are", () => {
    const by = (type: number): readonly number[] => [
      ...input("n", type, [6]),
      ...node("Div", ["s", "n"], ["y"], named("shared")),
    ];
    const { folded, kept } = reduced("ReduceSum", onnxTypes.f16, axes(0), by(onnxTypes.f16));
    expect(kept).toEqual([]);
    expect(printFunc(folded!.func)).toContain(
      "yield f16(f32(f16(fold(f32(%x[from_end(%ids[r]), d0])))) / f32(%n[d0]))",
    );
    const whole = reduced("ReduceSum", onnxTypes.i32, axes(0), by(onnxTypes.i32));
    expect(whole.folded?.nodes.map(labelOf)).toEqual(['Gather "pick"', 'ReduceSum "sum"']);
    expect(whole.kept).toEqual(['Div "shared" is not folded: values are not computed in i32']);
  });

  it("has the index values of the element before those of its terms", () => {
    const other = [
      ...input("b", onnxTypes.f32, [5, 6]),
      ...input("one", onnxTypes.i64, []),
      ...node("Gather", ["b", "one"], ["h"], named("other")),
      ...node("Mul", ["s", "h"], ["y"], named("scaled")),
    ];
    const { folded, kept } = reduced("ReduceSum", onnxTypes.f32, axes(0), other);
    expect(kept).toEqual([]);
    expect(printFunc(folded!.func)).toContain(
      "(d0; r < 3) let s0 = from_end(%one[]) let s1 = from_end(%ids[r]) yield fold(%x[s1, d0]) * %b[s0, d0]",
    );
  });

  const twice = node("Mul", ["s", "s"], ["y"], named("square"));
  const again = node("ReduceSum", ["s"], ["y"], [...intAttribute("keepdims", 0), ...named("all")]);
  it.each<[string, ReturnType<typeof reduced>, string]>([
    ["of two dims", reduced("ReduceSum", onnxTypes.f32, []), "it reduces another number of dims than one"],
    ["to a mean of integers", reduced("ReduceMean", onnxTypes.i32, axes(0)), "a mean of i32 is no f32"],
    ["of doubles", reduced("ReduceSum", onnxTypes.f64, axes(0)), "values are not computed in f64"],
    [
      "that is read twice",
      reduced("ReduceSum", onnxTypes.f32, axes(0), twice),
      "a program has one reduction",
    ],
    ["of a reduction", reduced("ReduceMax", onnxTypes.f32, axes(0), again), "a program has one reduction"],
  ])("%s ends what is folded, and says why", (_, { kept }, why) => {
    expect(kept).toEqual([expect.stringContaining(`is not folded: ${why}`)]);
  });
});

describe("a gather over its own sum", () => {
  interface Around {
    /** Nodes between the gather and Div, and what Div reads. */
    readonly sum?: readonly number[];
    readonly div?: readonly [string, string];
    readonly type?: number;
    /** Nodes behind Div, and what else the graph returns. */
    readonly rest?: readonly number[];
  }
  const type = onnxTypes.f32;
  const sumOf = (x: string, kept = 1): number[] =>
    node(
      "ReduceSum",
      [x],
      ["s"],
      [...intsAttribute("axes", [-1]), ...intAttribute("keepdims", kept), ...named("sum")],
    );
  const normalized = (
    { sum = sumOf("g"), div = ["g", "s"], type: of = type, rest = [] }: Around,
    target?: string,
  ) => {
    const graph = [
      ...input("w", of, [8, 64]),
      ...input("ids", onnxTypes.i64, [8, 4]),
      ...node("GatherElements", ["w", "ids"], ["g"], [...intAttribute("axis", 1), ...named("pick")]),
      ...sum,
      ...node("Div", div, ["y"], named("share")),
      ...rest,
      ...bytes(12, info("y", of)),
    ];
    const [first] = findGathers(readModel(model(graph, 11), "m.onnx"), {}, defined({ target }));
    if (first?.ok !== true) throw new Error("no gather");
    return first;
  };
  const nodesOf = (gather: OnnxGather & { readonly ok: true }): readonly string[] | undefined =>
    gather.folded?.nodes.map(({ op }) => op);

  it("is one program", () => {
    const gather = normalized({});
    expect(gather.kept).toEqual([]);
    expect(nodesOf(gather)).toEqual(["GatherElements", "ReduceSum", "Div"]);
    expect(printFunc(gather.folded!.func)).toContain(
      "(d0, d1; r < 4) yield %data[d0, from_end(%indices[d0, d1])] / fold(%data[d0, from_end(%indices[d0, r])])",
    );
    expect(gather.folded!.hints.map(({ code }) => code)).toEqual(["TC910"]);
  });

  it("is one program with casts and views on the way, with what stands behind Div, and as a square", () => {
    const cast = (from: string, to: string, of: number): number[] =>
      node("Cast", [from], [to], intAttribute("to", of));
    const wide = normalized({
      type: onnxTypes.f16,
      sum: [...cast("g", "c", type), ...sumOf("c"), ...cast("s", "t", onnxTypes.f16)],
      div: ["g", "t"],
    });
    expect(wide.kept).toEqual([]);
    expect(nodesOf(wide)).toEqual(["GatherElements", "Cast", "ReduceSum", "Cast", "Div"]);
    const kept = normalized({
      sum: [...sumOf("g", 0), ...node("Unsqueeze", ["s"], ["t"], intsAttribute("axes", [1]))],
      div: ["g", "t"],
      rest: node("Identity", ["y"], ["z"], []),
    });
    expect(kept.kept).toEqual([]);
    expect(nodesOf(kept)?.slice(0, 4)).toEqual(["GatherElements", "ReduceSum", "Unsqueeze", "Div"]);
    const square = normalized({ sum: node("Mul", ["g", "g"], ["s"], []) });
    expect(square.kept).toEqual([]);
    expect(nodesOf(square)).toEqual(["GatherElements", "Mul", "Div"]);
  });

  const two = node("ReduceSum", ["g"], ["s"], [...intAttribute("keepdims", 1), ...named("sum")]);
  const reads = (node: string, tensor = "g"): string =>
    `${node} is not folded: "${tensor}" is read by others too`;
  it.each<readonly [string, Around, readonly string[]]>([
    [
      "that the graph returns",
      { rest: bytes(12, info("g", type)) },
      [reads('ReduceSum "sum"'), reads('Div "share"')],
    ],
    [
      "whose sum the graph returns",
      { rest: bytes(12, info("s", type)) },
      [reads('ReduceSum "sum"'), reads('Div "share"', "s")],
    ],
    [
      "that a third node reads",
      { rest: node("Softmax", ["g"], ["other"]) },
      [reads('ReduceSum "sum"'), reads('Div "share"')],
    ],
    [
      "whose sum is of two dims",
      { sum: two },
      ['ReduceSum "sum" is not folded: it reduces another number of dims than one', reads('Div "share"')],
    ],
    [
      "of integers",
      { type: onnxTypes.i32 },
      [reads('ReduceSum "sum"'), 'Div "share" is not folded: values are not computed in i32'],
    ],
    [
      "over the sum of a sum",
      {
        sum: [
          ...sumOf("g"),
          ...node("ReduceSum", ["s"], ["t"], [...intsAttribute("axes", [0]), ...named("all")]),
        ],
        div: ["g", "t"],
      },
      [
        reads('ReduceSum "sum"'),
        'ReduceSum "all" is not folded: a program has one reduction',
        reads('Div "share"'),
      ],
    ],
  ])("%s stays apart, and why", (_, around, why) => {
    const gather = normalized(around);
    expect(gather.kept).toEqual(why);
    expect(nodesOf(gather)).toBeUndefined();
  });

  it.each(["cpu", "webgpu", "ascend-a2"])("is one program where that takes less, on %s", (target) => {
    const gather = normalized({}, target);
    expect(gather.kept).toEqual([]);
    expect(nodesOf(gather)).toEqual(["GatherElements", "ReduceSum", "Div"]);
    const { folded, separate } = gather.folded!.cycles!;
    expect(folded).toBeLessThan(separate);
  });
});
