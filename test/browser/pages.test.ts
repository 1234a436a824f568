/** The pages that people are shown, opened from files in a headless Chromium, at two widths, light and dark. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { walkOf } from "../../ir/index.js";
import { compile, onnx, targets, tune, type TuneResult } from "../../src/index.js";
import { passPage, timelinePage, tunePage, tuneSvg, type PassStep } from "../../src/report/index.js";
import { openPage, type OpenPage } from "../support/chromium.js";
import { timedSearch } from "../support/timed-search.js";
import { scratchFolder } from "../support/scratch-folder.js";

const target = targets.ascendA2;
const widths = [400, 1280] as const;
const folder = scratchFolder("pages");
const matrix = onnx.gather({ data: ["f32", [300, 200]], indices: ["i32", [64]], axis: 1 });
const line = onnx.gather({ data: ["f32", [100]], indices: ["i32", [500]], axis: 0 });
const pages = onnx.gather({ data: ["bf16", [2048, 16, 8, 128]], indices: ["i32", [64, 32]], axis: 0 });
const nothing = onnx.gather({ data: ["f32", [100, 4]], indices: ["i32", [0]], axis: 0 });

let opened: OpenPage | undefined;
let searched: TuneResult;

beforeAll(async () => {
  searched = await tune(matrix, { target, budget: 30 });
  try {
    opened = await openPage("<!doctype html><title>tilec</title>");
  } catch (thrown) {
    if (process.env["CI"] === "true") throw new Error(`no Chromium in CI: ${String(thrown)}`);
    console.warn(`SKIPPED, no Chromium: ${String(thrown)}`);
  }
});

afterAll(async () => {
  await opened?.close();
});

async function show(
  { page }: OpenPage,
  text: string,
  width: number,
  colorScheme: "light" | "dark",
  ending = "html",
) {
  const file = join(folder, `page.${ending}`);
  writeFileSync(file, text);
  await page.setViewportSize({ width, height: 800 });
  await page.emulateMedia({ colorScheme });
  await page.goto(pathToFileURL(file).href);
}

/** Pixels of a screenshot that differ from its first one, of all. */
async function drawn({ page }: OpenPage, what: Locator): Promise<number> {
  const png = (await what.screenshot()).toString("base64");
  return page.evaluate<number>(`(async () => {
    const image = new Image();
    image.src = "data:image/png;base64,${png}";
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const pixels = new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer);
    return pixels.filter((pixel) => pixel !== pixels[0]).length / pixels.length;
  })()`);
}

/** What is wrong with the page that is shown: nothing on it, beyond its sides, or too small to read. */
async function problemsOf(open: OpenPage): Promise<string[]> {
  const found = await open.page.evaluate<string[]>(`(() => {
    const found = [];
    const root = document.documentElement;
    if (root.scrollWidth > innerWidth) found.push("overflows: " + root.scrollWidth + " of " + innerWidth);
    if (document.body.innerText.trim().length < 40) found.push("no text");
    for (const chart of document.querySelectorAll("figure > svg")) {
      const box = chart.getBoundingClientRect();
      const name = chart.getAttribute("aria-label");
      if (!name) found.push("a chart without a name");
      for (const text of chart.querySelectorAll("text")) {
        const at = text.getBoundingClientRect();
        if (at.width === 0) continue;
        if (at.left < box.left - 1 || at.right > box.right + 1 || at.top < box.top - 1 || at.bottom > box.bottom + 1)
          found.push(name + ": " + text.textContent + " is cut");
        if (parseFloat(getComputedStyle(text).fontSize) * (box.width / chart.viewBox.baseVal.width) < 9)
          found.push(name + ": " + text.textContent + " is too small");
      }
    }
    return found;
  })()`);
  for (const chart of await open.page.locator("figure > svg:visible").all()) {
    const share = await drawn(open, chart);
    if (share < 0.01) found.push(`${await chart.getAttribute("aria-label")}: empty`);
  }
  return found;
}

/** The text of a page, and how many charts it has. */
type Sample = () => Promise<readonly [string, number]> | readonly [string, number];

function traced(): readonly [string, number] {
  const kernel = compile(matrix, { target, tile: [7, 64] });
  const other = compile(matrix, { target, tile: [32, 32], buffers: 1 });
  const timelines = [kernel, other].map((one) => ({ kernel: one, timing: walkOf(one.tile, target) }));
  return [timelinePage(kernel, walkOf(kernel.tile, target), timelines[1]), 8];
}

