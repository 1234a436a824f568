/** Statements of scatters in comments and notes, where no types of inputs are given. */
import { expect, it } from "vitest";
import { flatten } from "../../ir/index.js";
import { compile } from "../../src/index.js";
import { printStmtHead } from "../../ir/text/print.js";
import { parsed } from "../support/parsed.js";

it.each([
  ["x, %i, %u", "%u[d0]", "", "-> (%i[d0]) yield %u[d0]"],
  ["x, %i, %u", "%x[d0] + %u[d0]", "", "-> (%i[d0]) yield %x[d0] + %u[d0]"],
  ["i, %u", "%u[d0]", ", base = fill 0", "-> (%i[d0]) yield %u[d0]"],
])("a scatter over %s that writes %s%s names what it reads", (operands, value, base, says) => {
  const params = [
    ...(operands.startsWith("x") ? ["%x: tensor<9xf32>"] : []),
    ...["%i: tensor<4xi32>", "%u: tensor<4xf32>"],
  ];
  const text = `func @f(${params.join(", ")}) -> tensor<9xf32> {
  %y = access.scatter %${operands} (d0 < 4) -> (%i[d0]) yield ${value} {oob = error, duplicates = last${base}}
  return %y
}
`;
  const { tile } = compile(parsed(text), { target: "cpu" });
  const stmt = flatten(tile.body).find(({ op }) => op === "scatter")!;
  expect(printStmtHead(stmt).replaceAll("_ub", "")).toContain(says);
});
