/** The documentation as pages beside the playground, which its header links to. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import MarkdownIt from "markdown-it";
import type { Plugin } from "vite";
import { escapeMarkup, pageOf } from "../src/report/page.js";

const docs = fileURLToPath(new URL("../docs", import.meta.url));
const style = `nav { display: flex; gap: 1rem; } img { max-width: 100%; } th { position: static; } td, th { white-space: normal; }
pre { white-space: pre; overflow-x: auto; max-height: none; } main { overflow-x: auto; } a.heading { color: inherit; text-decoration: none; }`;

/** Files of the documentation by path under `docs/`: pages as HTML, pictures as they are. */
function docsFiles(): ReadonlyMap<string, string | Uint8Array> {
  const names = readdirSync(docs, { recursive: true, encoding: "utf8" }).sort();
  const pages = names.filter((name) => name.endsWith(".md"));
  const texts = pages.map((name) => [name, readFileSync(join(docs, name), "utf8")] as const);
  const pictures = names.filter((name) => /\.(svg|png|jpg)$/.test(name));
  return new Map<string, string | Uint8Array>([
    ...pictures.map((name) => [name, readFileSync(join(docs, name))] as const),
    ...texts.map(([name, text]) => [htmlName(name), pageOfText(name, text, new Set(pages))] as const),
    ["index.html", listOf(texts)],
  ]);
}

const htmlName = (name: string): string => name.replace(/\.md$/, ".html");

/** Splits a page into its title, which is its first heading, and the rest. */
function partsOf(text: string): { readonly title: string; readonly rest: string } {
  const [, title = "", rest = text] = /^# ([^\n]+)\n([^]*)$/.exec(text) ?? [];
  return { title, rest };
}

/** Returns the fragment by which pages link to a heading: its words in lower case, joined by hyphens. */
const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");

/** Returns a page as HTML. A link to a file that is no page of the documentation becomes plain text. */
function pageOfText(name: string, text: string, pages: ReadonlySet<string>): string {
  const { title, rest } = partsOf(text);
  const markdown = new MarkdownIt({ html: true });
  const tokens = markdown.parse(rest, {});
  for (const [k, token] of tokens.entries()) {
    if (token.type === "heading_open") token.attrSet("id", slugOf(tokens[k + 1]?.content ?? ""));
    let isOpen = true;
    for (const child of token.children ?? []) {
      if (child.type === "link_open") {
        const target = targetOf(name, child.attrGet("href") ?? "", pages);
        isOpen = target !== undefined;
        if (target !== undefined) child.attrSet("href", target);
        else child.hidden = true;
      } else if (child.type === "link_close" && !isOpen) child.hidden = true;
    }
  }
  const body = markdown.renderer.render(tokens, markdown.options, {});
  return framed(title, relative(dirname(name), "."), body);
}

/** Returns the address of a link on the page `name`; undefined if it leads to no page. */
function targetOf(name: string, href: string, pages: ReadonlySet<string>): string | undefined {
  if (/^(https?:|#)/.test(href)) return href;
  const [path = "", fragment] = href.split("#");
  if (!pages.has(join(dirname(name), path))) return undefined;
  return `${htmlName(path)}${fragment === undefined ? "" : `#${fragment}`}`;
}

/** Returns the page that lists all pages, each with its first paragraph. */
function listOf(texts: readonly (readonly [name: string, text: string])[]): string {
  const markdown = new MarkdownIt();
  const items = texts.map(([name, text]) => {
    const { title, rest } = partsOf(text);
    const [first = ""] = rest.trim().split("\n\n");
    const brief = markdown.renderInline(first.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1"));
    return `<li><a href="${htmlName(name)}">${escapeMarkup(title)}</a>: ${brief}</li>`;
  });
  return framed("Documentation", ".", `<ul>${items.join("\n")}</ul>`);
}

/** Returns a page with the links to the playground and to the list of pages. `up` leads to the folder of the list. */
const framed = (title: string, up: string, body: string): string =>
  pageOf({
    title: `tilec: ${title}`,
    style,
    body: `<nav aria-label="documentation"><a href="${join(up, "../index.html")}">Playground</a><a href="${join(up, "index.html")}">All pages</a></nav>
<main>${body}</main>`,
  });

/** Returns the plugin that builds the pages of `docs/` into `docs/` of the playground, and serves them. */
export const docsPages = (): Plugin => ({
  name: "docs-pages",
  generateBundle() {
    for (const [name, source] of docsFiles())
      this.emitFile({ type: "asset", fileName: `docs/${name}`, source });
  },
  configureServer(server) {
    server.middlewares.use("/docs/", (request, response, next) => {
      const name = decodeURIComponent((request.url ?? "").replace(/^\//, "").replace(/[?#].*$/, ""));
      const file = docsFiles().get(name);
      if (file === undefined) {
        next();
        return;
      }
      if (name.endsWith(".html")) response.setHeader("content-type", "text/html; charset=utf-8");
      if (name.endsWith(".svg")) response.setHeader("content-type", "image/svg+xml");
      response.end(file);
    });
  },
});
