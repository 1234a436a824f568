/** The frame of every page: one style sheet for light and dark, no scripts, nothing from elsewhere. */

/** Escapes a text for HTML or XML. */
export const escapeMarkup = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** Returns a text as a sentence of HTML or XML: escaped, with a capital letter and a full stop. */
export const sentenceOf = (text: string): string =>
  `${escapeMarkup(text.charAt(0).toUpperCase() + text.slice(1))}.`;

/**
 * CSS rules that define the colours of text and lines in the light and the dark theme, for pages and charts.
 */
export const themes = `:root { color-scheme: light dark; --ink: #1b1f24; --paper: #ffffff; --soft: #57606a; --line: #d0d7de; --panel: #f6f8fa; --link: #0550ae; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --paper: #0d1117; --soft: #9aa4b0; --line: #3d444d; --panel: #161b22; --link: #79b8ff; }
}`;

const sheet = `${themes}
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto; padding: 1rem; max-width: 1240px; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; margin-top: 2rem; } h3 { font-size: 1rem; }
a { color: var(--link); }
a:focus-visible, summary:focus-visible, .scroll:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
svg a { color: inherit; }
svg a:focus-visible { outline: none; }
svg a:focus-visible > * { stroke: var(--link); stroke-width: 4px; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; }
p, figcaption { max-width: 60rem; }
figure { margin: 1rem 0; overflow-x: auto; scrollbar-width: thin; }
figure > svg { display: block; max-width: none; height: auto; }
pre { white-space: pre-wrap; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 0.5rem 0.75rem; }
figcaption, .note { color: var(--soft); font-size: 0.9rem; }
.scroll { overflow: auto; max-height: 32rem; border: 1px solid var(--line); border-radius: 6px; width: fit-content; max-width: 100%; }
.scroll, figure {
  background:
    linear-gradient(to right, var(--paper) 50%, transparent) left / 24px 100% no-repeat local,
    linear-gradient(to left, var(--paper) 50%, transparent) right / 24px 100% no-repeat local,
    linear-gradient(to right, var(--soft), transparent) left / 10px 100% no-repeat scroll,
    linear-gradient(to left, var(--soft), transparent) right / 10px 100% no-repeat scroll;
}
.scroll::-webkit-scrollbar { width: 10px; height: 10px; background: var(--panel); }
.scroll::-webkit-scrollbar-thumb { background: var(--soft); border-radius: 5px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.85rem; overflow-wrap: normal; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.5rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { position: sticky; top: 0; background: var(--panel); }
td.number, th.number { text-align: right; }
td.list { white-space: normal; }
td.wide { white-space: normal; min-width: 14rem; }
details { margin: 0.5rem 0; }
tr:target { outline: 2px solid var(--link); outline-offset: -2px; }
.skip { display: inline-block; font-size: 0.85rem; }
.key { display: inline-flex; align-items: center; gap: 0.35rem; margin-right: 1rem; }
.key svg { width: 14px; height: 14px; flex: none; }
`;

/** Content of an HTML page: title, body as markup, and additional style rules. */
export interface HtmlPage {
  readonly title: string;
  /** CSS rules in addition to those of all pages. */
  readonly style?: string;
  /** Markup, in which texts are already escaped. */
  readonly body: string;
}

/**
 * Returns the text of a complete HTML document with tilec's style sheet. The title is escaped and also serves
 * as first heading.
 */
export const pageOf = ({ title, style = "", body }: HtmlPage): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeMarkup(title)}</title>
<style>
${sheet}${style}</style>
</head>
<body>
<h1>${escapeMarkup(title)}</h1>
${body}
</body>
</html>
`;

/**
 * Returns a self-contained SVG image in the viewer's light or dark theme. `body`: markup; width and height in
 * CSS pixels.
 */
export const imageOf = (
  width: number,
  height: number,
  body: string,
): string => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="13" fill="currentColor">
<style>${themes} svg { color: var(--ink); }</style>
<rect width="100%" height="100%" fill="var(--paper)"/>
${body}
</svg>
`;

/** Returns the mark of a legend, 14 pixels wide and high. `shape`: SVG markup. */
export const legendMark = (shape: string): string =>
  `<svg viewBox="0 0 14 14" style="width:14px;height:14px;vertical-align:-2px" aria-hidden="true">${shape}</svg>`;

/** Returns an HTML `<figure>` with a chart and a caption, given as markup. */
export const figureOf = (chart: string, caption: string): string =>
  `<figure>${chart}<figcaption>${caption}</figcaption></figure>`;

/** Row of an HTML table: cells, and an optional id for links. */
export interface Row {
  /** Id of the row, for links to it. */
  readonly id?: string;
  readonly cells: readonly (string | number)[];
}

/** Counts in full; times, which may be millionths of a second in ms, to four digits. */
const figure = (value: number): string =>
  value.toLocaleString("en", Number.isInteger(value) ? {} : { maximumSignificantDigits: 4 });

/**
 * Returns an HTML table that scrolls horizontally on narrow pages. `label`: name of the table for screen
 * readers. Cell texts are escaped.
 */
export function htmlTable(label: string, head: readonly string[], rows: readonly Row[]): string {
  const numeric = head.map(
    (_, k) => rows.length > 0 && rows.every(({ cells }) => typeof cells[k] === "number"),
  );
  const kind = (k: number): string => (numeric[k] === true ? ' class="number"' : "");
  const cell = (value: string | number, k: number): string => {
    const text = typeof value === "number" ? figure(value) : value;
    const list = text.includes(", ") ? ' class="list"' : kind(k);
    const wide = text.length > 40 ? ' class="wide"' : list;
    return `<td${wide}>${escapeMarkup(text)}</td>`;
  };
  const body = rows.map(
    ({ id, cells }) =>
      `<tr${id === undefined ? "" : ` id="${escapeMarkup(id)}"`}>${cells.map(cell).join("")}</tr>`,
  );
  const heads = head.map((text, k) => `<th scope="col"${kind(k)}>${escapeMarkup(text)}</th>`).join("");
  return `<div class="scroll" tabindex="0" role="region" aria-label="${escapeMarkup(label)}"><table><thead><tr>${heads}</tr></thead>
<tbody>
${body.join("\n")}
</tbody></table></div>`;
}
