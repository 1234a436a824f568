/** The kernel of examples/foreign with bugs planted, as WGSL and as a command: each is found. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./root.js";

/** The kernel that is right. */
export const rightWgsl = readFileSync(join(root, "examples/foreign/rows.wgsl"), "utf8");

/** Kinds of bugs. */
export const bugNames = [
  "a bound that is off by one",
  "a negative index that is not wrapped",
  "a tail that is not masked",
  "an output word that is left",
  "a neighbour's half word",
  "a race of rows that have one index",
] as const;
/** Kind of a bug. */
export type BugName = (typeof bugNames)[number];

/** Replaces a text that must be there. Throws an Error where it is not. */
export function altered(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`there is no ${from}`);
  return text.replace(from, to);
}

const guard = "id.x >= sizes.rows * sizes.width / 2u";

/** A bug of the shader: the text with it, and the code and the words of its first failure. */
interface WgslBug {
  readonly wgsl: string;
  readonly code: string;
  readonly said: RegExp;
}

/** Bugs of the shader. */
export const wgslBugs: Readonly<Record<BugName, WgslBug>> = {
  "a bound that is off by one": {
    wgsl: altered(rightWgsl, "i32(sizes.table) - 1", "i32(sizes.table)"),
    code: "TC612",
    said: /seed 1, set 3 of 4: one index out of range.*differs between two launches/,
  },
  "a negative index that is not wrapped": {
    wgsl: altered(rightWgsl, "index += i32(sizes.table);", "index = index;"),
    code: "TC610",
    said: /seed 1, set 2 of 4.*elements differ; first at \[2, 0\].*indices\[2\] = -1/,
  },
  "a tail that is not masked": {
    wgsl: altered(rightWgsl, `if (${guard}) {\n    return;\n  }`, ""),
    code: "TC612",
    said: /output is written at byte 420, and its tensor has bytes 0 to 419/,
  },
  "an output word that is left": {
    wgsl: altered(rightWgsl, guard, guard.replace("id.x", "id.x + 1u")),
    code: "TC612",
    said: /output \[20, 8\] is never written/,
  },
  "a neighbour's half word": {
    wgsl: altered(
      rightWgsl,
      "half(2u * id.x) | (half(2u * id.x + 1u) << 16u)",
      "half(2u * id.x) | (output[id.x] & 0xffff0000u)",
    ),
    code: "TC612",
    said: /output \[0, 1\] is never written/,
  },
  // Rows claim their row of the table without an atomic, and one of two is copied.
  "a race of rows that have one index": {
    wgsl: altered(
      altered(
        rightWgsl,
        "@compute @workgroup_size(WORKGROUP)\nfn main(",
        "var<workgroup> claims: array<u32, 64>;\n\n@compute @workgroup_size(WORKGROUP)\nfn main(@builtin(local_invocation_index) lane: u32, ",
      ),
      `if (${guard}) {\n    return;\n  }`,
      `for (var row = lane; row < sizes.rows; row += WORKGROUP) {
    claims[u32(clamp(indices[row], 0, i32(sizes.table) - 1))] = row;
  }
  workgroupBarrier();
  let row = 2u * id.x / sizes.width;
  if (${guard} || claims[u32(clamp(indices[row], 0, i32(sizes.table) - 1))] != row) {
    return;
  }`,
    ),
    code: "TC612",
    said: /is never written|differs between two launches/,
  },
};

/** A program of Node that reads and writes .npy with nothing of tilec, rows of two bytes and indices of four. `loop`: of row k with its index. */
const commandText = (loop: string, after = ""): string => `
const fs = require("node:fs");
const folder = process.argv[2];
const { inputs, output } = JSON.parse(fs.readFileSync(folder + "/program.json", "utf8"));
const read = ({ file }) => {
  const bytes = fs.readFileSync(folder + "/" + file);
  return bytes.subarray(10 + bytes.readUInt16LE(8));
};
const [data, indices] = inputs.map(read);
const [rows, width] = output.shape;
const table = inputs[0].shape[0];
const result = Buffer.alloc(rows * width * 2);
const put = (k, row) => { data.copy(result, k * width * 2, row * width * 2, (row + 1) * width * 2); };
const claims = new Map();
for (let k = 0; k < rows; k++) {
  let index = indices.readInt32LE(4 * k);
  ${loop}
}
${after}
const head = "{'descr': '<f2', 'fortran_order': False, 'shape': (" + output.shape.join(", ") + "), }";
const padded = head.padEnd(117) + "\\n";
const start = Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, padded.length, 0]);
fs.writeFileSync(folder + "/output.npy", Buffer.concat([start, Buffer.from(padded), result]));
`;

const wrapped = "if (index < 0) index += table;";
const clamped = "put(k, Math.min(table - 1, Math.max(0, index)));";

/** The command that is right, and another that ends so: with an exit code, or never. */
export const rightCommand = commandText(`${wrapped} ${clamped}`);
/** Commands that give no output. */
export const failingCommands = {
  "another exit code": commandText('console.error("no"); process.exit(3);'),
  "no end": commandText("for (;;);"),
} as const;

/** Bugs of the command. */
export const commandBugs: Readonly<Record<BugName, string>> = {
  "a bound that is off by one": commandText(`${wrapped} put(k, Math.min(table, Math.max(0, index)));`),
  "a negative index that is not wrapped": commandText(clamped),
  // Lanes of a last group of eight that have no row.
  "a tail that is not masked": commandText(
    `${wrapped} ${clamped}`,
    "for (let k = rows; k < Math.ceil(rows / 8) * 8; k++) put(k % rows, 0);",
  ),
  "an output word that is left": commandText(`${wrapped} if (k < rows - 1) ${clamped}`),
  "a neighbour's half word": commandText(
    `${wrapped} ${clamped}`,
    "for (let k = 0; k < result.length; k += 4) result.copy(result, k + 2, k, k + 2);",
  ),
  "a race of rows that have one index": commandText(
    `${wrapped} claims.set(index, k);`,
    "for (const [index, k] of claims) put(k, Math.min(table - 1, Math.max(0, index)));",
  ),
};
