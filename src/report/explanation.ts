/** An explanation as text: rules, bytes, traffic, and what to do about a refusal. */
import { conditionText } from "../../backends/ascend-answer.js";
import { type Fields, yesOrNo } from "../../backends/index.js";
import { checkApiArgument } from "../api/argument-kinds.js";
import { checkOptions } from "../api/check-options.js";
import {
  at,
  codes,
  counted,
  defaultProfile,
  formatEntry,
  formatRate,
  formatShape,
  formatSizes,
  formatSizeVerdict,
  formatTime,
  formatTimes,
  formatType,
  frameworkFacts,
  inPercent,
  maxSizes,
  printSchedule,
  profileFacts,
  sameShape,
  suggestionText,
  throwIfErrors,
  withCommas,
  type ClockResult,
  type LowerBoundLimit,
  type ResolvedSchedule,
} from "../../ir/index.js";
import type { Explanation } from "../api/explain.js";
import { callOf, isTailAligned, type FrameworkWords } from "../api/framework-words.js";
import { turnedText } from "../api/pages-verdict.js";
import type { CyclesRange } from "../api/cycles-range.js";
import { compilersChoice, type Comparison } from "../api/comparison.js";
import { table } from "./table.js";

/**
 * Returns the verdict on a schedule as text: the broken rules, and ways to change the schedule. For a
 * framework's program, the text also has the framework's call that sets the tile.
 */
export function renderVerdict(explanation: Explanation): string {
  checkApiArgument("renderVerdict", "explanation", explanation);
  const { legal, rules } = explanation;
  return [
    ...verdictLines(explanation),
    ...rules.filter(({ pass }) => !pass).map(ruleLines),
    ...(legal ? renderFramework(explanation) : renderRefused(explanation)),
  ].join("\n");
}

/** Returns a rule's verdict with its source below. */
const ruleLines = ({ pass, rule, detail, source }: Explanation["rules"][number]): string =>
  `  ${pass ? "pass" : "FAIL"}  ${rule.padEnd(15)} ${detail}\n${" ".repeat(24)}${source}`;

/**
 * Returns the summary of an explanation as text: the verdict, estimated cycles or the reason for the refusal,
 * and one step to try.
 */
export function renderSummary(explanation: Explanation): string {
  checkApiArgument("renderSummary", "explanation", explanation);
  return [
    ...verdictLines(explanation),
    ...(explanation.legal ? renderLegalSummary(explanation) : renderRefusedSummary(explanation)),
  ].join("\n");
}

/** Options of {@link renderExplanation}. */
export interface RenderExplanationOptions {
  /** True to add the lowerings that were not chosen, with the reasons. */
  readonly verbose?: boolean;
}

const renderFields: Fields<RenderExplanationOptions> = { verbose: yesOrNo() };

/**
 * Returns an explanation of a schedule as text: summary, rule results, unified buffer bytes, and global
 * memory traffic in bytes. For a rejected schedule, the nearest legal schedules replace the traffic.
 */
