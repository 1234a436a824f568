/** An operator that tilec does not have: each row of the data, turned round by its own shift. */
import {
  axisInRange,
  breakRule,
  defineOperator,
  dim,
  intAttr,
  mod,
  add,
  oobOf,
  oobSpec,
  gatherOver,
  readData,
  index,
} from "../../ir/index.js";

export const roll = defineOperator({
  name: "mine.roll",
  inputs: ["data", "shifts"],
  attrs: {
    turns: {
      kind: "int",
      default: 0,
      help: "places that every row is turned beside its shift",
    },
    oob: oobSpec("error"),
  },
  resolve(inputs) {
    const [data, shifts] = [inputs.data.shape, inputs.indices.shape];
    const [rows = 0, columns = 0] = data;
    if (data.length !== 2 || columns === 0)
      breakRule("TC102", inputs, "mine.roll takes a matrix of rows that are not empty");
    if (shifts.length !== 1 || shifts[0] !== rows)
      breakRule(
        "TC103",
        inputs,
        `mine.roll takes a shift for each of ${rows} rows`,
        `shifts of shape [${rows}]`,
      );
    const turns = axisInRange(inputs, intAttr(inputs.attrs, "turns") ?? 0, columns, "turns");
    const oob = oobOf(inputs);
    const from = mod(add(add(dim(1), index(0)), { at: turns, terms: [] }), columns);
    const shift = { value: { table: 1, at: [dim(0)] }, outOfRange: oob, extent: columns } as const;
    const map = gatherOver(data, 2, { indices: [shift], ...readData([dim(0), from]) });
    return {
      operator: { op: "mapped", map, inputs: [data, shifts] },
      output: data,
      negative: "illegal",
      oob,
    };
  },
});