function passed(): readonly [string, number] {
  const steps: PassStep[] = [];
  compile(matrix, {
    target,
    afterPass: ({ name }, before, after) => steps.push({ pass: name, before, after }),
  });
  return [passPage("passes", steps), 0];
}

const samples: readonly (readonly [string, Sample])[] = [
  ["a search", () => [tunePage(searched), 3]],
  ["a search by milliseconds", async () => [tunePage(await timedSearch(matrix, 20)), 3]],
  ["a search along one dim", async () => [tunePage(await tune(line, { target, budget: 5 })), 3]],
  ["a search where nothing moves", async () => [tunePage(await tune(nothing, { target })), 1]],
  ["two schedules over time", traced],
  [
    "a run without a statement",
    () => {
      const kernel = compile(nothing, { target });
      return [timelinePage(kernel, walkOf(kernel.tile, target)), 0];
    },
  ],
  ["passes", passed],
];

describe("pages in Chromium", () => {
  for (const [name, sample] of samples) {
    it(`${name}: nothing is empty, cut or beyond the sides`, async (context) => {
      if (opened === undefined) return context.skip();
      const [text, charts] = await sample();
      expect(text).not.toMatch(/<script|https?:\/\/(?!www\.w3\.org\/)/);
      for (const width of widths) {
        for (const scheme of ["light", "dark"] as const) {
          await show(opened, text, width, scheme);
          expect(await problemsOf(opened), `${width} px, ${scheme}`).toEqual([]);
          expect(await opened.page.locator("figure > svg:visible").count()).toBe(charts);
        }
      }
      expect(opened.log).toEqual([]);
    });
  }

  it("tiles of thousands of tasks are as large as can be seen, and the page says how far they are drawn", async (context) => {
    if (opened === undefined) return context.skip();
    const rows = onnx.gather({ data: ["f32", [4096, 512]], indices: ["i32", [2048]], axis: 0 });
    const kernel = compile(rows, { target, tile: [1, 512], residency: "gm" });
    const timing = walkOf(kernel.tile, target);
    expect(timing.tasks).toBe(2048);
    await show(opened, timelinePage(kernel, timing), 1200, "light");
    const sizes = await opened.page.evaluate<readonly (readonly [number, number])[]>(
      `[...document.querySelectorAll("svg[aria-label^='tiles of the output'] [aria-label=rect] rect")].map((rect) => [Number(rect.getAttribute("width")), Number(rect.getAttribute("height"))])`,
    );
    expect(sizes.length).toBe(105);
    for (const [wide, high] of sizes) expect(Math.min(wide, high)).toBeGreaterThan(3);
    expect(await opened.page.locator("figcaption").last().innerText()).toContain(
      "Drawn: dim 0 up to 105 of 2,048",
    );
  });

  it("two schedules have their figures above the charts, and one scale", async (context) => {
    if (opened === undefined) return context.skip();
    const kernels = [
      compile(matrix, { target, tile: [7, 64] }),
      compile(matrix, { target, tile: [1, 8], buffers: 1, residency: "ub" }),
    ];
    const [one, other] = kernels.map((kernel) => ({ kernel, timing: walkOf(kernel.tile, target) }));
    if (one === undefined || other === undefined) throw new Error("two kernels");
    await show(opened, timelinePage(one.kernel, one.timing, other), 1200, "light");
    const table = opened.page.locator("table");
    const cells = await table.locator("tr", { hasText: "cycles" }).first().locator("td").allInnerTexts();
    expect(cells).toEqual([
      "cycles",
      ...[one, other].map(({ timing }) => timing.cycles.toLocaleString("en")),
    ]);
    const first = await opened.page.locator("figure > svg").first().boundingBox();
    const box = await table.boundingBox();
    expect((box?.y ?? NaN) + (box?.height ?? NaN)).toBeLessThan(first?.y ?? NaN);
    // The charts compare as the cycles do, however much faster one of the schedules is.
    const ratio = other.timing.cycles / one.timing.cycles;
    expect(ratio).toBeGreaterThan(3);
    const largest = (chart: string, mark: string, side: string): Promise<number[]> =>
      opened?.page.evaluate<number[]>(
        `[...document.querySelectorAll("svg[aria-label^='${chart}']")].filter((chart) => chart.getClientRects().length > 0).map((chart) => Math.max(...[...chart.querySelectorAll("[aria-label=${mark}] rect")].map((bar) => ${side})))`,
      ) ?? Promise.resolve([]);
    const bars = await largest("until when", "bar", 'Number(bar.getAttribute("height"))');
    const end = 'Number(bar.getAttribute("x")) + Number(bar.getAttribute("width")) - 64';
    const ends = await largest("pipes of", "bar", end);
    for (const [a = NaN, b = NaN] of [bars, ends]) expect(b / a / ratio).toBeCloseTo(1, 1);
  });

  it("the axis of time zooms without a script, and the bar under the pointer stands out and says its cycles", async (context) => {
    if (opened === undefined) return context.skip();
    const { page } = opened;
    const kernel = compile(matrix, { target, tile: [7, 64] });
    await show(opened, timelinePage(kernel, walkOf(kernel.tile, target)), 1280, "light");
    for (const chart of ["pipes of the opened cores", "the unified buffer of core 0"]) {
      const shown = page.locator(`svg[aria-label^='${chart}']:visible`);
      await page.getByRole("radio", { name: "1x" }).check();
      const wide = (await shown.boundingBox())?.width ?? NaN;
      expect(wide).toBeGreaterThan(1100);
      for (const zoom of [4, 16]) {
        await page.getByRole("radio", { name: `${zoom}x` }).check();
        expect(await shown.count()).toBe(1);
        expect(((await shown.boundingBox())?.width ?? NaN) / wide).toBeCloseTo(zoom, 1);
        expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      }
    }
    await page.getByRole("radio", { name: "4x" }).check();
    expect(await problemsOf(opened)).toEqual([]);
    await page.getByRole("radio", { name: "4x" }).press("ArrowLeft");
    expect(await page.getByRole("radio", { name: "1x" }).isChecked()).toBe(true);
    const bars = page.locator("svg[aria-label^='pipes of']:visible [aria-label=bar] rect");
    const widths = await bars.evaluateAll((all) => all.map((rect) => Number(rect.getAttribute("width"))));
    const bar = bars.nth(widths.indexOf(Math.max(...widths)));
    const edge = () => bar.evaluate((rect) => getComputedStyle(rect).strokeWidth);
    expect(await edge()).not.toBe("2px");
    await bar.hover();
    expect(await edge()).toBe("2px");
    expect(await bar.locator("title").textContent()).toMatch(/cycles [\d,]+ to [\d,]+/);
  });

  it("a long program's pass page folds what stays, wraps long lines, and shows each change", async (context) => {
    if (opened === undefined) return context.skip();
    const [text] = passed();
    await show(opened, text, 600, "light");
    const lines = opened.page.locator("pre:visible");
    const wide = await lines.evaluateAll((all) => all.map((pre) => pre.scrollWidth - pre.clientWidth));
    expect(Math.max(...wide)).toBeLessThanOrEqual(0);
    const hidden = await opened.page.locator("details:not([open]) ins, details:not([open]) del").count();
    const schedules = await opened.page
      .locator("details", { has: opened.page.locator("summary", { hasText: "schedule" }) })
      .locator("ins, del")
      .count();
    expect(hidden).toBe(schedules);
    expect(
      await opened.page.locator("summary", { hasText: /^\d+ unchanged lines?$/ }).count(),
    ).toBeGreaterThan(0);
  });

  it("the check finds a page that is empty, too wide, or has a chart without marks", async (context) => {
    if (opened === undefined) return context.skip();
    const words = "<p>Enough words to be a page that somebody would read to its end.</p>";
    const bad = [
      ["", "no text"],
      [`${words}<div style="width:1300px">wide</div>`, "overflows: 1308 of 1200"],
      [`${words}<figure><svg aria-label="c" viewBox="0 0 9 9" width="90"></svg></figure>`, "c: empty"],
    ] as const;
    for (const [body, problem] of bad) {
      await show(opened, `<!doctype html><body>${body}`, 1200, "light");
      expect(await problemsOf(opened)).toContain(problem);
    }
  });

  it("times are decimals of a millisecond, and stand where a narrow page shows them", async (context) => {
    if (opened === undefined) return context.skip();
    const result = await timedSearch(matrix, 20);
    await show(opened, tunePage(result), 600, "light");
    const ticks = await opened.page.evaluate<string[]>(
      `[...document.querySelectorAll("figure > svg[aria-label^='colours'] text, figure > svg[aria-label*='against ms'] g[aria-label^='y-axis tick'] text")].map((text) => text.textContent)`,
    );
    const numbers = ticks.filter((text) => /^\d/.test(text));
    expect(numbers.length).toBeGreaterThan(4);
    for (const text of numbers) expect(text).toMatch(/^\d+(\.\d+)?( ms)?$/);
    const sides = await opened.page.evaluate<number[][]>(
      `[...document.querySelectorAll("th")].filter((th) => th.textContent === "ms").map((th) => [th.getBoundingClientRect().right, th.closest(".scroll").getBoundingClientRect().right])`,
    );
    expect(sides).toHaveLength(2);
    for (const [right = Infinity, edge = 0] of sides) expect(right).toBeLessThanOrEqual(edge);
    expect(await opened.page.locator("p", { hasText: "measured" }).first().innerText()).toBe(
      `19 measured, ${result.counts.pruned.toLocaleString("en")} pruned, 1 error; ${result.space.tiles} tiles. Seed 1.`,
    );
  });

  it("a search names its program, its command and its versions, and its tables fit 1280 px and scroll at 400", async (context) => {
    if (opened === undefined) return context.skip();
    const { page } = opened;
    const paged = await tune(pages, { target, budget: 5 });
    const text = tunePage(paged, { command: "tilec tune pages.tir --html x.html", version: "7.8.9" });
    const wider = () =>
      page.evaluate<number>(
        `[...document.querySelectorAll(".scroll")].filter((box) => box.scrollWidth > box.clientWidth).length`,
      );
    await show(opened, text, 1280, "light");
    expect(await wider()).toBe(0);
    expect(await page.locator("pre").innerText()).toContain(
      "func @gather(%data: tensor<2048x16x8x128xbf16>, %indices: tensor<64x32xi32>) -> tensor<64x32x16x8x128xbf16>",
    );
    expect(await page.locator("p.note").innerText()).toMatch(
      /^tilec tune pages\.tir --html x\.html; target ascend-a2; tilec 7\.8\.9, clock \d+$/,
    );
    await show(opened, text, 400, "dark");
    expect(await wider()).toBeGreaterThan(0);
  });

  it("the colours follow the reader's theme", async (context) => {
    if (opened === undefined) return context.skip();
    const papers = [];
    for (const scheme of ["light", "dark"] as const) {
      await show(opened, tunePage(searched), 600, scheme);
      papers.push(await opened.page.evaluate("getComputedStyle(document.body).backgroundColor"));
    }
    expect(papers).toEqual(["rgb(255, 255, 255)", "rgb(13, 17, 23)"]);
  });

  it("the keyboard reaches each costed cell, whose link leads to its row", async (context) => {
    if (opened === undefined) return context.skip();
    await show(opened, tunePage(searched), 600, "light");
    const { page } = opened;
    const focused = () =>
      page.evaluate<string>(
        `document.activeElement.closest("svg") ? document.activeElement.getAttribute("href") : ""`,
      );
    let link = "";
    for (let k = 0; k < 20 && link === ""; k++) {
      await page.keyboard.press("Tab");
      link = await focused();
    }
    expect(link).toMatch(/^#(s-|refused-)/);
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.querySelector('tr:target') !== null")).toBe(true);
    const broken = await page.evaluate(
      `[...document.querySelectorAll("a")].filter((a) => document.querySelector(CSS.escape ? "#" + CSS.escape(a.getAttribute("href").slice(1)) : "") === null).length`,
    );
    expect(broken).toBe(0);
  });

  it("names and reasons are text, whatever they hold", async (context) => {
    if (opened === undefined) return context.skip();
    const nasty = `</title><img src=x onerror="document.title='hit'">&amp;`;
    const [first] = searched.refused;
    const result: TuneResult = {
      ...searched,
      name: nasty,
      verdict: nasty,
      refused: [...searched.refused, ...(first === undefined ? [] : [{ ...first, reason: nasty }])],
    };
    await show(opened, tunePage(result), 600, "light");
    expect(await opened.page.locator("img").count()).toBe(0);
    expect(await opened.page.locator("h1").innerText()).toContain(nasty);
    await show(opened, tuneSvg(result), 800, "light", "svg");
    expect(await opened.page.evaluate("document.querySelectorAll('img').length")).toBe(0);
  });

  it("the image stands alone: as a file, and inside a page", async (context) => {
    if (opened === undefined) return context.skip();
    writeFileSync(join(folder, "image.svg"), tuneSvg(searched));
    for (const scheme of ["light", "dark"] as const) {
      await show(
        opened,
        `<!doctype html><body style="margin:0"><img src="image.svg" width="600">`,
        600,
        scheme,
      );
      const image = opened.page.locator("img");
      expect(await image.evaluate((img) => (img as HTMLImageElement).naturalWidth)).toBeGreaterThan(600);
      expect(await drawn(opened, image)).toBeGreaterThan(0.1);
    }
    await show(opened, tuneSvg(searched), 800, "light", "svg");
    expect(await opened.page.evaluate("document.querySelector('parsererror') === null")).toBe(true);
    expect(await opened.page.evaluate("document.documentElement.tagName")).toBe("svg");
  });
});
