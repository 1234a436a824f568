/** Markdown page of a validation, with its picture: what `tilec validate --page` writes. */
import { fasterWith, targetFacts, type Target } from "../../ir/index.js";
import { codeSpan, markdownText, oneLine } from "../report/markdown.js";
import { escapeMarkup } from "../report/page.js";
import type { Fit } from "./fit.js";
import type { BoardMeasurement } from "./measurement.js";
import { verdictCells } from "./report.js";
import { outsideBecause, outsideReasons, type MachineSummary, type RowVerdict } from "./validate.js";

/**
 * Contents of the validation page: measurements, targets, predicted against measured values (`rows`),
 * summaries of the machines, and fits of hardware parameters.
 */
export interface Validation {
  readonly measurements: readonly BoardMeasurement[];
  readonly targets: readonly Target[];
  readonly rows: readonly RowVerdict[];
  readonly summary: readonly MachineSummary[];
  readonly fits: readonly Fit[];
}

const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = head.map((_, k) => Math.max(3, ...cells.map((row) => row[k]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, k) => cell.padEnd(widths[k] ?? 0)).join(" | ")} |`;
  const [first = [], ...others] = cells;
  return [
    line(first),
    `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`,
    ...others.map(line),
  ].join("\n");
};

/** Things that no published measurement settles. */
const unidentifiable: readonly string[] = [
  "**Sharing of one slab with L2 on.** Loads of one slab by all cores in one order were measured with L2 bypassed alone.",
  "**Bursts below 128 B.** No row has bursts of 32 or 64 B in one load, nor stores of them.",
  "**The 950's vector gather in UB.** Its published ticks have no usable unit.",
  "**Latency against the rate of one core.** Chains of 16 KiB are the only size: 0 cycles with 24.5 B a cycle, 264 with 40 and 423 with 67 fit them alike.",
  "**Loads in flight.** 20.6 cycles a load need 13 loads in flight at least.",
  "**What issues a load**: the scalar unit's loop or MTE2. Both machines have the same scalar unit, and issue in 20.6 and 39 cycles.",
  "**Random short rows with L2 on**: whether a miss fetches a sector of 128 B or a line of 512 B.",
  "**Slope of the A2 vector gather.** 5 elements a cycle is the vendor's theoretical figure.",
  "**Launch of an A2 by the number of its cores.**",
  "**Small tiles in a serial chain on all cores**: 10 to 20 % that neither the larger of two times nor their sum gives.",
];

/** Measurements that would settle most, each ten minutes on a board. */
const wanted: readonly string[] = [
  "1 to 64 loads of 128 B, 2 KiB and 16 KiB on one core, a flag behind them: latency, rate of one core, loads in flight.",
  "Random rows of 32 B to 4 KiB on all cores, indices in UB, from tables of 64 MB and 1 GB: issue with an index read, sector or line.",
  "Loads of 1,024 bursts of 32, 64 and 128 B, and stores of the same: cost of a burst.",
  "`Gather` of 64 to 16,384 f32 and half, indices neighbouring, random and of one bank: elements a cycle.",
  "All cores load one slab with L2 on, in one order and rotated.",
  "A load of two rows by a signed pitch beside two loads.",
  "An empty kernel on 1 to 48 vector cores of an A2.",
  "A UB gather by registers on a 950, in cycles.",
];

/**
 * Returns the table of predicted and measured quantities of one machine. `streams`: what was measured, by row
 * id.
 */
const verdictTable = (
  rows: readonly RowVerdict[],
  streams: ReadonlyMap<string, string | undefined>,
): string =>
  tableOf(
    ["Row", "Measured stream", "Quantity", "Measured", "Predicted", "Ratio", "Limit", "Role"],
    rows.map((row) => [codeSpan(row.id), markdownText(streams.get(row.id) ?? ""), ...verdictCells(row)]),
  );

/** Returns the table of a target's figures, with the rows that each figure comes from. */
const figureTable = (target: Target): string =>
  tableOf(
    ["Figure", "Value", "Range", "Kind", "Rows"],
    (Object.keys(fasterWith) as readonly (keyof typeof fasterWith)[]).map((figure) => {
      const { kind, range, rows = [] } = target.sources[figure];
      return [
        `\`${figure}\``,
        String(target[figure]),
        range === undefined ? "" : `${range[0]} to ${range[1]}`,
        kind,
        rows.map(codeSpan).join(", "),
      ];
    }),
  );

