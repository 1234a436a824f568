/** Random gathers of rows through a table of pages: a token's page by the table, its row inside by the remainder. */
import type { Node, OracleMap, Policy } from "../oracle/maps.js";
import type { Draw } from "../fuzz/mutate.js";

/** One index in twenty is outside, under policies that say what becomes of it. */
export function randomPages(draw: Draw): OracleMap {
  const [block, pages, tokens] = [1 + draw(5), 1 + draw(6), 1 + draw(30)];
  // The last page may be partial.
  const rows = Math.max(1, block * (1 + draw(6)) - draw(block));
  const oob = (["error", "clamp", "fill", "wrap"] as const satisfies readonly Policy[])[draw(4)]!;
  const value = (below: number): bigint =>
    BigInt(oob !== "error" && draw(20) === 0 ? draw(90) - 30 : draw(below));
  const values = (count: number, below: number): bigint[] =>
    Array.from({ length: count }, () => value(below));
  const table = (name: string, shape: readonly number[], list: readonly bigint[]) =>
    ({ name, dtype: "i32", shape, values: list }) as const;
  const columns = 1 + draw(40);
  const whole = (n: number): Node => ({ kind: "whole", value: n });
  const [token, of]: [Node, Policy] = [{ kind: "let", name: "s0" }, oob];
  const page: Node = { kind: "read", table: 2, at: [whole(0), { kind: "div", of: token, by: block }] };
  const row: Node = {
    kind: "plus",
    left: { kind: "times", by: block, of: page },
    right: { kind: "mod", of: token, by: block },
  };
  const first: Node = { kind: "read", table: 1, at: [{ kind: "dim", dim: 0 }] };
  const most = Math.max(1, Math.ceil(rows / block));
  return {
    tables: [
      {
        name: "kv",
        dtype: ["f32", "f16", "bf16", "u8", "f64"][draw(5)]!,
        shape: [rows, columns],
        values: [],
      },
      table("tokens", [tokens], values(tokens, pages * block)),
      table("pages", [1, pages], values(pages, most)),
    ],
    output: [tokens, columns],
    lets: [{ name: "s0", value: { kind: "policy", keep: of, of: first, below: whole(pages * block) } }],
    results: [
      { kind: "policy", keep: oob, of: row, below: whole(rows) },
      { kind: "dim", dim: 1 },
    ],
    oob,
    fill: 0n,
    sizes: {},
    most: {},
  };
}
