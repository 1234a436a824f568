/** Every entry of a schedule means the same in a text, as a flag, as an option, in a case file and in an editor. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  defaultsOn,
  formatEntry,
  givenEntries,
  isResolved,
  parseSchedule,
  printSchedule,
  scheduleEntries,
  suggestionText,
  targets,
  type EntryValue,
  type Schedule,
  type ScheduleEntry,
} from "../../ir/index.js";
import { scheduled } from "../../src/api/compile.js";
import { compile, onnx } from "../../src/index.js";
import { parseEntry } from "../../src/cli/flag-values.js";
import { readCases } from "../../src/formats/cases.js";
import { completions } from "../../src/lsp/completions.js";
import { copyAs } from "../../playground/src/jobs/copy-as.js";
import { entriesOf } from "../../playground/src/jobs/flags.js";
import { edited } from "../../playground/src/jobs/program.js";

const page = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8");
const entries = Object.values(scheduleEntries);
const op = onnx.gather({ data: ["f32", [64, 8]], indices: ["i32", [32]] });

/** Values that an entry takes. */
function valuesOf(entry: ScheduleEntry): readonly EntryValue[] {
  switch (entry.form) {
    case "list":
      return [
        [1, 0],
        [3, 2],
      ];
    case "count":
      return [3];
    case "word":
      return entry.words as readonly EntryValue[];
    case "by-operand":
      return [...entry.all, ...entry.each.map((own) => ({ data: own, output: own }))] as EntryValue[];
  }
}

const each = entries.flatMap((entry) =>
  valuesOf(entry).map((value): [string, ScheduleEntry, Schedule] => [
    `${entry.key} ${formatEntry(value)}`,
    entry,
    { [entry.key]: value },
  ]),
);