const summaryTable = (summary: readonly MachineSummary[]): string =>
  tableOf(
    ["Machine", "Rows inside the model", "Mean factor", "Farthest row", "Its ratio", "Rows outside"],
    summary.map(({ machine, rows, mean, worst, outside }) => [
      markdownText(machine),
      String(rows),
      mean.toFixed(3),
      worst === undefined ? "" : codeSpan(worst.id),
      worst === undefined ? "" : worst.ratio.toFixed(2),
      String(outside),
    ]),
  );

const fitTable = (fits: readonly Fit[]): string =>
  tableOf(
    ["Machine", "Random thirds left out", "Median factor on them", "Eight of ten"],
    fits.map(({ machine, splits }) => [
      markdownText(machine),
      String(splits.draws),
      splits.median.toFixed(3),
      `${splits.low.toFixed(3)} to ${splits.high.toFixed(3)}`,
    ]),
  );

/** Returns a list of the reasons why rows are outside the model, each with its rows. */
function outsideList(measurements: readonly BoardMeasurement[]): string {
  const outside = measurements.filter((row) => outsideBecause(row) !== undefined);
  return outsideReasons
    .map(({ reason, holds }) => `- ${reason}: ${ticked(outside.filter(holds).map(({ id }) => id))}`)
    .join("\n");
}

const ticked = (ids: readonly string[]): string =>
  ids.length === 0 ? "none of these rows" : ids.map(codeSpan).join(", ");

/** Returns the validation page as Markdown. `picture` is the path of the image file, used as a link. */
export function validationPage(
  { measurements, targets, rows, summary, fits }: Validation,
  picture: string,
): string {
  const streams = new Map(measurements.map(({ id, what }) => [id, what]));
  const sources = [...new Set(measurements.map(({ source }) => source))].sort();
  return `<!-- Written by \`npm run docs:validation\`. -->
# The clock beside boards

How far estimated times are from measured ones, machine by machine, and what nobody has measured.

\`\`\`sh
npx tilec validate
npx tilec validate --target ascend-a2 --fit
\`\`\`

Other people's boards: CANN's samples and other projects publish times of Ascend boards, each with the kernel that ran. Nothing was run on an
Ascend here. \`validation/measurements.json\` holds ${measurements.length} of these quantities, facts alone, each with its source as repository@commit:path; the pages
themselves keep their own licences. \`tilec validate\` builds the work of each row in the clock's terms (instructions and bytes by pipe and operand) and
prices it by the functions of \`ir/clock/price.ts\`.

${summaryTable(summary)}

The mean factor is exp(mean |ln ratio|), a ratio is predicted over measured. How far a fit carries to rows that it has not seen:

${fitTable(fits)}

A row that alone fixes a figure stays in, and so does the last row of each figure.

![Predicted over measured, by what was measured](${picture})

## Rows

\`fit\`: a figure of the target names the row. \`held out\`: none does. \`outside\`: the model does not claim the row, for one of these reasons, which are predicates over
fields of a row:

${outsideList(measurements)}

${targets
  .map(({ name }) => {
    const ofMachine = rows.filter(({ machine }) => machine === name);
    return `### ${markdownText(name)}\n\n${verdictTable(ofMachine, streams)}`;
  })
  .join("\n\n")}

## Figures

\`--fit\` gives value and range of each figure that names rows. Each figure in turn takes the value that brings its rows nearest to what was measured, the others
standing, until none moves. The range holds the values that the rows ask for one by one, and eight of ten of the fits without a third of the rows, widened
by 3.5 % both ways: twins of one quantity differ by 7 % on the pages. A lower bound takes each figure at the favourable end of its range.

${targets
  .filter(({ kind }) => targetFacts[kind].dmaEngine)
  .map((target) => `### Figures of ${markdownText(target.name)}\n\n${figureTable(target)}`)
  .join("\n\n")}

