/** A number that is too large is called so, and no message shows one that nobody wrote. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runHere } from "../support/run-here.js";
import { scratchFolder } from "../support/scratch-folder.js";

const folder = scratchFolder("large");
const gather = ["--op", "gather", "--data", "f32[8,8]", "--indices", "i32[4]"];
const of = (data: string, indices = "i32[4]") => [
  "explain",
  "--op",
  "gather",
  "--data",
  data,
  "--indices",
  indices,
];

it.each([
  [
    ["explain", ...gather, "--cores", "99999999999999999"],
    "--cores: 99999999999999999 is beyond the limit of 9007199254740991",
  ],
  [
    ["explain", ...gather, "--ub-bytes", "99999999999999999"],
    "--ub-bytes 99999999999999999 is over the limit of 9007199254740991 B",
  ],
  [["run", ...gather, "--seed", "1e400"], "--seed: 1e400 is beyond the limit of 9007199254740991"],
  [
    ["explain", ...gather, "--axis", "-9007199254740993"],
    "--axis: -9007199254740993 is beyond the limit of -9007199254740991",
  ],
  [["explain", ...gather, "--tile", "4,9007199254740993"], "--tile: 9007199254740993 is beyond"],
  [of("f32[9007199254740993]"), "--data: 9007199254740993 is beyond"],
  [of("f32[8]", "i32[4,9007199254740993]"), "--indices: 9007199254740993 is beyond"],
  [["tune", ...gather, "--budget", "99999999999999999999"], "--budget: 99999999999999999999 is beyond"],
  [["tune", ...gather, "--budget", "99999999999999999999s"], "--budget: 99999999999999999999 is beyond"],
  [
    ["tune", ...gather, "--sweep", "ubBytes=1,99999999999999999999"],
    "99999999999999999999 is over the limit of 9007199254740991",
  ],
  [["tune", ...gather, "--sizes", "N=1,99999999999999999999"], "--sizes: 99999999999999999999 is beyond"],
] as const)("%j", async (args, says) => {
  const { status, stdout, stderr } = await runHere(args, folder);
  expect([status, stdout, stderr], stderr).toEqual([2, "", expect.stringContaining(says)]);
});

it.each([
  [["explain", ...gather, "--cores", "1.5"], "--cores 1.5 is not a whole number"],
  [["explain", ...gather, "--cores", ""], "--cores  is not a whole number"],
  [["explain", ...gather, "--tile", "4,many"], "--tile 4,many is not a list of whole numbers"],
  [["run", ...gather, "--seed", "some"], "--seed some is not a whole number\n   = hint: --seed 1"],
] as const)("%j is no whole number", async (args, says) => {
  expect((await runHere(args, folder)).stderr).toContain(says);
});

const listed = ["run", "--list", "none.jsonl"];
const inUlp = ["--arithmetic", "native", "--backend", "reference,webgpu"];

it.each([
  [["run", ...gather, "--seed", "-1"], "--seed must be 0 to 4294967295, not -1"],
  [["run", ...gather, "--seed", "4294967296"], "--seed must be 0 to 4294967295, not 4294967296"],
  [[...listed, "--seed", "-1"], "--seed must be 0 to 4294967295, not -1"],
  [["tune", ...gather, "--seed", "-1"], "--seed must be 0 to 4294967295, not -1"],
  [["tune", ...gather, "--seed", "-1", "--sweep", "ubBytes=65536"], "--seed must be 0 to 4294967295"],
  [["tune", "--list", "none.jsonl", "--seed", "-1"], "--seed must be 0 to 4294967295, not -1"],
  [["run", ...gather, "--seed", "1", ...inUlp, "--ulp", "-1"], "--ulp must be 0 or more, not -1"],
  [["tune", ...gather, "--sizes", "N=1..4", "--pieces", "0"], "--pieces must be 1 or more, not 0"],
] as const)("%j is out of the flag's range", async (args, says) => {
  const { status, stdout, stderr } = await runHere(args, folder);
  expect([status, stdout, stderr], stderr).toEqual([2, "", expect.stringContaining(says)]);
});

it.each([
  ["999999999999,999999999999", "more than 2^53 elements"],
  ["94906265,94906265", "has 9007199136250225 elements"],
])("a tensor of f32[%s] %s", async (shape, says) => {
  const { status, stderr } = await runHere(of(`f32[${shape}]`), folder);
  expect([status, stderr], stderr).toEqual([1, expect.stringContaining(says)]);
  expect(stderr).not.toMatch(/\de\+\d/);
});

it("an array of numpy's", async () => {
  const header =
    "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999, 99999999, 99999999), }".padEnd(117) + "\n";
  const length = Buffer.alloc(2);
  length.writeUInt16LE(header.length);
  writeFileSync(
    join(folder, "big.npy"),
    Buffer.concat([Buffer.from("\x93NUMPY\x01\x00", "latin1"), length, Buffer.from(header)]),
  );
  const npy = await runHere(["run", ...gather, "--seed", "1", "--input", "data=big.npy"], folder);
  expect(npy.stderr).toContain("takes more than 2^53 bytes; the file holds 0");
});
