/** A pass-by-pass diff: one self-contained page, passes that changed nothing left out. */
import { diffLines } from "diff";

export interface PassStep {
  readonly pass: string;
  readonly before: string;
  readonly after: string;
}

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** HTML without scripts or outside resources. */
export function passPage(title: string, steps: readonly PassStep[]): string {
  const changed = steps.filter((step) => step.before !== step.after);
  const unchanged = steps.filter((step) => step.before === step.after).map((step) => step.pass);
  const sections = changed.map(({ pass, before, after }) => {
    const lines = diffLines(before, after).map((part) => {
      const kind = part.added ? "ins" : part.removed ? "del" : "span";
      return `<${kind}>${escape(part.value)}</${kind}>`;
    });
    return `<h2>${escape(pass)}</h2>\n<pre>${lines.join("")}</pre>`;
  });
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${escape(title)}</title>
<style>
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem; }
pre { background: #f6f8fa; padding: 1rem; overflow-x: auto; }
ins { background: #d7f5dd; text-decoration: none; }
del { background: #ffdfe0; text-decoration: none; }
</style>
<h1>${escape(title)}</h1>
<p>${unchanged.length === 0 ? "Every pass changed the program." : `Changed nothing: ${escape(unchanged.join(", "))}.`}</p>
${sections.join("\n")}
</html>
`;
}
