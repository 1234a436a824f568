/** Hints of refused element types: each operator takes the type that the hint says to cast to. */
import { describe, expect, it } from "vitest";
import {
  inputNames,
  findOp,
  opDefs,
  resolveSource,
  sourceOp,
  type Diagnostic,
  type DType,
  type SourceOp,
} from "../../ir/index.js";
import { program } from "../../src/api/program.js";
import { describe as describeWay, gathers } from "../docs/dialects-page.js";
import { scatters } from "../docs/scatters.js";

/** A program of each operator. */
const examples = [...gathers, ...scatters].flatMap((same) =>
  same.ways.map((way) => sourceOp(program(describeWay(way, same)))),
);

const withType = (source: SourceOp, k: number, dtype: DType): SourceOp => ({
  ...source,
  inputs: source.inputs.map((type, j) => (j === k ? { ...type, dtype } : type)),
});
const refusedOf = (source: SourceOp): Diagnostic | undefined => {
  const result = resolveSource(source);
  return result.ok ? undefined : result.diagnostics.find(({ code }) => code === "TC104");
};

describe("the type of a hint is taken by", () => {
  it.each(examples)("$op", (source) => {
    const def = findOp(source.op, opDefs)!;
    inputNames(def, source.inputs).forEach((name, k) => {
      if (k === 0) return;
      for (const dtype of ["f32", "f16", "string", "u8"] as const) {
        const refused = refusedOf(withType(source, k, dtype));
        if (refused === undefined) continue;
        const { message, hint } = refused;
        expect(hint, message).toMatch(/^(?:cast|use) /);
        const [, named, to] = /^cast (\w+) to (\w+)$/.exec(hint!) ?? [];
        if (to === undefined) continue;
        expect(named).toBe(name);
        expect(refusedOf(withType(source, k, to as DType)), message).toBeUndefined();
      }
    });
  });

  it("every operator", () => {
    expect(new Set(examples.map(({ op }) => op))).toEqual(new Set(opDefs.map(({ name }) => name)));
  });
});