## Unknown

No published measurement settles these:

${unidentifiable.map((line) => `- ${line}`).join("\n")}

## Wanted measurements

${wanted.map((line, k) => `${k + 1}. ${line}`).join("\n")}

## Form of a row

| Field | Meaning |
| --- | --- |
| \`machine\`, \`cores\`, \`clockMHz\` | the target that is judged, the cores that ran, and their clock |
| \`quantity\`, \`measured\` | \`us\`: the whole task. \`aiv_us\`, \`aic_us\`: the mean over cores. \`mte2_us\`, \`vec_us\`, \`scalar_us\`, \`mte3_us\`: from the first to the last cycle of one pipe. \`cycles\` |
| \`repeat\`, \`steps\` | what one core does, so many times; fractions are means over cores. Steps without \`{"wait": true}\` between them overlap |
| a step | \`count\` transfers of \`bursts\` bursts of \`bytesPerBurst\` (\`MTE2\`, \`MTE3\`; \`to\`: \`L1\` of cube cores); \`count\` vector instructions of \`repeats\` (\`V\`); \`count\` scalar accesses of UB (\`S\`); \`count\` calls of an empty SIMT function (\`VF\`); \`elements\` with the lines of 128 B for each access of a warp (\`SIMT\`) |
| \`memory\` | of all cores: \`operands\` (\`bytes\`, read \`times\` times in turn), \`written\`, \`readsBypassL2\`, \`rowPitchBytes\` of rows that start unaligned, \`sameOrderOnAllCores\` |
| \`launch\`, \`cold\` | the quantity contains the launch of so many \`blocks\`, or the first instruction fetches of a core |

## Sources

${sources.map((source) => `- ${markdownText(source)}`).join("\n")}
`;
}

const [width, height, left, top] = [720, 320, 56, 16];
const [plotWidth, plotHeight] = [width - left - 16, height - top - 44];
const ratios = [0.4, 0.5, 0.75, 1, 1.35, 2] as const;
const [lowest, highest] = [0.4, 2];
const roleColours = { fit: "#1f6feb", "held out": "#2da44e", outside: "#cf222e" } as const;

/**
 * Returns an SVG chart with one point for each measurement: the predicted value divided by the measured
 * value, on a logarithmic axis. The points are in the order of `rows`.
 */
export function validationPicture(rows: readonly RowVerdict[]): string {
  const y = (ratio: number): number =>
    top +
    (plotHeight * (Math.log(highest) - Math.log(Math.min(highest, Math.max(lowest, ratio))))) /
      (Math.log(highest) - Math.log(lowest));
  const x = (k: number): number => left + (plotWidth * (k + 0.5)) / Math.max(1, rows.length);
  const lines = ratios.map(
    (ratio) =>
      `<line x1="${left}" x2="${left + plotWidth}" y1="${y(ratio).toFixed(1)}" y2="${y(ratio).toFixed(1)}" stroke="${ratio === 1 ? "#24292f" : "#d0d7de"}"/>` +
      `<text x="${left - 8}" y="${(y(ratio) + 4).toFixed(1)}" text-anchor="end">${ratio}</text>`,
  );
  const points = rows.map(
    ({ id, ratio, role }, k) =>
      `<circle cx="${x(k).toFixed(1)}" cy="${y(ratio).toFixed(1)}" r="3.5" fill="${roleColours[role]}"><title>${escapeMarkup(oneLine(id))}: ${ratio.toFixed(2)}</title></circle>`,
  );
  const legend = Object.entries(roleColours).map(
    ([role, colour], k) =>
      `<circle cx="${left + 8 + 110 * k}" cy="${height - 14}" r="4" fill="${colour}"/><text x="${left + 18 + 110 * k}" y="${height - 10}">${role}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">
<title>Predicted over measured, by row</title>
<rect width="${width}" height="${height}" fill="#ffffff"/>
${[...lines, ...points, ...legend].join("\n")}
<text x="${left + plotWidth}" y="${height - 10}" text-anchor="end">predicted / measured, rows in the order of the tables</text>
</svg>
`;
}
