/** tilec/report and the search in a page: a browser's bundle of them needs no module of Node, and draws there what it draws here. */
import { writeFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";
import { explain, gather, tune } from "../../src/index.js";
import { renderExplanation, tunePage, tuneSvg } from "../../src/report/index.js";
import { openPage, type OpenPage } from "../support/chromium.js";

const built = fileURLToPath(new URL("../../dist/", import.meta.url));

/** What a bundler for browsers makes of a page's script, and what it could not find. */
async function bundled(text: string) {
  const folder = mkdtempSync(join(tmpdir(), "tilec-bundle-"));
  const problems: string[] = [];
  try {
    writeFileSync(join(folder, "page.js"), text);
    const bundle = await rolldown({
      input: join(folder, "page.js"),
      platform: "browser",
      onLog: (_, { message }) => problems.push(message),
    });
    // One script: what is loaded on demand comes with it.
    const { output } = await bundle.generate({ format: "esm", codeSplitting: false });
    await bundle.close();
    const [chunk] = output;
    return {
      code: chunk.code,
      imports: output.flatMap((one) => ("imports" in one ? one.imports : [])),
      problems,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const op = gather({ data: ["f32", [64, 80]], indices: ["i32", [32]], axis: 1 });
const page = `
  import { explain, gather, tune } from "${built}src/index.js";
  import { renderExplanation, tunePage, tuneSvg } from "${built}src/report/index.js";
  const op = gather({ data: ["f32", [64, 80]], indices: ["i32", [32]], axis: 1 });
  globalThis.pictures = async () => {
    const found = await tune(op, { budget: 5 });
    return [tunePage(found), tuneSvg(found), renderExplanation(explain(op))];
  };
`;

it("tunePage, tuneSvg and renderExplanation give a page of a browser what they give Node", async (context) => {
  const { code, imports, problems } = await bundled(page);
  expect(problems).toEqual([]);
  expect(imports).toEqual([]);
  let opened: OpenPage | undefined;
  try {
    opened = await openPage("<!doctype html><title>tilec</title>");
  } catch (thrown) {
    if (process.env["CI"] === "true") throw thrown;
    console.warn(`SKIPPED, no Chromium: ${String(thrown)}`);
    return context.skip();
  }
  try {
    await opened.page.addScriptTag({ content: code, type: "module" });
    await opened.page.waitForFunction("globalThis.pictures !== undefined");
    const found = await tune(op, { budget: 5 });
    // Charts are placed half a pixel off where there is a screen: the words and figures are the same.
    const words = (texts: readonly string[]): readonly string[] =>
      texts.map((text) => text.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " "));
    const drawn = await opened.page.evaluate<string[]>("pictures()");
    expect(words(drawn)).toEqual(words([tunePage(found), tuneSvg(found), renderExplanation(explain(op))]));
    expect(drawn.map((text) => text.includes("<svg"))).toEqual([true, true, false]);
    expect(opened.log).toEqual([]);
  } finally {
    await opened.close();
  }
});
