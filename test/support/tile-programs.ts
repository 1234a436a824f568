/** Tile programs written by hand: single transfers, and random nests of loops that no compiler would write. */
import fc from "fast-check";
import {
  alignUp,
  dtypeBytes,
  type AccessMap,
  type DType,
  type GatherStmt,
  type LoadStmt,
  type Shape,
  type Stmt,
  type StoreStmt,
  type SyncStmt,
  type TileFunc,
  type UbBuffer,
} from "../../ir/index.js";
import { add, constant, iv, min, sub, type IndexExpr } from "../../ir/expr.js";

const bufferOf = (name: string, dtype: DType, shape: Shape, buffers: 1 | 2 = 1): UbBuffer => ({
  name,
  dtype,
  shape,
  rowBytes: alignUp((shape[shape.length - 1] ?? 1) * dtypeBytes[dtype], 32),
  buffers,
});

/** One load of a box out of a tensor that is larger along every dim, so that no two dims fold. */
export function loadOf(dtype: DType, box: Shape): TileFunc {
  const tensor = { name: "data", type: { dtype, shape: box.map((extent) => extent + 1) } };
  return {
    level: "tile",
    name: "load",
    data: tensor,
    indices: { name: "indices", type: { dtype: "i32", shape: [1] } },
    output: { name: "output", type: { dtype, shape: [1] } },
    schedule: {},
    body: [
      { op: "alloc", buffer: bufferOf("data_ub", dtype, box) },
      {
        op: "load",
        from: { buffer: "data", offsets: box.map(() => constant(0)), sizes: box.map(constant) },
        to: "data_ub",
      },
    ],
  };
}

/** Rows of a vector gather from a line of f32, whose indices are flat addresses as they are: no steps on them. */
export function gatherOfRows(rows: number, columns: number): TileFunc {
  const map: AccessMap = {
    outRank: 2,
    results: [
      {
        kind: "indirect",
        at: [
          { kind: "dim", dim: 0 },
          { kind: "dim", dim: 1 },
        ],
        negative: "illegal",
      },
    ],
  };
  const box = [constant(rows), constant(columns)];
  const origin = [constant(0), constant(0)];
  return {
    level: "tile",
    name: "rows",
    data: { name: "data", type: { dtype: "f32", shape: [1024] } },
    indices: { name: "indices", type: { dtype: "i32", shape: [rows, columns] } },
    output: { name: "output", type: { dtype: "f32", shape: [rows, columns] } },
    schedule: {},
    body: [
      { op: "alloc", buffer: bufferOf("data_ub", "f32", [1024]) },
      { op: "alloc", buffer: bufferOf("indices_ub", "i32", [rows, columns]) },
      { op: "alloc", buffer: bufferOf("output_ub", "f32", [rows, columns]) },
      { op: "load", from: { buffer: "indices", offsets: origin, sizes: box }, to: "indices_ub" },
      {
        op: "gather",
        data: { buffer: "data_ub", offsets: [constant(0)], sizes: [constant(1024)] },
        indices: { buffer: "indices_ub", offsets: origin, sizes: box },
        to: { buffer: "output_ub", offsets: origin, sizes: box },
        map,
        oob: "unchecked",
        origin,
      },
    ],
  };
}

const extent = 24;
const map: AccessMap = {
  outRank: 2,
  results: [
    {
      kind: "indirect",
      at: [
        { kind: "dim", dim: 0 },
        { kind: "dim", dim: 1 },
      ],
      negative: "illegal",
    },
    { kind: "direct", dim: 1 },
  ],
};

interface Scope {
  readonly name: string;
  readonly upper: IndexExpr;
}

/** Sizes that are never negative where the loops in scope run. */
const sizeIn = (scopes: readonly Scope[]): fc.Arbitrary<IndexExpr> => {
  const whole = fc.integer({ min: 0, max: 5 }).map(constant);
  if (scopes.length === 0) return whole;
  const rest = fc.constantFrom(...scopes).map(({ name, upper }) => sub(upper, iv(name)));
  const clipped = fc
    .tuple(fc.integer({ min: 1, max: 5 }), rest)
    .map(([most, left]) => min(constant(most), left));
  const variable = fc.constantFrom(...scopes).map(({ name }) => iv(name));
  const growing = fc
    .tuple(fc.integer({ min: 1, max: 20 }), variable)
    .map(([most, value]) => min(constant(most), value));
  // No variable passes 43: four starts of up to 4 and 13.
  const steep = fc
    .tuple(fc.integer({ min: 1, max: 80 }), variable)
    .map(([most, value]) => min(constant(most), sub(constant(90), add(value, value))));
  return fc.oneof(whole, rest, clipped, clipped, growing, steep);
};