export function renderExplanation(explanation: Explanation, options: RenderExplanationOptions = {}): string {
  checkApiArgument("renderExplanation", "explanation", explanation);
  throwIfErrors(checkOptions("renderExplanation", options, renderFields));
  const { verbose = false } = options;
  const { schedule, passes, legal, rules, footprint, sizes, traffic, reversed, comparison } = explanation;
  const lines = [
    renderSummary(explanation),
    "",
    `map       ${explanation.map}`,
    ...(passes === undefined ? [] : [`passes    ${passes.join(", ")}`]),
    `schedule  ${printSchedule(schedule)}`,
    "",
    schedule.profile === undefined
      ? "rules (full load is not in force)"
      : `rules (profile ${schedule.profile}: ${profileFacts[schedule.profile].stands})`,
    ...rules.map(ruleLines),
    "",
    "unified buffer, bytes",
    ...(footprint.parts.length + footprint.written.length === 0
      ? ["  no operand is copied into it"]
      : [
          table(
            ["  operand", "tile", "bytes", "padded", "buffers", "counted"],
            [...footprint.parts, ...footprint.written].map((entry) => [
              `  ${entry.part}`,
              formatType({ dtype: entry.dtype, shape: entry.tile }),
              entry.bytes,
              entry.padded,
              entry.buffers,
              entry.counted,
            ]),
          ),
        ]),
    `  total ${withCommas(footprint.bytes)} B of ${withCommas(footprint.budget)} B (budget rule ${footprint.rule})`,
    ...sizes.map((size) => `  ${formatSizeVerdict(size)}`),
  ];
  if (!legal) return [...lines, ...renderRefused(explanation)].join("\n");
  const ratio = traffic.compulsory === 0 ? 1 : traffic.bytes / traffic.compulsory;
  lines.push(
    "",
    "global memory, bytes",
    table(
      ["  operand", "moved", "least", "each transfer"],
      traffic.operands.map((o) => [`  ${o.operand}`, o.bytes, o.compulsory, o.burst]),
    ),
    `  total ${withCommas(traffic.bytes)} B, ${ratio.toFixed(3)} times the least; ${counted(traffic.tasks, "task")}, ${counted(traffic.tiles, "tile")}`,
  );
  if (reversed !== undefined) {
    lines.push(
      `  with order ${formatShape(reversed.order)} the same tile moves ${withCommas(reversed.bytes)} B ` +
        `(data loaded ${reversed.dataReloads.toFixed(1)} times), about ${withCommas(reversed.cycles)} cycles`,
    );
  }
  if (explanation.lowering !== undefined) lines.push("", ...renderLowering(explanation.lowering, verbose));
  if (explanation.ascend !== undefined) lines.push("", ...renderAscend(explanation.ascend));
  if (comparison !== undefined)
    lines.push("", ...renderAlternatives("other schedules", ofThisMachine(comparison, schedule)));
  lines.push(...renderFramework(explanation));
  return lines.join("\n");
}

/** Width of the labels of a summary. */
const labelWidth = 13;

const labelled = (label: string, text: string | undefined): string[] =>
  text === undefined ? [] : [`${label.padEnd(labelWidth)}${text}`];

/** Returns `15 tasks leave 33 of 48 cores idle`; undefined if each core has a task. */
const idleText = ({ traffic: { tasks }, schedule: { cores } }: Explanation): string | undefined =>
  tasks >= cores
    ? undefined
    : `${counted(tasks, "task")} ${tasks === 1 ? "leaves" : "leave"} ${cores - tasks} of ${cores} cores idle`;

const pipeWords: Readonly<Record<ClockResult["bottleneck"], string>> = {
  gm: "global memory",
  MTE2: "loads",
  V: "the vector unit",
  MTE3: "stores",
  S: "the scalar unit",
};

/** Returns a pipe in words with its name: `loads (MTE2)`. */
const pipeText = (pipe: ClockResult["bottleneck"]): string =>
  pipe === "gm" ? pipeWords.gm : `${pipeWords[pipe]} (${pipe})`;

/** Below this share of the cycles the busiest pipe is no limit where most cores have no task. */
const busyEnough = 0.7;

/** Above this share of the cycles a pipe that copies is full. */
const fullPipe = 0.9;

/** Below this share of the bandwidth of the cores with a task the bytes of copies are no limit. */
const fewBytes = 0.2;

/**
 * Returns text on what limits the speed of a legal schedule: too few tasks for the cores, or else the busiest
 * pipe. The rate of global memory follows, if known.
 */
function limitText(explanation: Explanation): string {
  const { bottleneck, machine, traffic, schedule } = explanation;
  const { pipe, share } = bottleneck;
  const percent = inPercent(share);
  const idle = idleText(explanation);
  const rest = lineIf(formatRate(explanation, machine));
  if (idle !== undefined && traffic.tasks > 0 && 2 * traffic.tasks < schedule.cores && share < busyEnough) {
    const where =
      pipe === "gm" ? "" : traffic.tasks === 1 ? " on that core" : ` on the ${traffic.tasks} working cores`;
    return [`too few tasks: ${idle}`, `busiest${where}: ${pipeText(pipe)}, ${percent}`, ...rest].join("; ");
  }
  const isCopied = pipe === "MTE2" || pipe === "MTE3";
  const many =
    isCopied && share > fullPipe && usedBandwidth(explanation) < fewBytes
      ? `the number of ${pipeWords[pipe]}, not their bytes: `
      : "";
  const waits = share < busyEnough ? " and waiting the rest, for other pipes or for latency" : "";
  return [`${many}${pipeText(pipe)}, busy ${percent} of the time${waits}`, ...lineIf(idle), ...rest].join(
    "; ",
  );
}

