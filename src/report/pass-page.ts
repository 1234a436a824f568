/** A pass-by-pass diff: one self-contained page, passes that changed nothing left out. */
import { checkApiArgument } from "../api/argument-kinds.js";
import { checkArgument } from "../../ir/argument.js";
import { diffLines, diffWordsWithSpace, type Change } from "diff";
import { counted, type Func } from "../../ir/index.js";
import { scheduleLines, withoutSchedule } from "./compared-text.js";
import { costCells, costHeads, costVerdict, type Costs } from "./compared-costs.js";
import { escapeMarkup, htmlTable, pageOf, sentenceOf } from "./page.js";
import { passStyle } from "./pass-style.js";

/** Pass of the compiler, with the function before and after the pass ran. */
export interface PassStep {
  readonly pass: string;
  readonly before: Func;
  readonly after: Func;
}

/**
 * Returns an HTML page of the changes that each pass made to the program, without scripts or outside
 * resources.
 */
export function passPage(title: string, steps: readonly PassStep[]): string {
  checkArgument("passPage", "text", title);
  checkApiArgument("passPage", "steps", steps);
  return pageOf({ title, style: passStyle, body: passSections(steps) });
}

/** Returns HTML markup of the changes that each pass made. The changes of the schedule are collapsed. */
export function passSections(steps: readonly PassStep[]): string {
  const texts = steps.map(({ pass, before, after }) => ({
    pass,
    code: [withoutSchedule(before), withoutSchedule(after)] as const,
    schedule: [scheduleLines(before), scheduleLines(after)] as const,
  }));
  const changed = texts.filter(({ code, schedule }) => code[0] !== code[1] || schedule[0] !== schedule[1]);
  const unchanged = texts.filter((step) => !changed.includes(step)).map(({ pass }) => pass);
  const sections = changed.map(({ pass, code, schedule }) => sectionOf(pass, code, schedule));
  const others =
    unchanged.length === 0
      ? "Every pass changed the program."
      : `Changed nothing: ${escapeMarkup(unchanged.join(", "))}.`;
  return `<p>${others}</p>\n${sections.join("\n")}`;
}

type Sides = readonly [before: string, after: string];

/**
 * Returns the HTML section that compares two versions of a program: a collapsed diff of the schedule and a
 * diff of the program. `title`: heading of the section.
 */
function sectionOf(title: string, code: Sides, schedule: Sides): string {
  const changes = schedule[0] === schedule[1] ? "unchanged" : "changed";
  const body = code[0] === code[1] ? "<p>The program is unchanged.</p>" : marked(...code);
  return `<h2>${escapeMarkup(title)}</h2>
<details><summary>schedule, ${changes}</summary>${marked(...schedule)}</details>
${body}`;
}

/**
 * Returns an HTML page that compares two versions, A and B, of each program: cycles, bytes, and text
 * differences. `titles`: names of A and B. `before` and `after` are the versions; undefined for a missing
 * version.
 */
export function comparedPage(
  titles: readonly [a: string, b: string],
  programs: readonly {
    readonly name: string;
    readonly before: Func | undefined;
    readonly after: Func | undefined;
    readonly costs: Costs;
  }[],
): string {
  const both = (text: (func: Func) => string, before: Func | undefined, after: Func | undefined): Sides => [
    before === undefined ? "" : text(before),
    after === undefined ? "" : text(after),
  ];
  const body = programs.map(
    ({ name, before, after, costs }) =>
      `${costsOf(name, titles, costs)}
${sectionOf(`@${name}: A to B`, both(withoutSchedule, before, after), both(scheduleLines, before, after))}`,
  );
  return pageOf({ title: `A ${titles[0]}, B ${titles[1]}`, style: passStyle, body: body.join("\n") });
}

/**
 * Returns the costs of two versions, A and B, of a program as HTML markup: a sentence that compares the
 * versions, and a table. `titles`: names of A and B.
 */
function costsOf(name: string, titles: readonly [a: string, b: string], costs: Costs): string {
  const verdict = costVerdict(costs);
  const said = verdict === undefined ? "" : `<p>${sentenceOf(verdict)}</p>\n`;
  const rows = costs.map((cost, k) => ({
    cells: [k === 0 ? "A" : "B", titles[k] ?? "", ...costCells(cost)],
  }));
  return `${said}${htmlTable(`cost of @${name}`, ["", "side", ...costHeads], rows)}`;
}

/**
 * Unchanged lines that stay beside a change; where more than twice as many follow one another, those between
 * are folded.
 */
const context = 3;

/**
 * Returns the differences of two texts as HTML markup: removed and added lines, with changed words marked.
 * Long unchanged parts are collapsed.
 */
function marked(before: string, after: string): string {
  const changes = diffLines(before, after);
  const shown: string[] = [];
  const blocks: string[] = [];
  const flush = (): void => {
    if (shown.length > 0) blocks.push(`<pre tabindex="0">${shown.splice(0).join("")}</pre>`);
  };
  for (const [k, change] of changes.entries()) {
    const [previous, next] = [changes[k - 1], changes[k + 1]];
    if (change.removed) {
      shown.push(next?.added === true ? wordsOf(change, next, "removed") : linesOf("del", change.value));
      continue;
    }
    if (change.added) {
      shown.push(
        previous?.removed === true ? wordsOf(previous, change, "added") : linesOf("ins", change.value),
      );
      continue;
    }
    const lines = change.value.replace(/\n$/, "").split("\n");
    const unchanged = (from: number, to?: number): string =>
      linesOf("span", lines.slice(from, to).join("\n"));
    const [first, last] = [previous === undefined ? 0 : context, next === undefined ? 0 : context];
    if (changes.length === 1 || lines.length <= 2 * context) {
      shown.push(unchanged(0));
      continue;
    }
    if (first > 0) shown.push(unchanged(0, first));
    flush();
    const folded = unchanged(first, lines.length - last);
    const count = counted(lines.length - first - last, "unchanged line");
    blocks.push(`<details><summary>${count}</summary><pre tabindex="0">${folded}</pre></details>`);
    if (last > 0) shown.push(unchanged(lines.length - last));
  }
  flush();
  return blocks.join("\n");
}

const linesOf = (tag: string, text: string): string => inLines(tag, escapeMarkup(text));

/** Returns each line of the markup in an element of its own. */
const inLines = (tag: string, markup: string): string =>
  markup
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => `<${tag}>${line}</${tag}>`)
    .join("");

/**
 * Returns the removed or added text of a change, selected by `side`, as HTML markup with one element per
 * line. Changed words are in `<mark>` elements.
 */
function wordsOf(removed: Change, added: Change, side: "removed" | "added"): string {
  const words = diffWordsWithSpace(removed.value, added.value)
    .filter((word) => !(side === "removed" ? word.added : word.removed))
    .map((word) => {
      const text = escapeMarkup(word.value);
      if (!word.added && !word.removed) return text;
      return text
        .split("\n")
        .map((line) => (line.trim() === "" ? line : `<mark>${line}</mark>`))
        .join("\n");
    });
  return inLines(side === "removed" ? "del" : "ins", words.join(""));
}
