/** docs/explain.md: the output of one `tilec explain`, line by line, each with what it says. */
import { runHere } from "../support/run-here.js";
import { root } from "../support/root.js";

const command =
  "explain --op pypto.gather --data f32[512,300] --indices i32[400,300] --axis 0 --target ascend-a2 --tile 512,20 --verbose";

/** Explanation of the lines that a pattern matches. */
interface Note {
  readonly lines: RegExp;
  readonly says: string;
}

/** A part of the output with the notes on its lines; each line of the output belongs to one part. */
interface Section {
  readonly title: string;
  readonly notes: readonly Note[];
}

const sections: readonly Section[] = [
  {
    title: "The summary",
    notes: [
      {
        lines: /^@gather on ascend-a2: /,
        says: "The verdict: `legal`, or `refused`. The exit code is 0 or 1. Where the tile that is judged is not the one that you typed, the line says which tile it is.",
      },
      {
        lines: /^estimated /,
        says: "The estimated cycles of the slowest core, without the launch of the kernel, and the time at the clock rate of the chip. A number after `cost model` is its version; cycles of two versions do not compare.",
      },
      {
        lines: /^range /,
        says: "The cycles at the ends of the ranges of figures that are known only as a range, where these change the cycles by more than 10 %. The time above then has its range in parentheses. The word after a figure says how it is known.",
      },
      {
        lines: /^lower bound /,
        says: "The least cycles of any legal schedule of this program on this target, and what sets them. A ratio near 1 means that no search helps.",
      },
      {
        lines: /^limited by /,
        says: "The part of the machine that is busy longest under this schedule: loads from global memory (MTE2), the vector unit (V), stores (MTE3), the scalar unit (S), or global memory, which all cores share. Cores without a task come first if they are more than half of all and that part is busy for less than 70 % of the time, else they follow it. The bytes moved over the time stand beside the bandwidth of global memory. If loads or stores are busy for over 90 % of the time and move few bytes, the line says that their number is the limit.",
      },
      {
        lines: /^but /,
        says: "A condition that `legal` leaves open: bits that the text for Ascend cores does not give, a buffer that not every device grants, or here PyPTO's rule on the last entry of a tile.",
      },
      {
        lines: /^try /,
        says: "One thing to type next: flags of a faster schedule with its cycles, a search with the most that it can bring, or nothing where the lower bound is within 5 %.",
      },
    ],
  },
  {
    title: "The program and its schedule",
    notes: [
      {
        lines: /^map /,
        says: "Where each output element comes from: `d0` and `d1` are output dims, `%indices[d0, d1]` is the element of the index there. Dim 0 of the data is the gather dim, because an index stands in its place.",
      },
      {
        lines: /^schedule /,
        says: "Every entry of the schedule, typed or chosen. `tile` is the extents of the output that one step makes. `view` is the part of the tensors that PyPTO's outer loop hands on. `residency` says where the data is read: `ub` (loaded whole into the unified buffer) or `gm` (global memory). `order` lists the loops, outermost first. `buffers` is the number of copies, so that loads overlap with work.",
      },
    ],
  },
  {
    title: "The rules",
    notes: [
      {
        lines: /^rules /,
        says: "The full-load rule has three interpretations, called profiles: `strict` (PyPTO's specification), `pages` (its documentation since 2026-04-02) and `head` (its code).",
      },
      {
        lines: /^ {2}(?:pass|FAIL) {2}full-load-\S+/,
        says: "The full-load rule: data, view and tile cover the whole gather dim.",
      },
      {
        lines: /^ {2}(?:pass|FAIL) {2}ub-budget /,
        says: "The bytes of each part of the table below, and their sum beside the bytes of the unified buffer.",
      },
      {
        lines: /^ {24}\S/,
        says: "The source of each rule: a page or a file, and the commit at which it was read.",
      },
    ],
  },
  {
    title: "The unified buffer",
    notes: [
      { lines: /^unified buffer/, says: "The on-chip memory of one core." },
      {
        lines: /^ {2}(?:operand {2,}tile|data .*x.*x|indices .*x.*x|output .*x.*x)/,
        says: "The tile of each operand: its bytes, its bytes with rows padded to blocks of 32 B, its number of copies, and the bytes that count, which are padded bytes times copies.",
      },
      {
        lines: /^ {2}(?:base|seen) .*xu8/,
        says: "Buffers that the instructions of the gather need beside the tiles: addresses, and flags of indices that are out of range.",
      },
      {
        lines: /^ {2}total .*budget rule/,
        says: "The sum and the budget. The budget rule says which operands count.",
      },
    ],
  },
  {
    title: "The traffic",
    notes: [
      { lines: /^global memory/, says: "Bytes between global memory and the cores, of all cores together." },
      {
        lines: /^ {2}(?:operand {2,}moved|data {2,}[\d,]+ {2}|indices {2,}[\d,]+ {2}|output {2,}[\d,]+ {2})/,
        says: "`moved`: bytes of this schedule. `least`: bytes that any schedule moves. `each transfer`: bytes that lie together in one transfer; short transfers waste bandwidth.",
      },
      {
        lines: /^ {2}total .*times the least/,
        says: "The sum, its ratio to the least, the tasks that are dealt to the cores, and the tiles in all tasks.",
      },
    ],
  },
  {
    title: "The instructions",
    notes: [
      {
        lines: /^lowering /,
        says: "The instructions that the gather becomes on Ascend. `flat` computes an address for each element and gathers with vector instructions.",
      },
      {
        lines: /^ {2}adds to UB/,
        says: "The buffers that these instructions add; they are in the table above.",
      },
      {
        lines: /^ {2}not /,
        says: "The instructions that it does not become, and why. Only `--verbose` prints these lines.",
      },
    ],
  },
  {
    title: "Other schedules",
    notes: [
      {
        lines: /^other schedules|^ {2}schedule {2,}tile/,
        says: "Schedules that differ in one choice, each with the best tile that the compiler finds for it.",
      },
      { lines: /^ {2}(?:buffers \S+, residency)/, says: "The schedule that is explained." },
      { lines: /^ {2}buffers \d+ {2,}\[/, says: "The same with another number of copies." },
      { lines: /^ {2}the compiler's choice/, says: "The schedule that you get without `--tile`." },
      { lines: /^ {2}busiest: /, says: "The names of that column in words." },
    ],
  },
  {
    title: "The line of PyPTO",
    notes: [
      {
        lines: /^in a program of PyPTO/,
        says: "What to write in a PyPTO program. Operators of other frameworks have no such part.",
      },
      { lines: /^ {2}line /, says: "The call that sets this tile." },
      { lines: /^ {2}shared /, says: "Its scope." },
      {
        lines: /^ {2}tail /,
        says: "The rule on the last entry: some operators want rows of whole 32 B blocks.",
      },
      { lines: /^ {2}instead /, says: "The nearest legal tiles that obey it." },
      { lines: /^ {2}source /, says: "The source of that rule." },
      {
        lines: /^ {2}(?:buffers {2}PyPTO|cores)/,
        says: "PyPTO chooses buffers and cores itself; the cycles of each choice.",
      },
    ],
  },
];

const notes = sections.flatMap((section) => section.notes.map((note) => ({ section, note })));

/** Returns the page. Throws if a line of the output has no note, or two, or a note has no line. */
export async function explainPage(): Promise<string> {
  const { stdout } = await runHere(command.split(" "), root);
  const lines = stdout.split("\n").filter((line) => line !== "");
  const noted = lines.map((line) => {
    const [found, ...others] = notes.filter(({ note }) => note.lines.test(line));
    if (found === undefined || others.length > 0)
      throw new Error(
        `${found === undefined ? "no note" : `${1 + others.length} notes`} on the line: ${line}`,
      );
    return { line, ...found };
  });
  const unused = notes.find(({ note }) => noted.every((one) => one.note !== note));
  if (unused !== undefined) throw new Error(`no line for the note: ${unused.note.says}`);
  const bodies = sections.map(({ title, notes: list }) => [
    `## ${title}`,
    ...list.map(({ says, lines: pattern }) => {
      const shown = noted.filter(({ line }) => pattern.test(line)).map(({ line }) => line);
      return `\`\`\`\n${shown.join("\n")}\n\`\`\`\n\n${says}`;
    }),
  ]);
  return [
    "# What `explain` prints, line by line",
    "The output of one command, with what each line says. `npm run docs:explain` runs the command and writes this page.",
    `\`\`\`sh\nnpx tilec ${command}\n\`\`\``,
    "Hints and warnings go to stderr after it. `--json` prints the same as one document.",
    ...bodies.flat(),
  ]
    .join("\n\n")
    .concat("\n");
}