describe("an entry of a schedule", () => {
  it.each([
    ["tile", [8, 64], "tile = [8, 64]", "--tile 8,64"],
    ["view", [8, 64], "view = [8, 64]", "--view 8,64"],
    ["profile", "head", "profile = head", "--profile head"],
    ["residency", "auto", "residency = auto", "--residency auto"],
    ["residency", { kv: "gm", bt: "ub" }, "residency = {kv = gm, bt = ub}", "--residency kv=gm,bt=ub"],
    ["order", [1, 0], "order = [1, 0]", "--order 1,0"],
    ["buffers", 2, "buffers = 2", "--buffers 2"],
    ["buffers", { indices: 2 }, "buffers = {indices = 2}", "--buffers indices=2"],
    ["cores", 4, "cores = 4", "--cores 4"],
    ["budgetRule", "spec", "budget_rule = spec", "--budget-rule spec"],
    ["ubBytes", 65536, "ub_bytes = 65536", "--ub-bytes 65536"],
  ] as const)("%s = %j is written %s and %s", (key, value, text, flag) => {
    expect(printSchedule({ [key]: value })).toBe(text);
    expect(`--${scheduleEntries[key].flag} ${formatEntry(value)}`).toBe(flag);
  });

  it.each(each)("%s is read as it is printed, and as its flag has it", (_, { key }, schedule) => {
    const printed = printSchedule(schedule);
    for (const text of [printed, `{${printed}}`, ` { ${printed} } `, `schedule {${printed}}`])
      expect(parseSchedule(text, "test")).toEqual({ schedule, diagnostics: [] });
    expect(parseEntry(key, formatEntry(schedule[key]!))).toEqual(schedule[key]);
  });

  it.each(each)("%s of the options arrives in the program", (_, { key }, schedule) => {
    expect(scheduled(op, schedule, targets.ascendA2).schedule).toEqual(schedule);
    const before = { ...op, schedule };
    expect(scheduled(before, {}, targets.ascendA2).schedule).toEqual(schedule);
    expect(() => compile(op, { [key]: Symbol("no value") })).toThrow(`${key} is Symbol(no value); it takes`);
  });

  it.each(each)("%s is an entry of a case, which the playground copies", (_, { key }, schedule) => {
    const given = { id: "a", op: "gather", dialect: "onnx", expect: "ok" };
    const tensors = {
      data: { dtype: "f32", shape: [64, 8], fill: { seed: 1, min: 0, max: 1 } },
      indices: { dtype: "i32", shape: [32], fill: { seed: 1, min: 0, max: 64 } },
    };
    const [read] = readCases(JSON.stringify([{ ...given, ...tensors, ...schedule }]), "a.json");
    expect(read?.options.schedule).toEqual(schedule);
    const text = `func @f(%data: tensor<64x8xf32>, %indices: tensor<32xi32>) -> tensor<32x8xf32> schedule {${printSchedule(schedule)}} {
  %output = onnx.gather %data, %indices {axis = 0}
  return %output
}
`;
    const [copy] = readCases(copyAs({ text, inputs: {}, seed: 1 }, "case"), "copy.json");
    expect(copy?.options.schedule).toEqual(schedule);
    const flags = copyAs({ text, inputs: {}, seed: 1 }, "cli");
    expect(entriesOf(flags)).toEqual([{ entry: key, text: formatEntry(schedule[key]!) }]);
    const open = text.replace(/ schedule \{.*\} \{/, " {");
    expect(edited({ text: open }, { kind: "schedule", entries: entriesOf(flags) })).toContain(
      `schedule {${printSchedule(schedule)}} {`,
    );
  });

  it.each(entries)("$key is completed, and described in docs/ir.md and docs/cases.md", (entry) => {
    const text = "func @f(%x: tensor<4xf32>) -> tensor<4xf32> schedule {";
    const offered = completions(text, { line: 0, column: text.length })?.options ?? [];
    expect(offered).toContainEqual({ label: `${entry.text} = `, detail: entry.help });
    expect(/^Schedule entries:[^#]*/m.exec(page("ir.md"))?.[0]).toContain(`\`${entry.text}\``);
    expect(/^\| `tile`.*/m.exec(page("cases.md"))?.[0]).toContain(`\`${entry.key}\``);
  });
});

describe("the entries together", () => {
  it("are printed in one order, however they are given", () => {
    const { tile, order, cores } = { tile: [2], order: [0], cores: 1 };
    expect(printSchedule({ cores, order, tile })).toBe("tile = [2], order = [0], cores = 1");
  });

  it("are suggested as flags, words first, where they differ; the tile always", () => {
    const from: Schedule = { tile: [2], view: [8], profile: "strict", residency: "ub", buffers: 1, cores: 4 };
    const to: Schedule = { ...from, residency: "gm", profile: "head", buffers: { data: 2 }, ubBytes: 64 };
    expect(suggestionText(from, to)).toBe(
      "--profile head --residency gm --tile 2 --buffers data=2 --ub-bytes 64",
    );
    expect(suggestionText(from, { ...from, tile: [] })).toBe("");
  });

  it("are all that is kept of a value with other fields", () => {
    const options = { cores: 2, verifyEach: true, tile: undefined };
    expect(givenEntries(options as object)).toEqual({ cores: 2 });
  });

  it("are resolved where each has a value, and the residency is no search", () => {
    const { schedule } = compile(op).tile;
    expect(isResolved(schedule)).toBe(true);
    expect(isResolved({ ...schedule, residency: "auto" })).toBe(false);
    // The class of a gather is chosen when a target is known.
    for (const { key } of entries.filter(({ derived }) => derived !== true)) {
      const { [key]: _, ...others } = schedule;
      expect(isResolved(others), key).toBe(false);
    }
  });

  it("have the defaults of docs/targets.md where the gather does not decide", () => {
    const { cores, ubBytes } = targets.ascendA2;
    const rest = { profile: "strict", budgetRule: "full" };
    expect(defaultsOn(targets.ascendA2)).toMatchObject({ ...rest, residency: "ub", cores, ubBytes });
    expect(defaultsOn(targets.webgpu).residency).toBe(targets.webgpu.defaultResidency);
  });
});
