/**
 * Random types and attributes for each operator, most of them wrong: a program is compiled or refused with its reason, and no pass
 * breaks a rule. OPERATOR_DRAWS sets the number of draws, OPERATOR_SEED their seed.
 */
import { describe, expect, it } from "vitest";
import {
  CompileError,
  opDefs,
  outputOf,
  type AttrSpec,
  type AttrValue,
  type Attrs,
  type OpDef,
  type Shape,
  type TensorType,
} from "../../ir/index.js";
import { compile, program, run, targets } from "../../src/index.js";
import { drawer, type Draw } from "../fuzz/mutate.js";
import { rejections, shown } from "../support/refusal.js";

const draws = Number(process.env["OPERATOR_DRAWS"] ?? 6000);

/** Draws of the parts of a program. Extents are few and small, 0 among them, so that shapes often fit together. */
class Drawn {
  constructor(private readonly draw: Draw) {}

  of<T>(list: readonly T[]): T {
    return list[this.draw(list.length)]!;
  }

  private extent(): number {
    return this.of([0, 1, 1, 2, 2, 3]);
  }

  shape(): Shape {
    return Array.from({ length: this.draw(4) }, () => this.extent());
  }

  attrs(specs: OpDef["attrs"], axis: number): Attrs {
    return Object.fromEntries(
      Object.entries(specs).flatMap(([name, spec]) => {
        const value = this.draw(3) === 0 ? undefined : this.value(spec, axis);
        return value === undefined ? [] : [[name, value]];
      }),
    );
  }

  private value(spec: AttrSpec, axis: number): AttrValue | undefined {
    switch (spec.kind) {
      case "int":
        return this.of([-1, 0, 0, 1, 2, axis, axis]);
      case "number":
        return this.of([0, 1, -1.5, 3]);
      case "word":
        return this.of(spec.words);
      case "ints":
        return Array.from({ length: this.draw(4) }, (_, k) => this.of([k, 0, 1, 2]));
      case "text":
        return undefined;
    }
  }

  /** Shapes of data, of indices, and of an update or another input. */
  shapes(axis: number, data: Shape): readonly [Shape, Shape] {
    const along = (extent: number): Shape => data.map((e, k) => (k === axis ? extent : e));
    const index = this.of([
      along(this.extent()),
      this.shape(),
      [...this.shape().slice(0, 2), this.of([0, 1, 2])],
      [this.extent()],
    ]);
    const length = index.at(-1) ?? 1;
    const update = this.of([
      index,
      [...index.slice(0, -1), ...data.slice(length)],
      [...data.slice(0, axis), ...index, ...data.slice(axis + 1)],
      along(length),
      [],
      this.shape(),
    ]);
    return [index, update];
  }

  types(def: OpDef, axis: number, data: Shape): readonly [TensorType, TensorType, ...TensorType[]] {
    const dtype = this.of(["f32", "f32", "i32", "bool"] as const);
    const indexType = this.of(["i32", "i64", "i64"] as const);
    const [index, update] = this.shapes(axis, data);
    const others = Math.max(0, (def.inputs ?? []).length - 2 - this.draw(2));
    return [
      { dtype, shape: data },
      { dtype: indexType, shape: index },
      ...Array.from({ length: others }, (_, k) => ({
        dtype: k === 0 ? dtype : this.of([dtype, indexType]),
        shape: update,
      })),
    ];
  }
}

describe("an operator of random types and attributes", () => {
  it("compiles for every kind of target, or is refused with a reason", () => {
    const draw = drawer(Number(process.env["OPERATOR_SEED"] ?? 5));
    const drawn = new Drawn(draw);
    const counts = { compiled: 0, refused: 0 };
    for (let k = 0; k < draws; k++) {
      const def = drawn.of(opDefs);
      const shape = drawn.shape();
      const axis = draw(Math.max(1, shape.length));
      const [data, indices, ...others] = drawn.types(def, axis, shape);
      const description = { op: def.name, attrs: drawn.attrs(def.attrs, axis), data, indices, others };
      const target = targets[drawn.of(["webgpu", "ascendA2", "cpu"] as const)];
      try {
        compile(program(description), { target });
        counts.compiled++;
      } catch (thrown) {
        expect(thrown, JSON.stringify(description)).toBeInstanceOf(CompileError);
        counts.refused++;
      }
    }
    expect(counts.compiled).toBeGreaterThan(draws / 20);
    expect(counts.refused).toBeGreaterThan(draws / 20);
  });

  it.each<readonly [string, Attrs, Shape, Shape, Shape]>([
    ["jax.take_along_axis", { axis: 1 }, [0, 3, 1], [0, 3, 1], [0, 3, 1]],
    ["jax.take_along_axis", { axis: 0 }, [3, 18, 1], [0, 18, 1], [0, 18, 1]],
    ["numpy.take", { mode: "raise" }, [1, 3, 0], [1, 2], [1, 2]],
    ["numpy.take", {}, [2, 0, 0], [2, 2], [2, 2]],
    ["torch.take_along_dim", {}, [2, 0, 0], [3], [3]],
  ])("compiles %s %j of data %j and indices %j", (op, attrs, data, indices, output) => {
    const func = program({
      op,
      attrs,
      data: { dtype: "f32", shape: data },
      indices: { dtype: "i64", shape: indices },
    });
    expect(outputOf(func).type.shape).toEqual(output);
    for (const target of [targets.webgpu, targets.ascendA2, targets.cpu])
      expect(outputOf(compile(func, { target }).tile).type.shape).toEqual(output);
  });

  it("compiles torch.embedding_bag of no bag, with weights", () => {
    const func = program({
      op: "torch.embedding_bag",
      attrs: { mode: "sum", include_last_offset: 1 },
      data: { dtype: "f16", shape: [5, 3] },
      indices: { dtype: "i32", shape: [4] },
      others: [
        { dtype: "i32", shape: [1] },
        { dtype: "f16", shape: [4] },
      ],
    });
    for (const target of [targets.webgpu, targets.ascendA2, targets.cpu])
      expect(outputOf(compile(func, { target }).tile).type).toEqual({ dtype: "f16", shape: [0, 3] });
  });
});

it("a bad index of pages of one row has one name in the reference and in the simulator", async () => {
  const kernel = compile(
    program({
      op: "pypto.gather_in_ub",
      attrs: { block_size: 1 },
      data: { dtype: "f32", shape: [7, 4] },
      indices: { dtype: "i32", shape: [1, 3] },
      others: [{ dtype: "i32", shape: [1, 5] }],
    }),
  );
  const inputs = {
    param: new Float32Array(28),
    indices: Int32Array.of(0, 4, 1),
    block_table: Int32Array.of(0, 1, 2, 3, 7),
  };
  for (const backend of ["reference", "sim"] as const) {
    const refused = await rejections(() => run(kernel, inputs, { backend }));
    expect(shown(refused), backend).toEqual([
      "TC601 index 7 at block_table[0, 4] is out of range for dim 0 of param, which takes [0, 6]",
    ]);
  }
});