/** The part of the machine that each limit of a lower bound is. */
const lowerBoundUnits: Readonly<Record<LowerBoundLimit, string>> = {
  "global memory": "the bandwidth of global memory",
  dma: "loads and stores",
  vector: "the vector unit",
  scalar: "the scalar unit",
  launch: "the start of tasks",
};

/** Returns the lower bound in cycles, what sets it, and how far the schedule in use is above it. */
function lowerBoundText({ cycles, limit, ratio }: Explanation["floor"]): string {
  const cause = cycles === 0 ? "" : `, set by ${lowerBoundUnits[limit]}`;
  return `${withCommas(cycles)} cycles for any schedule${cause}; this one takes ${formatTimes(ratio)} that`;
}

/**
 * Returns the memory rate of a schedule, divided by the even share of the bandwidth that its cores with a
 * task have; NaN if the duration of a cycle is unknown.
 */
function usedBandwidth({ gigabytesPerSecond = NaN, machine, traffic, schedule }: Explanation): number {
  if (machine === undefined) return NaN;
  const working = Math.min(traffic.tasks, schedule.cores);
  return (gigabytesPerSecond * machine.cores) / (working * machine.gigabytesPerSecond);
}

/**
 * Returns the summary lines of a legal schedule: cycles with range, lower bound in cycles, busiest hardware
 * pipe (instruction queue), and one step to try.
 */
function renderLegalSummary(explanation: Explanation): string[] {
  const { cycles, cyclesRange, clock, symbols, machine, floor } = explanation;
  const atSizes =
    symbols.length === 0 ? undefined : `at the largest sizes, ${formatSizes(maxSizes(symbols))}`;
  const estimate = [
    `${withCommas(cycles)} cycles (cost model ${clock})`,
    ...lineIf(formatTime(explanation, machine, cyclesRange)),
    ...lineIf(atSizes),
  ];
  return [
    ...labelled("estimated", estimate.join("; ")),
    ...labelled("range", cyclesRange && rangeText(cyclesRange)),
    ...labelled("lower bound", lowerBoundText(floor)),
    ...labelled("limited by", limitText(explanation)),
    ...conditionsOf(explanation).flatMap((condition) => labelled("but", condition)),
    ...labelled("try", nextStep(explanation)),
  ];
}

/**
 * Returns the conditions of a legal schedule as lines: the conditions of the rules, and those for code that
 * gives the reference's bits on Ascend cores. A line says why there is no such code, or that rows of the tile
 * are not aligned.
 */
function conditionsOf({ rules, ascend, framework }: Explanation): string[] {
  return [
    ...rules.flatMap(({ condition }) => lineIf(condition)),
    ...(ascend === undefined
      ? []
      : ascend.ok
        ? ascend.assumes.map((one) => `text for Ascend cores gives the bits only of ${conditionText(one)}`)
        : [`no text for Ascend cores: ${ascend.refused}`]),
    ...(framework?.tile === undefined || framework.tile.tail.aligned ? [] : [tailText(framework)]),
  ];
}

/** Returns the rule of a framework on the last entry of a tile that breaks it, with a tile that keeps it. */
function tailText(words: FrameworkWords): string {
  const { title, tailBytes } = frameworkFacts[words.name];
  const [instead] = words.tile?.tail.instead ?? [];
  const next = instead === undefined ? "" : `; ${callOf(words, instead)} is taken by all`;
  return `refused by operators of ${title} that want rows of whole ${tailBytes} B${next}`;
}

/**
 * Returns the summary lines about a program without a legal tile: the broken rule, with numbers and meaning.
 */
function infeasibleLines({
  refusal,
  arithmetic,
  largestGatherDims,
}: NonNullable<Explanation["infeasible"]>): string[] {
  if (refusal === undefined) return labelled("refused by", arithmetic);
  const { rule, detail, meaning } = refusal;
  const [fitting, ...others] = largestGatherDims;
  const limit =
    fitting === undefined || others.length > 0 ? "" : `; at most ${withCommas(fitting.largest)} would fit`;
  return [
    ...labelled("refused by", `${rule}: ${detail}`),
    ...labelled("meaning", meaning && `${meaning}${limit}`),
  ];
}