const statementIn = (scopes: readonly Scope[]): fc.Arbitrary<Stmt> => {
  const offsets = [constant(0), constant(0)];
  const box = fc.tuple(sizeIn(scopes), sizeIn(scopes));
  const load = fc.constantFrom("data", "indices").chain((name) =>
    box.map((sizes): LoadStmt => ({
      op: "load",
      from: { buffer: name, offsets, sizes },
      to: `${name}_ub`,
    })),
  );
  const store = box.map((sizes): StoreStmt => ({
    op: "store",
    from: "output_ub",
    to: { buffer: "output", offsets, sizes },
  }));
  const gather = box.map((sizes): GatherStmt => ({
    op: "gather",
    data: { buffer: "data_ub", offsets, sizes },
    indices: { buffer: "indices_ub", offsets, sizes },
    to: { buffer: "output_ub", offsets, sizes },
    map,
    oob: "clamp",
    origin: offsets,
  }));
  const pipe = fc.constantFrom("MTE2" as const, "V" as const, "MTE3" as const);
  const sync = fc
    .record({ from: pipe, to: pipe, lag: fc.constantFrom(0 as const, 1 as const) })
    .map((rest): SyncStmt => ({ op: "sync", ...rest }));
  return fc.oneof(load, store, gather, sync, sync);
};

/** A loop from a constant or an outer variable, to a constant, a distance from where it starts, or the less of both. */
const loopIn = (scopes: readonly Scope[], mode: "parallel" | "serial"): fc.Arbitrary<[Scope, Stmt]> =>
  fc
    .record({
      from: fc.constantFrom(undefined, ...scopes.map((scope) => scope.name)),
      start: fc.nat(4),
      length: fc.integer({ min: 0, max: 13 }),
      step: fc.integer({ min: 1, max: 5 }),
      kind: fc.constantFrom("constant", "distance", "less"),
    })
    .map(({ from, start, length, step, kind }) => {
      const name = `i${scopes.length}`;
      const lower = from === undefined ? constant(start) : iv(from);
      const far = add(lower, constant(length));
      const upper =
        kind === "constant" ? constant(extent) : kind === "less" ? min(far, constant(extent)) : far;
      return [
        { name, upper },
        { op: "for", iv: name, lower, upper, step, mode, body: [] },
      ];
    });

function bodyIn(scopes: readonly Scope[], parallel: boolean, depth: number): fc.Arbitrary<readonly Stmt[]> {
  const loop = (mode: "parallel" | "serial"): fc.Arbitrary<Stmt> =>
    loopIn(scopes, mode).chain(([scope, stmt]) =>
      bodyIn([...scopes, scope], mode === "parallel", depth - 1).map(
        (body): Stmt => ({ ...stmt, body }) as Stmt,
      ),
    );
  const statement = statementIn(scopes);
  const serial = depth === 0 ? statement : fc.oneof({ weight: 3, arbitrary: statement }, loop("serial"));
  const task = fc.array(serial, { maxLength: 6 });
  if (!parallel || depth === 0) return task;
  // Now and then several parallel loops side by side, or one beside other statements.
  const beside = fc
    .tuple(loop("parallel"), fc.oneof(loop("parallel"), statement))
    .map(([first, second]) => [first, second]);
  const nest = loop("parallel").map((stmt) => [stmt]);
  return fc.oneof({ weight: 4, arbitrary: nest }, { weight: 2, arbitrary: task }, beside);
}

/** Programs of loops as a user may write them, whatever they compute. */
export const randomTileProgram: fc.Arbitrary<TileFunc> = fc
  .tuple(bodyIn([], true, 3), fc.integer({ min: 1, max: 6 }))
  .map(([body, cores]): TileFunc => {
    const tensor = (name: string, dtype: DType) => ({ name, type: { dtype, shape: [extent, extent] } });
    return {
      level: "tile",
      name: "random",
      data: tensor("data", "f32"),
      indices: tensor("indices", "i32"),
      output: tensor("output", "f32"),
      schedule: { cores },
      body: [
        ...(["data", "indices", "output"] as const).map(
          (name) =>
            ({
              op: "alloc",
              buffer: bufferOf(`${name}_ub`, name === "indices" ? "i32" : "f32", [extent, extent]),
            }) as const,
        ),
        ...body,
      ],
    };
  });
