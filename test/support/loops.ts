/** Random nests of loops and forms over their variables, tile loops inside view loops among them. */
import fc from "fast-check";
import { add, constant, iv, min, scale, type ForStmt, type Linear } from "../../ir/index.js";

const names = ["a", "b", "c"];

const sum = (parts: fc.Arbitrary<Linear>): fc.Arbitrary<Linear> =>
  fc.array(parts, { maxLength: 3 }).map((list) => list.reduce(add, constant(0)));

const linear = (variables: readonly string[], far: number): fc.Arbitrary<Linear> => {
  const whole = fc.integer({ min: -far, max: far }).map(constant);
  if (variables.length === 0) return whole;
  const term = fc
    .tuple(fc.constantFrom(...variables), fc.constantFrom(1, 1, 1, -1, 2, -3))
    .map(([name, by]) => scale(iv(name), by));
  return sum(fc.oneof(whole, term));
};

/** A form of some variables, with a minimum or a minimum of a minimum in it now and then. */
export const formOf = (variables: readonly string[], far = 12): fc.Arbitrary<Linear> => {
  const flat = linear(variables, far);
  const bent = fc.tuple(flat, flat).map(([a, b]) => min(a, b));
  const nested = fc.tuple(bent, flat).map(([a, b]) => min(a, b));
  const signed = fc
    .tuple(fc.oneof(bent, nested), fc.constantFrom(1, -1))
    .map(([form, by]) => scale(form, by));
  return fc.oneof(
    flat,
    signed,
    fc.tuple(flat, signed).map(([a, b]) => add(a, b)),
  );
};

/** Up to three loops, outermost first; an inner one may begin and end where an outer one says. */
export const someLoops: fc.Arbitrary<readonly ForStmt[]> = fc.integer({ min: 0, max: 3 }).chain((depth) =>
  fc.tuple(
    ...names.slice(0, depth).map((name, k) => {
      const outer = names.slice(0, k);
      const open = fc.record({ lower: formOf(outer, 4), length: fc.integer({ min: -1, max: 9 }) });
      const from = (lower: Linear, upper: Linear) => ({ lower, upper });
      const bounds = fc.oneof(
        open.map(({ lower, length }) => from(lower, add(lower, constant(length)))),
        open.map(({ lower, length }) => from(lower, min(add(lower, constant(length)), constant(7)))),
        fc.tuple(fc.integer({ min: -3, max: 2 }), formOf(outer, 8)).map(([a, b]) => from(constant(a), b)),
      );
      return fc
        .tuple(bounds, fc.integer({ min: 1, max: 4 }))
        .map(([ends, step]): ForStmt => ({ op: "for", iv: name, ...ends, step, mode: "serial", body: [] }));
    }),
  ),
);

/** Loops with some forms of their variables. */
export const loopsAndForms = (forms: number) =>
  someLoops.chain((loops) =>
    fc.record({
      loops: fc.constant(loops),
      forms: fc.array(formOf(loops.map((loop) => loop.iv)), { minLength: forms, maxLength: forms }),
    }),
  );