/** Returns the data that fits as a flag, or a hint if there is none. */
const longestText = ({ shorterData, otherwise }: NonNullable<Explanation["infeasible"]>): string =>
  shorterData === undefined
    ? otherwise
    : `--data ${shorterData.type}: the longest gather dim ${shorterData.dim} that fits`;

/** Returns the summary lines of a rejected schedule: the broken rules and one step to try. */
function renderRefusedSummary({
  rules,
  diagnostics,
  schedule,
  nearest,
  infeasible,
  framework,
}: Explanation): string[] {
  const [near] = nearest;
  const [remedy] = infeasible?.waysOut ?? [];
  const code = diagnostics.find(({ severity }) => severity === "error")?.code;
  const meaning = rules.find(({ pass }) => !pass)?.meaning;
  const next =
    infeasible === undefined
      ? near && `${suggestionText(schedule, near)}${callText(framework, near, schedule, ": ")}`
      : remedy === undefined
        ? longestText(infeasible)
        : `${remedy.flags}: about ${withCommas(remedy.cycles)} cycles`;
  return [
    ...(infeasible === undefined
      ? [
          ...rules
            .filter(({ pass }) => !pass)
            .flatMap(({ rule, detail }) => labelled("refused by", `${rule}: ${detail}`)),
          ...labelled("meaning", code && `${meaning ?? codes[code].title}; tilec explain ${code} has more`),
        ]
      : infeasibleLines(infeasible)),
    ...labelled("try", next),
  ];
}

/**
 * Returns the best schedules for other unified buffer (UB) sizes of the target's kind, as text. The text is
 * empty if the explanation compares no other sizes.
 */
export function renderOtherUbSizes({ schedule, comparison }: Explanation): string {
  const others =
    comparison?.alternatives.filter((other) => other.schedule.ubBytes !== schedule.ubBytes) ?? [];
  return others.length === 0 ? "" : renderAlternatives("the best with another size of UB", others).join("\n");
}

/**
 * Returns the lines on how to change a rejected schedule: the nearest legal schedules, or the reason why no
 * tile is legal, with remedies.
 */
function renderRefused(explanation: Explanation): string[] {
  const { schedule, pages, nearest, infeasible, framework } = explanation;
  if (infeasible === undefined) {
    const line = (near: ResolvedSchedule): string =>
      `  ${suggestionText(schedule, near)}${callText(framework, near, schedule, ": ")}`;
    return [
      "",
      "nearest legal",
      ...nearest.map(line),
      ...lineIf(
        pages?.legal === true
          ? `  --profile ${pages.profile}${callText(framework, schedule, schedule, ": ")}`
          : undefined,
      ),
      ...(pages?.nearest ?? []).map(line),
      ...renderFramework(explanation),
    ];
  }
  const { arithmetic, largestGatherDims, dims, waysOut, otherwise } = infeasible;
  return [
    "",
    `no tile is legal: ${arithmetic}`,
    ...largestGatherDims.map(
      ({ dim, largest }) => `  the largest ${dims} dim ${dim} that would fit is ${largest}`,
    ),
    ...(waysOut.length === 0
      ? [`  ${otherwise}`]
      : [
          "ways out",
          ...equalRemedies(
            waysOut.map(
              ({ flags, cycles, schedule: to }) =>
                [
                  flags,
                  `about ${withCommas(cycles)} cycles${callText(framework, to, schedule, ", ")}`,
                ] as const,
            ),
          ),
        ]),
  ];
}

/**
 * Returns one line for each distinct result in `remedies`, with all combinations of flags that give the
 * result: `--profile pages or --profile head: …`. A combination is left out if fewer of its flags give the
 * same result.
 */
function equalRemedies(remedies: readonly (readonly [flags: string, result: string])[]): string[] {
  const flagsOf = new Map<string, string[]>();
  for (const [flags, result] of remedies) flagsOf.set(result, [...(flagsOf.get(result) ?? []), flags]);
  const words = (flags: string): readonly string[] => flags.match(/--\S+ \S+/g) ?? [];
  const contains = (flags: string, others: string): boolean =>
    flags !== others && words(others).every((word) => words(flags).includes(word));
  return [...flagsOf].map(([result, all]) => {
    const shortest = all.filter((flags) => !all.some((others) => contains(flags, others)));
    return `  ${shortest.join(" or ")}: ${result}`;
  });
}

