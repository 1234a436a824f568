/** Tile programs written by hand: single transfers, and random nests of loops that no compiler would write. */
import fc from "fast-check";
import {
  add,
  alignUp,
  constant,
  dim,
  meanBytes,
  iv,
  min,
  index,
  sub,
  type AccessMap,
  type DType,
  type GatherStmt,
  type Linear,
  type LoadStmt,
  type Operand,
  type OutOfBounds,
  type Shape,
  type Stmt,
  type StoreStmt,
  type SyncStmt,
  type TileFunc,
  type UbBuffer,
  gatherOver,
  readData,
} from "../../ir/index.js";

const bufferOf = (name: string, dtype: DType, shape: Shape, buffers: 1 | 2 = 1): UbBuffer => ({
  name,
  dtype,
  shape,
  rowBytes: alignUp((shape[shape.length - 1] ?? 1) * meanBytes(dtype), 32),
  buffers,
});

const operandsOf = (
  data: Operand["type"],
  indices: Operand["type"],
  output: Operand["type"],
): readonly Operand[] => [
  { name: "data", role: "data", type: data },
  { name: "indices", role: "indices", type: indices },
  { name: "output", role: "output", type: output },
];

/** An index for each element of a matrix, into the first dim of a tensor of so many. */
const mapOf = (domain: Shape, below: number, rest: readonly Linear[], keep: OutOfBounds): AccessMap =>
  gatherOver(domain, 2, {
    indices: [{ value: { table: 1, at: [dim(0), dim(1)] }, outOfRange: keep, extent: below }],
    ...readData([index(0), ...rest]),
  });

/** One load of a box out of a tensor that is larger along every dim, so that no two dims fold. */
export function loadOf(dtype: DType, box: Shape): TileFunc {
  const one = (element: DType) => ({ dtype: element, shape: [1] });
  return {
    level: "tile",
    name: "load",
    operands: operandsOf({ dtype, shape: box.map((extent) => 2 * extent) }, one("i32"), one(dtype)),
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
  const shape = [rows, columns];
  const box = [constant(rows), constant(columns)];
  const origin = [constant(0), constant(0)];
  return {
    level: "tile",
    name: "rows",
    operands: operandsOf({ dtype: "f32", shape: [1024] }, { dtype: "i32", shape }, { dtype: "f32", shape }),
    schedule: {},
    body: [
      { op: "alloc", buffer: bufferOf("data_ub", "f32", [1024]) },
      { op: "alloc", buffer: bufferOf("indices_ub", "i32", [rows, columns]) },
      { op: "alloc", buffer: bufferOf("output_ub", "f32", [rows, columns]) },
      { op: "load", from: { buffer: "indices", offsets: origin, sizes: box }, to: "indices_ub" },
      {
        op: "gather",
        from: [
          { buffer: "data_ub", offsets: [constant(0)], sizes: [constant(1024)] },
          { buffer: "indices_ub", offsets: origin, sizes: box },
        ],
        to: { buffer: "output_ub", offsets: origin, sizes: box },
        map: mapOf(shape, 1024, [], "unchecked"),
        origins: [origin],
      },
    ],
  };
}

const extent = 24;
interface Scope {
  readonly name: string;
  readonly upper: Linear;
}

/** Sizes that are never negative where the loops in scope run. */
const sizeIn = (scopes: readonly Scope[]): fc.Arbitrary<Linear> => {
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
    from: [
      { buffer: "data_ub", offsets, sizes },
      { buffer: "indices_ub", offsets, sizes },
    ],
    to: { buffer: "output_ub", offsets, sizes },
    map: mapOf([extent, extent], extent, [dim(1)], "clamp"),
    origins: [offsets],
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
    const matrix = (dtype: DType) => ({ dtype, shape: [extent, extent] });
    return {
      level: "tile",
      name: "random",
      operands: operandsOf(matrix("f32"), matrix("i32"), matrix("f32")),
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
