/** Maps that are no access maps are refused where they are written, or by the verifier where they are built. */
import { describe, expect, it } from "vitest";
import {
  add,
  dim,
  index,
  constant,
  iv,
  min,
  parseModule,
  printFunc,
  verifyStructure,
  type AccessFunc,
  type Linear,
  readData,
  dataCoords,
} from "../../ir/index.js";
import { targets, tryCompile } from "../../src/index.js";
import { countWork } from "../support/count-work.js";
import { parsed, parsedAccess } from "../support/parsed.js";

const text = (coord: string): string =>
  `func @f(%x: tensor<8x2xf32>, %i: tensor<4xi32>) -> tensor<4x2xf32> {\n` +
  `  %y = access.gather %x, %i (d0, d1) -> (${coord}, d1) {oob = error}\n  return %y\n}\n`;

/** The program with another coordinate along dim 1 of the data. */
function built(coord: Linear): AccessFunc {
  const func = parsedAccess(text("%i[d0]"));
  return { ...func, map: { ...func.map, ...readData([dataCoords(func.map)[0]!, coord]) } };
}

describe("what stands in tile programs alone", () => {
  it.each(["min(d0, 3)", "min(%i[d0], 3)", "%i[min(d0, 2)]", "error(min(%i[d0], 9) in 8)"])(
    "min is refused in the text of an access map: %s",
    (coord) => {
      const { diagnostics } = parseModule(text(coord), "map.tir");
      expect(diagnostics.map(({ code }) => code)).toEqual(["TC002"]);
      expect(diagnostics[0]!.message).toContain("min is allowed in tile programs only");
    },
  );

  it("a minimum and a loop variable are refused in a map that was built", () => {
    const refusal = (coord: Linear) =>
      verifyStructure(built(coord)).map(({ code, message }) => `${code} ${message}`);
    expect(refusal(min(dim(1), constant(1)))).toEqual([
      "TC204 A9: a map over whole tensors has a minimum in a coordinate",
    ]);
    expect(refusal(iv("t0"))).toEqual([
      "TC204 A9: a map over whole tensors has the loop variable %t0 in a coordinate",
    ]);
    expect(refusal(dim(1))).toEqual([]);
  });
});

describe("a map whose dims are not the output's", () => {
  it.each([
    ["(d0, d1) -> (%i[d0] + d1)", "4", "A1: the map has 2 output dims and the output rank 1"],
    ["(d0) -> (%i[d0] + d0)", "4x2", "A1: the map has 1 output dims and the output rank 2"],
    ["(d0, d1) -> (%i[d0] + 2 * %i[d1])", "", "A1: the map has 2 output dims and the output rank 0"],
    ["(d0, d1) -> (%i[d0] + d1)", "0", "A1: the map has 2 output dims and the output rank 1"],
    ["(d0, d1) -> (%i[d0] + d1)", "N", "A1: the map has 2 output dims and the output rank 1"],
  ])("is refused with TC204, whatever it reads in a sum: %s into [%s]", (map, output, message) => {
    const symbol = output === "N" ? "dim N <= 4\n" : "";
    const type = output === "" ? "tensor<f32>" : `tensor<${output}xf32>`;
    const { module, diagnostics } = parseModule(
      `${symbol}func @f(%x: tensor<8xf32>, %i: tensor<4xi32>) -> ${type} {\n` +
        `  %y = access.gather %x, %i ${map} {oob = error}\n  return %y\n}\n`,
      "map.tir",
    );
    expect(diagnostics).toEqual([]);
    const compiled = tryCompile(module.funcs[0]!, { target: targets.webgpu });
    const refusals = compiled.ok ? [] : compiled.diagnostics;
    expect(refusals.map(({ code, message: said }) => [code, said])).toEqual([["TC204", message]]);
  });
});