/**
 * Returns the first lines of an explanation: program, target and verdict. The first line also has the judged
 * tile if the stated tile is another, and the verdict under another profile if that verdict differs. If no
 * full load is required, a second line states the residency.
 */
function verdictLines({ name, target, legal, schedule, judgedTile, pages }: Explanation): string[] {
  const turned = turnedText(pages);
  const under = `under ${profileFacts[defaultProfile].stands} (profile ${defaultProfile})`;
  const said = [
    `@${name} on ${target}: ${legal ? "legal" : "refused"}${turned === undefined ? "" : ` ${under}`}`,
    ...lineIf(judgedTile === undefined ? undefined : `judged as tile ${formatEntry(judgedTile)}`),
  ].join(", ");
  return [
    [said, ...lineIf(turned)].join("; "),
    ...(schedule.profile === undefined
      ? labelled(
          "residency",
          `${formatEntry(schedule.residency)}: elements are read from global memory, so the data need not be loaded whole`,
        )
      : []),
  ];
}

const lineIf = (line: string | undefined): string[] => (line === undefined ? [] : [line]);

/**
 * Returns lines on the chosen lowering of a gather: cycles per tile, and bytes of additional buffers in the
 * unified buffer (UB). `verbose`: true to add why other lowerings were not chosen.
 */
function renderLowering(
  { class: name, cycles, setup, adds, lost }: NonNullable<Explanation["lowering"]>,
  verbose: boolean,
) {
  const once = (first: number): string => (first === 0 ? "" : `, plus ${withCommas(first)} once`);
  const others = lost.map((other) =>
    "cycles" in other
      ? `  not ${other.class}: about ${withCommas(other.cycles)} cycles a tile${once(other.setup)}`
      : `  not ${other.class}: ${other.reason}`,
  );
  return [
    `lowering ${name}: about ${withCommas(cycles)} cycles a whole tile${once(setup)}`,
    ...(adds.length === 0
      ? []
      : [`  adds to UB: ${adds.map((buffer) => `${buffer.name} ${withCommas(buffer.bytes)} B`).join(", ")}`]),
    ...(verbose ? others : []),
  ];
}

/**
 * Returns lines on the code emitted for Ascend cores: the conditions for bits equal to the reference, or the
 * reason why no code can be emitted.
 */
function renderAscend(answer: NonNullable<Explanation["ascend"]>): string[] {
  if (!answer.ok) return [`no text for Ascend cores: ${answer.refused}`];
  if (answer.assumes.length === 0) return ["text for Ascend cores gives the stated bits"];
  return [
    "text for Ascend cores gives the stated bits where each element that enters a computation is",
    ...answer.assumes.map((condition) => `  of ${conditionText(condition)}`),
  ];
}

/**
 * Returns `separator`, followed by the framework call that sets the tile of `to`; an empty text if `words` is
 * undefined. The view of `to` follows if it differs from the view of `from`, and a note if the tile's rows
 * are not aligned. `words`: facts of the program's framework.
 */
function callText(
  words: FrameworkWords | undefined,
  to: Pick<ResolvedSchedule, "tile" | "view">,
  from: Pick<ResolvedSchedule, "view">,
  separator: string,
): string {
  if (words === undefined) return "";
  const { tailBytes } = frameworkFacts[words.name];
  const broken = isTailAligned(words, to.tile) ? "" : ` (its last entry is no multiple of ${tailBytes} B)`;
  const views = sameShape(to.view, from.view) ? "" : `, in views of ${to.view.join()}`;
  return `${separator}${callOf(words, to.tile)}${views}${broken}`;
}

/**
 * Returns the lines on the program's framework, for example PyPTO: the call that sets the tile, and notes on
 * alignment, buffers and cores. The list is empty without a framework or tile.
 */