describe("a gather that was built", () => {
  const func = parsed(text("d1"));
  const refusals = (map: Partial<AccessFunc["map"]>): readonly string[] => {
    if (func?.level !== "access") throw new Error("an access program");
    return verifyStructure({ ...func, map: { ...func.map, ...map } }).map(
      ({ code, message }) => `${code} ${message}`,
    );
  };
  const write = (operand: number, coords: readonly Linear[]) => ({
    write: { table: operand, at: coords, combine: "set", duplicates: "unique" } as const,
  });
  const notIdentity = "TC204 A1: each point writes the element of the output at its own coordinates";

  it("has a point for each element of its output", () => {
    expect(refusals({ domain: [4, 2] })).toEqual([]);
    expect(refusals({ domain: [4, 1] })).toEqual([
      "TC204 A1: the map is over points [4, 1] and the output is [4, 2]",
    ]);
    expect(refusals({ domain: [2, 4] })).toEqual([
      "TC204 A1: the map is over points [2, 4] and the output is [4, 2]",
    ]);
  });

  it("writes each point's own element", () => {
    expect(refusals(write(2, [dim(0), dim(1)]))).toEqual([]);
    const others = [
      write(1, [dim(0), dim(1)]),
      write(2, [dim(1), dim(0)]),
      write(2, [dim(0)]),
      write(2, [dim(0), constant(1)]),
      write(2, [dim(0), add(dim(1), constant(1))]),
      write(2, [index(0), dim(1)]),
    ];
    expect(others.map(refusals)).toEqual(others.map(() => [notIdentity]));
  });
});

describe("an index value under wrap", () => {
  /** What the compiler says to a map from 8x8 to 4x8, through tables of 4. */
  const said = (coord: string, oob = "error"): readonly (readonly string[])[] => {
    const { module } = parseModule(
      `func @f(%x: tensor<8x8xf32>, %t: tensor<4xi32>) -> tensor<4x8xf32> {\n` +
        `  %y = access.gather %x, %t (d0, d1) -> (${coord}, d1) {oob = ${oob}}\n  return %y\n}\n`,
      "map.tir",
    );
    const compiled = tryCompile(module.funcs[0]!, { target: targets.webgpu });
    return compiled.ok
      ? []
      : compiled.diagnostics.map(({ code, message, hint = "" }) => [code, message, hint]);
  };
  const refused = [
    [
      "TC204",
      "V3: index value 0 is part of a sum, and its policy wrap states no modulus",
      "state the modulus: wrap(… in n); or keep the whole window inside the tensor: clamp(… in n)",
    ],
  ];

  it.each(["wrap(%t[d0] in 3) + d0", "wrap(%t[d1 div 2] in 3) + d0", "wrap(%t[0] in 5) + d0"])(
    "is taken with a stated modulus that keeps the sum inside: %s",
    (coord) => {
      expect(said(coord)).toEqual([]);
    },
  );

  it("is held to its modulus: a sum that leaves its extent is V1", () => {
    expect(said("wrap(%t[d0] in 6) + d0")).toEqual([
      [
        "TC204",
        "V1: a coordinate is 0 to 8, outside dim 0 of %x, which has 8 elements",
        "bound the sum: error(… in 8)",
      ],
    ]);
  });

  it.each([
    ["%t[d0] + d0", "wrap"],
    ["%t[0] + d0", "wrap"],
    ["%t[d0] + 1", "wrap"],
    ["(%t[d0] + d0) div 2", "wrap"],
    ["from_end(%t[d0]) + d0", "wrap"],
    ["wrap(%t[d0]) + d0", "error"],
  ])("is refused in a sum without one: %s under %s", (coord, oob) => {
    expect(said(coord, oob)).toEqual(refused);
  });

  it.each(["%t[d0]", "%t[d0] mod 4", "2 * %t[d0]"])("has its extent's without a sum: %s", (coord) => {
    expect(said(coord, "wrap")).toEqual([]);
  });

  it("prints its modulus in a sum, whatever the room that the sum leaves", () => {
    const { module } = parseModule(
      `func @f(%x: tensor<8xf32>, %t: tensor<4xi32>) -> tensor<4xf32> {\n` +
        "  %y = access.gather %x, %t (d0) -> (wrap(%t[d0] in 5) + d0) {oob = wrap}\n  return %y\n}\n",
      "map.tir",
    );
    expect(printFunc(module.funcs[0]!)).toContain("d0 + wrap(%t[d0] in 5)");
  });
});