function renderFramework({ framework: words, legal }: Explanation): string[] {
  if (words?.tile === undefined) return [];
  const { name, elementBytes } = words;
  const { tile, view, call, tail, buffers, cores } = words.tile;
  const { title, tailBytes, tailSource } = frameworkFacts[name];
  const row = `tile[${tail.dim}] = ${at(tile, tail.dim)} x ${elementBytes} B = ${tail.bytes} B`;
  const cycles = buffers.map((copies) =>
    copies.cycles === undefined
      ? `${copies.buffers} do not fit`
      : `about ${withCommas(copies.cycles)} cycles with ${copies.buffers}`,
  );
  return [
    "",
    `in a program of ${title}${legal ? "" : ", the nearest legal tile"}`,
    `  line     ${call}`,
    ...lineIf(view === undefined ? undefined : `  view     ${view.join()} of the loop around it`),
    "  shared   the call tiles every operator behind it too, up to the next call",
    ...(tail.aligned
      ? [`  tail     ${row}, a multiple of ${tailBytes} B`]
      : [
          `  tail     ${row}, no multiple of ${tailBytes} B: operators that check it refuse the call`,
          ...tail.instead.map((other) => `  instead  ${callOf(words, other)}`),
          `  source   ${tailSource}`,
        ]),
    `  buffers  ${title} chooses: ${cycles.join(", ")}`,
    `  cores    ${title} chooses: the cycles are of ${counted(cores, "core")}`,
  ];
}

/**
 * Returns a range of cycles as text, with the target parameters that cause the range: `735 to 1,637 cycles,
 * by loadLatencyCycles 150 to 420 (model of others)`.
 */
export const rangeText = ({ low, high, figures }: CyclesRange): string =>
  `${withCommas(low)} to ${withCommas(high)} cycles, by ${figures.map(({ figure, kind, range: [low, high] }) => `${figure} ${low} to ${high} (${kind})`).join(", ")}`;

/** Above this ratio to the lower bound a search is worth its time. */
const nearLowerBound = 1.05;

/**
 * Returns the next step to try as text: the flags of a better schedule, a search by `tilec tune`, or a note
 * that no step is left.
 */
function nextStep({ comparison, cycles, floor, framework, schedule }: Explanation): string {
  const better = comparison?.better;
  if (better !== undefined)
    return `${better.flags}: about ${withCommas(better.cycles)} cycles${callText(framework, better, schedule, ", ")}`;
  if (floor.ratio <= nearLowerBound) return "nothing: no schedule is more than 5 % faster";
  const compared = ofThisMachine(comparison, schedule);
  const [fastest] = [...compared].sort((a, b) => a.cycles - b.cycles);
  if (fastest !== undefined && fastest.cycles < cycles)
    return `${fastest.flags}: about ${withCommas(fastest.cycles)} cycles; tilec tune searches further`;
  const others = compared.length - 1;
  const rest =
    others === 0
      ? ""
      : others === 1
        ? "; the other schedule below is no faster"
        : `; none of the ${others} other schedules below is faster`;
  const command = compared.some(({ name }) => name === compilersChoice)
    ? "tilec tune, without the flags of the schedule"
    : "tilec tune";
  return `${command}: at most ${formatTimes(floor.ratio)} faster, by the lower bound${rest}`;
}

/** Returns the compared schedules in the UB size that the user has. */
const ofThisMachine = (
  comparison: Explanation["comparison"],
  { ubBytes }: Pick<ResolvedSchedule, "ubBytes">,
): Comparison["alternatives"] =>
  comparison?.alternatives.filter((other) => other.schedule.ubBytes === ubBytes) ?? [];

/** Returns a table of schedules with estimated cycles, as two texts: the line `title`, and the table. */
function renderAlternatives(title: string, alternatives: Comparison["alternatives"]): string[] {
  return [
    `${title}, estimated cycles`,
    table(
      ["  schedule", "tile", "buffers", "cycles", "busiest", "idle in last round"],
      alternatives.map((other) => [
        `  ${other.name}`,
        formatShape(other.schedule.tile),
        formatEntry(other.schedule.buffers),
        other.cycles,
        other.busiest,
        other.idleCores,
      ]),
    ),
    `  busiest: ${pipesInWords(alternatives.map(({ busiest }) => busiest))}`,
  ];
}

/** Returns the meaning of the names of pipes that a table has: `MTE2 is loads, V is the vector unit`. */
const pipesInWords = (names: readonly ClockResult["bottleneck"][]): string =>
  [...new Set(names)].map((name) => `${name} is ${pipeWords[name]}`).join(", ");