describe("a mod of a dim whose size is open", () => {
  it("is proved to stay below its most, as of a size that is fixed", () => {
    const verdict = (declared: string, extent: string, rows: number): readonly string[] => {
      const { module } = parseModule(
        `${declared}func @f(%x: tensor<${rows}x3xf32>) -> tensor<${extent}x3xf32> {\n` +
          "  %y = access.gather %x (d0, d1) -> (d0 mod 4, d1) {oob = error}\n  return %y\n}\n",
        "map.tir",
      );
      const compiled = tryCompile(module.funcs[0]!, { target: targets.webgpu });
      return compiled.ok ? [] : compiled.diagnostics.map(({ message }) => message);
    };
    expect(verdict("", "2", 2)).toEqual([]);
    expect(verdict("dim N <= 2\n", "N", 2)).toEqual([]);
    expect(verdict("dim N <= 4\n", "N", 4)).toEqual([]);
    expect(verdict("dim N <= 9\n", "N", 4)).toEqual([]);
    expect(verdict("dim N <= 3\n", "N", 2)).toEqual([
      "V1: a coordinate is 0 to 2, outside dim 0 of %x, which has 2 elements",
    ]);
  });
});

describe("what is printed without a bound", () => {
  it("has the same bound when it is read, whatever else is printed without one", () => {
    const source = `func @f(%x: tensor<1x6x8xf32>, %j: tensor<4x1xi16>, %i: tensor<5xi64>) -> tensor<3x0xf32> {
  %y = access.gather %x, %j, %i (d0, d1) let r = wrap(from_end(error(%j[d0, d1] + d0 in 6) + 1) in 6)
    let s = wrap(from_end(3 + d1 of 8) in 5) -> (%i[s], s, s - wrap(%i[d1] in 5) + 4) {oob = fill}
  return %y
}
`;
    const func = parsed(source);
    const again = parsed(printFunc(func));
    expect(again?.level === "access" && func?.level === "access" && again.map).toEqual(
      func?.level === "access" && func.map,
    );
  });
});

describe("a map of many index values", () => {
  /** Each index value is read by the one before it. */
  const chain = (reads: number): string => {
    const inner = (k: number): string => (k === 0 ? "d0" : `a${k - 1}`);
    const lets = Array.from({ length: reads }, (_, k) => `let a${k} = error(%i[${inner(k)}] in 4)`);
    return text(inner(reads)).replace("(d0, d1) ->", `(d0, d1) ${lets.join(" ")} ->`);
  };
  const reread = (func: AccessFunc) => parsedAccess(printFunc(func)).map;

  it("is read, bounded, verified, compiled and printed by work that grows with their number", () => {
    const workOf = (reads: number): number =>
      countWork(() => {
        const func = parsedAccess(chain(reads));
        expect(func.map.indices.map(({ extent }) => extent)).toEqual(Array.from({ length: reads }, () => 4));
        expect(verifyStructure(func)).toEqual([]);
        expect(reread(func)).toEqual(func.map);
        expect(tryCompile(func, { target: targets.webgpu }).ok).toBe(true);
      });
    const [few, many] = [workOf(250), workOf(1000)];
    expect(many).toBeLessThan(4.5 * few);
  });

  it.each([1, 20, 21, 22, 62, 63, 64, 65, 66, 130])(
    "nests in its text no deeper than text may: %i reads",
    (reads) => {
      const func = parsedAccess(chain(reads));
      expect(reread(func)).toEqual(func.map);
    },
  );

  it("nests no deeper where coordinates around it nest too", () => {
    const deep = (inner: string, times: number): string =>
      times === 0 ? inner : deep(`(${inner} + 1) div 2`, times - 1);
    const lets = `let a = error(%i[${deep("d0", 50)}] in 4) let b = error(%i[${deep("a", 50)}] in 4)`;
    const func = parsedAccess(text("%i[b]").replace("(d0, d1) ->", `(d0, d1) ${lets} ->`));
    expect(reread(func)).toEqual(func.map);
  });

  it("is refused where quotients of quotients would nest deeper", () => {
    const { diagnostics } = parseModule(text(`%i[d0${" div 2".repeat(70)}]`), "map.tir");
    expect(diagnostics.map(({ code, message }) => [code, message])).toEqual([
      ["TC002", "coordinates nest deeper than 64"],
    ]);
    const func = parsedAccess(text(`%i[d0${" div 2".repeat(60)}]`));
    expect(reread(func)).toEqual(func.map);
  });
});
