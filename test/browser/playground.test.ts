/** The built playground in a headless Chromium with WebGPU. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateRawSync, gzipSync } from "node:zlib";
import axe from "axe-core";
import type { Page, Response } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, beforeEach, describe, expect, it, type TestContext } from "vitest";
import { gallery } from "../../playground/src/gallery.js";
import { galleryTexts } from "../../playground/src/gallery-texts.js";
import { openPage, type OpenPage } from "../support/chromium.js";
import { root } from "../support/root.js";

const folder = (path: string): string => fileURLToPath(new URL(`../../playground/${path}`, import.meta.url));
const path = "/playground/dist/index.html";

let opened: OpenPage | undefined;
let page: Page;
let origin = "";
const requests: string[] = [];

beforeAll(async () => {
  await build({ configFile: folder("vite.config.ts"), logLevel: "error" });
  try {
    opened = await openPage("<!doctype html><title>tilec</title>");
  } catch (thrown) {
    if (process.env["CI"] === "true") throw new Error(`no Chromium in CI: ${String(thrown)}`);
    console.warn(`SKIPPED, no Chromium: ${String(thrown)}`);
    return;
  }
  ({ page } = opened);
  ({ origin } = new URL(page.url()));
  page.setDefaultTimeout(120_000);
  page.on("request", (request) => requests.push(request.url()));
});

afterAll(async () => {
  await opened?.close();
});

/** The page as a visitor first sees it, or as a link has it. */
async function visit(fragment = ""): Promise<void> {
  await page.goto("about:blank");
  await page.goto(`${origin}${path}${fragment}`);
  await verdict().waitFor();
  await by("program").waitFor();
}

beforeEach(async (context: TestContext) => {
  if (opened === undefined) {
    context.skip();
    return;
  }
  await page.setViewportSize({ width: 1400, height: 900 });
  await page.emulateMedia({ colorScheme: "light" });
  await visit();
});

const by = (id: string) => page.getByTestId(id);
const verdict = () => by("verdict");
/** Moves a slider to the stop of an entry. */
async function slide(id: string, entry: number): Promise<void> {
  const stops = (await by(id).getAttribute("data-stops")) ?? "";
  const place = stops.split(",").indexOf(String(entry));
  if (place < 0) throw new Error(`${id} has no stop at ${entry}: ${stops}`);
  await by(id).fill(String(place));
}
const isLegal = (legal: boolean) => page.locator(`[data-testid=verdict][data-legal=${legal}]`).waitFor();
const program = (): Promise<string> =>
  page.evaluate(`[...document.querySelectorAll(".cm-line")].map((line) => line.textContent).join("\\n")`);

async function choose(id: string): Promise<void> {
  await by("gallery").selectOption(id);
  const said = galleryTexts[id]?.split("\n")[0] ?? "func @seed_";
  await page.locator(".cm-line", { hasText: said }).first().waitFor();
}

/** Until the page says what is true of it. */
async function until(check: () => Promise<boolean>): Promise<void> {
  await expect.poll(check, { timeout: 120_000, interval: 30 }).toBe(true);
}

async function sameBits(): Promise<{ readonly same: string | null; readonly backends: string | null }> {
  await by("run").click();
  await by("result").waitFor({ timeout: 120_000 });
  return {
    same: await by("result").getAttribute("data-same-bits"),
    backends: await by("result").getAttribute("data-backends"),
  };
}

const small = `func @f(%x: tensor<8x16xf32>, %i: tensor<4x16xi32>) -> tensor<4x16xf32> target("ascend-a2") schedule {tile = [8, 8]} {
  %y = onnx.gather_elements %x, %i {axis = 0}
  return %y
}
`;
/** 64 rows of 16384 numbers: three operands of which a tile of 256 columns is the most that fits. */
const wide = `func @wide(%x: tensor<64x4096xf32>, %i: tensor<64x4096xi32>) -> tensor<64x4096xf32> target("ascend-a2") schedule {tile = [64, 128]} {
  %y = onnx.gather_elements %x, %i {axis = 0}
  return %y
}
`;

const pages = `func @pages(%cache: tensor<2048x16x8x128xf16>, %pages: tensor<64x32xi32>) -> tensor<64x32x16x8x128xf16> target("ascend-a2") schedule {residency = gm} {
  %sequence = onnx.gather %cache, %pages {axis = 0}
  return %sequence
}
`;

/** Writes a program, and waits until the page shows it: its form has the type of the data. */
async function write(text: string): Promise<void> {
  await by("program").fill(text);
  const [, shape = "", dtype = ""] = /tensor<([\dx]+)x(\w+)>/.exec(text) ?? [];
  await until(async () => (await by("data").inputValue()) === `${dtype}[${shape.replaceAll("x", ",")}]`);
}

describe("the gallery", () => {
  for (const { id } of gallery) {
    it(`${id} loads and runs on every backend with the same bits`, async () => {
      await choose(id);
      await until(async () => (await verdict().getAttribute("data-code")) !== null);
      if (id === "over-budget" || id === "no-legal-tile") {
        await isLegal(false);
        await by("suggestion").click();
      }
      await isLegal(true);
      expect(await sameBits()).toEqual({ same: "true", backends: "reference, sim, webgpu" });
    });
  }
});

describe("the sliders", () => {
  it("are those of a scatter's domain, which has other dims than the output", async () => {
    const text = `func @f(%x: tensor<64x8xi32>, %i: tensor<40x3xi32>, %u: tensor<40x3x8xi32>) -> tensor<64x8xi32> target("ascend-a2") {
  %y = access.scatter %x, %i, %u (d0 < 40, d1 < 3, d2 < 8) -> (%i[d0, d1], d2) yield %u[d0, d1, d2] {oob = error, combine = add}
  return %y
}
`;
    await by("program").fill(text);
    await by("tile-2").waitFor();
    const extents = ["tile-0", "tile-1", "tile-2"].map(async (id) =>
      Number(((await by(id).getAttribute("data-stops")) ?? "").split(",").at(-1)),
    );
    expect(await Promise.all(extents)).toEqual([40, 3, 8]);
    expect(await by("tile-3").count()).toBe(0);
    await slide("tile-0", 8);
    await until(async () => /tile = \[8, 3, 8\]/.test(await program()));
    await isLegal(true);
  });
});

describe("the verdict", () => {
  it("flips when a tile is dragged across a limit, and the suggested tile is accepted", async () => {
    await write(wide);
    await isLegal(true);
    const bar = by("ub-bar");
    const bytesAt = async () => Number(await bar.getAttribute("data-bytes"));
    const budget = Number(await bar.getAttribute("data-budget"));
    expect(budget).toBe(196608);
    await slide("tile-1", 256);
    await isLegal(false);
    expect(await verdict().getAttribute("data-code")).toBe("TC401");
    const over = (await bytesAt()) - budget;
    expect(await verdict().locator(".headline").innerText()).toBe(
      `✗ Does not fit: ${over.toLocaleString("en")} B too many`,
    );
    expect(await bytesAt()).toBeGreaterThan(budget);
    expect(await program()).toContain("tile = [64, 256]");
    await by("suggestion").click();
    await isLegal(true);
    expect(await bytesAt()).toBeLessThanOrEqual(budget);
    await by("undo").click();
    await isLegal(false);
    await by("redo").click();
    await isLegal(true);
  });

  it("of a new tile comes while it is dragged, one for each position at most", async () => {
    await visit();
    let positions = 0;
    for (const id of ["sort", "over-budget", "embedding", "kv-pages"]) {
      await choose(id);
      await by("tile-0").waitFor();
      const dims = await page.locator("[data-testid^=tile-][type=range]").count();
      for (let d = 0; d < dims; d++) {
        positions += await page.evaluate<number>(`(async () => {
          const slider = document.querySelector("[data-testid=tile-${d}]");
          for (let k = 0; k <= Number(slider.max); k++) {
            const count = performance.getEntriesByName("verdict").length;
            slider.value = String(k);
            slider.dispatchEvent(new Event("input", { bubbles: true }));
            for (let wait = 0; wait < 200 && performance.getEntriesByName("verdict").length === count; wait++)
              await new Promise((resolve) => setTimeout(resolve, 2));
          }
          return Number(slider.max) + 1;
        })()`);
      }
    }
    const verdicts = await page.evaluate<number>(`performance.getEntriesByName("verdict").length`);
    expect(verdicts).toBeGreaterThan(positions / 2);
    // One for each program that is opened, too.
    expect(verdicts).toBeLessThanOrEqual(positions + 5);
  });

  it("shows a broken program's diagnostic at its place, and recovers", async () => {
    await write(small.replace("onnx.gather_elements", "onnx.gather_element"));
    const first = by("problems").locator("li").first();
    await first.waitFor();
    expect(await first.getAttribute("data-line")).toBe("2");
    expect(await first.getAttribute("data-code")).toBe("TC003");
    await page.locator(".cm-lintRange-error").first().waitFor();
    await isLegal(false);
    expect(await verdict().locator(".headline").innerText()).toBe("✗ The program has an error");
    await first.locator("button").click();
    expect(await page.evaluate("document.activeElement.closest('.cm-editor') !== null")).toBe(true);
    await write(small);
    await isLegal(true);
    await until(async () => (await page.locator(".cm-lintRange-error").count()) === 0);
  });
});

describe("an error", () => {
  it("stands in one place; what else cannot be shown refers to it", async () => {
    for (const [id, code] of [
      ["over-budget", "TC401"],
      ["no-legal-tile", "TC402"],
    ] as const) {
      await choose(id);
      await until(async () => (await verdict().getAttribute("data-code")) === code);
      expect(await by("problems").locator("li").innerText()).toContain(code);
      for (const tab of ["ir", "tile-ir", "wgsl", "pto", "timeline", "steps"]) {
        await by(tab).click();
        await page.locator("#panel p", { hasText: "the verdict says why the program is refused" }).waitFor();
        const seen = await page.evaluate<string>("document.body.innerText");
        expect(seen.split(code).length - 1, `${id}, ${tab}`).toBe(1);
      }
    }
    await write(small.replace("axis = 0", "axis = 7"));
    await isLegal(false);
    await page.locator("section.space p", { hasText: "the verdict says why" }).waitFor();
    expect((await page.evaluate<string>("document.body.innerText")).split("TC101").length - 1).toBe(1);
  });

  it("of a field makes the verdict grey, says which field, and goes when the text means something", async () => {
    await write(small);
    await isLegal(true);
    const grey = "rgb(87, 96, 106)";
    for (const [field, bad, good] of [
      ["tile", "abc", "8,16"],
      ["data", "f33[2]", "f32[8,16]"],
      ["axis", "x", "0"],
    ] as const) {
      await by(field).fill(bad);
      await page.locator("[data-testid=verdict][data-stale=true]").waitFor();
      expect(await verdict().locator(".headline").innerText()).toBe(
        `? Not judged: correct the field ${field}`,
      );
      expect(await by("stale").innerText()).toContain("legal: about");
      const colours = await page.evaluate<readonly string[]>(
        `["border-top-color", "border-top-style"].map((name) => getComputedStyle(document.querySelector("[data-testid=verdict]"))[name])`,
      );
      expect(colours).toEqual([grey, "dashed"]);
      expect(await by("run").isEnabled()).toBe(false);
      expect(await by("run-why").innerText()).toBe(`Cannot run: the field ${field} is not valid.`);
      await by(field).fill(good);
      await page.locator("[data-testid=verdict][data-stale=false]").waitFor();
      await isLegal(true);
    }
  });
});

describe("buttons", () => {
  it("that do nothing keep the focus and say why", async () => {
    const why = async (id: string) => (await by(id).getAttribute("title")) ?? "";
    expect(await why("undo")).toBe("nothing to undo");
    expect(await why("redo")).toBe("nothing to redo");
    await choose("over-budget");
    await isLegal(false);
    expect(await why("undo")).toBe("");
    expect(await why("run")).toBe("the program is refused");
    await by("run").focus();
    await page.keyboard.press("Enter");
    expect(await by("stop").count()).toBe(0);
    await by("suggestion").click();
    await isLegal(true);
    await by("steps").click();
    await by("step-view").waitFor();
    expect(await why("step-back")).toBe("this is the first statement");
    await by("step-last").click();
    expect(await why("step-on")).toBe("this is the last statement");
    expect(await why("step-back")).toBe("");
  });
});

describe("the first screen", () => {
  it("says what the page is, and links to the documentation, whose pages lead back", async () => {
    await page.getByText("see whether it fits a core's memory").waitFor();
    await page.getByRole("link", { name: "Documentation" }).click();
    await page.getByRole("heading", { name: "tilec: The playground" }).waitFor();
    expect(
      await page.locator("img").evaluate((img) => (img as HTMLImageElement).naturalWidth),
    ).toBeGreaterThan(600);
    await page.getByRole("link", { name: "All pages" }).click();
    const links = await page
      .locator("li a")
      .evaluateAll((all) => all.map((a) => (a as HTMLAnchorElement).href));
    expect(links.length).toBeGreaterThan(25);
    const broken = await page.evaluate<readonly string[]>(`(async () => {
      const broken = [];
      for (const link of ${JSON.stringify(links)}) {
        const response = await fetch(link);
        const page = new DOMParser().parseFromString(await response.text(), "text/html");
        if (!response.ok || page.querySelector("h1") === null) broken.push(link);
        for (const a of page.querySelectorAll("main a")) {
          const to = new URL(a.getAttribute("href"), link);
          if (to.origin !== location.origin) continue;
          const found = await fetch(to.href.replace(/#.*/, ""));
          if (!found.ok) broken.push(link + " to " + to.href);
          else if (to.hash !== "" && !(await found.text()).includes('id="' + decodeURIComponent(to.hash.slice(1)) + '"')) broken.push(link + " to " + to.href);
        }
      }
      return broken;
    })()`);
    expect(broken).toEqual([]);
    await page.getByRole("link", { name: "Playground", exact: true }).click();
    await verdict().waitFor();
  });

  it("of 1280 by 800 shows the sliders, the verdict, the lower bound, the bottleneck, compared schedules, the map and Run", async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await visit();
    await by("compared").waitFor();
    expect(await by("standing").innerText()).toMatch(
      /^lower bound [\d,]+ cycles \([\w ]+\), this takes 3\.3 times that; .*Bottleneck: MTE2, busy \d+ % of the cycles\.$/s,
    );
    await by("heat-map").waitFor();
    for (const id of ["tile-0", "tile-1", "verdict", "standing", "compared", "run", "heat-map", "timeline"]) {
      const box = await by(id).boundingBox();
      if (box === null) throw new Error(`${id} is not drawn`);
      expect(box.y + box.height, id).toBeLessThanOrEqual(800);
      expect(box.x + box.width, id).toBeLessThanOrEqual(1280);
    }
    // A trade-off: at least three schedules, of which the one at hand is not the best.
    const rows = by("compared").locator("tbody tr");
    expect(await rows.count()).toBeGreaterThanOrEqual(3);
    expect(await rows.first().locator("button").count()).toBe(1);
  });

  it("hints and compared schedules are one list by cycles, and the first is what it says", async () => {
    await choose("paged");
    // Until then the list is the one for the example before.
    await until(async () => (await by("compared").innerText()).includes("47 of 48 cores idle"));
    const rows = by("compared").locator("tbody tr");
    const cycles = await rows.evaluateAll((all) => all.map((row) => Number(row.getAttribute("data-cycles"))));
    expect(cycles).toEqual([...cycles].sort((a, b) => a - b));
    expect(await verdict().innerText()).not.toContain("Try: --");
    const [least = 0] = cycles;
    await rows.first().locator("button").click();
    await until(async () =>
      (await verdict().innerText()).includes(`about ${least.toLocaleString("en")} cycles`),
    );
    await isLegal(true);
  });
});

describe("the sliders", () => {
  const entriesOf = async (id: string, list: "stops" | "refused"): Promise<readonly number[]> =>
    ((await by(id).getAttribute(`data-${list}`)) ?? "")
      .split(",")
      .filter((text) => text !== "")
      .map(Number);

  it("stop at the entries worth trying, of a table of 151,936 rows as of a small one, and hatch what is refused", async () => {
    const text = `func @rows(%x: tensor<151936x4096xf16>, %i: tensor<4096xi32>) -> tensor<4096x4096xf16> target("ascend-a2") schedule {residency = gm} {
  %y = onnx.gather %x, %i {axis = 0}
  return %y
}
`;
    await write(text);
    await isLegal(true);
    const stops = await entriesOf("tile-0", "stops");
    const refused = await entriesOf("tile-0", "refused");
    expect(stops).toEqual(expect.arrayContaining([1, 2, 3, 4, 6, 8, 1024, 2048, 4096]));
    expect(stops.length).toBeLessThan(60);
    // The largest entries need more than UB, whichever they are.
    expect(refused.length).toBeGreaterThan(2);
    expect(stops.slice(-refused.length)).toEqual(refused);
    const legalShare = await page.evaluate<number>(`(() => {
      const track = document.querySelector("[data-testid=tile-0]").parentElement;
      const [all, range] = [".ranges", ".refused-range"].map((name) => track.querySelector(name).getBoundingClientRect());
      return (range.left - all.left) / all.width;
    })()`);
    expect(legalShare).toBeCloseTo((stops.length - refused.length - 0.5) / (stops.length - 1), 2);
    for (const [entry, legal] of [
      [refused[0] ?? 0, false],
      [stops[stops.length - refused.length - 1] ?? 0, true],
    ] as const) {
      await slide("tile-0", entry);
      await until(async () => (await program()).includes(`tile = [${entry}, `));
      await isLegal(legal);
    }
  });

  it("hatch the entries that are too small, where a dim has to be loaded whole", async () => {
    await choose("sort");
    await isLegal(true);
    // The sliders of the program before may stand until those of this one are drawn.
    await expect
      .poll(
        async () => {
          const refused = await entriesOf("view-0", "refused");
          const stops = await entriesOf("view-0", "stops");
          return { legal: stops.filter((entry) => !refused.includes(entry)), largest: stops.at(-1) };
        },
        { timeout: 120_000, interval: 30 },
      )
      .toEqual({ legal: [1461], largest: 1461 });
  });
});

describe("the form", () => {
  it("and the text are in step", async () => {
    await write(`// kept\n${small}`);
    await isLegal(true);
    await by("tile").fill("4,16");
    await until(async () => (await program()).includes("tile = [4, 16]"));
    expect(await program()).toContain("// kept");
    await by("target").selectOption("ascend-950");
    await until(async () => (await program()).includes(`target("ascend-950")`));
    await by("profile").selectOption("head");
    await by("residency").selectOption("ub");
    await by("view").fill("4,16");
    await until(async () =>
      (await program()).includes("schedule {tile = [4, 16], view = [4, 16], profile = head, residency = ub}"),
    );
    await by("dialect").selectOption("directml");
    await until(async () => (await program()).includes("directml.gather_elements"));
    await by("dialect").selectOption("onnx");
    await by("op").selectOption("gather");
    await by("indices").fill("i32[3]");
    await until(async () => (await program()).includes("-> tensor<3x16xf32>"));
    await by("data").fill("f16[9,16]");
    await until(async () => (await program()).includes("-> tensor<3x16xf16>"));
    await by("axis").fill("1");
    await until(async () => (await program()).includes("-> tensor<9x3xf16>"));
    await write(small);
    await until(async () => (await by("data").inputValue()) === "f32[8,16]");
    expect(await by("op").inputValue()).toBe("gather_elements");
    expect(await by("dialect").inputValue()).toBe("onnx");
    expect(await by("tile").inputValue()).toBe("8,8");
  });

  it("says what is wrong with a text that means nothing, and keeps it", async () => {
    await write(small);
    await isLegal(true);
    await by("data").fill("f32[8,x");
    await page.locator("#data-wrong").waitFor();
    expect(await by("data").inputValue()).toBe("f32[8,x");
    expect(await program()).toContain("tensor<8x16xf32>");
  });
});

describe("a program with symbols", () => {
  it("is judged for every size, runs at the sizes given, and a link keeps them", async () => {
    await choose("symbolic");
    await isLegal(true);
    // 16 columns of f32; two copies of 64 indices and of 64 x 16 results, and the indices' scratch twice.
    expect(await by("sizes").innerText()).toContain(
      "64 V + 9216 <= 196608 bytes: legal for V <= 1500, its maximum",
    );
    await slide("tile-1", 32);
    await isLegal(false);
    expect(await by("sizes").innerText()).toContain("128 V + 8960 <= 196608 bytes: legal for V <= 1466");
    await by("undo").click();
    await isLegal(true);
    await by("size-N").fill("513");
    expect(await page.locator("#size-N-wrong").innerText()).toBe("dim N <= 512 says 0 to 512");
    await by("size-N").fill("37");
    await by("size-V").fill("100");
    expect(await sameBits()).toEqual({ same: "true", backends: "reference, sim, webgpu" });
    expect(await by("result").innerText()).toContain("Output 37x32xf32");
    await by("tile-ir").click();
    await until(async () => (await by("tile-ir-text").innerText()).includes("37x32xf32"));
    await page.waitForTimeout(600);
    const fragment = await page.evaluate<string>("location.hash");
    await visit(fragment);
    await until(async () => (await by("size-N").inputValue()) === "37");
    await by("size-N").fill("0");
    expect(await sameBits()).toEqual({ same: "true", backends: "reference, sim, webgpu" });
  });
});

describe("a link", () => {
  it("restores the program, its inputs, the function and the tab", async () => {
    await choose("pypto-gather-1");
    await by("tile-ir").click();
    await by("seed").fill("7");
    await by("run").click();
    await by("result").waitFor();
    const [text, result] = [await program(), await by("result").locator("p").last().innerText()];
    expect(result).toContain("data given; indices given");
    await until(() => page.evaluate<boolean>(`location.hash.length > 10`));
    await page.waitForTimeout(600);
    const fragment = await page.evaluate<string>("location.hash");
    await visit(fragment);
    expect(await program()).toBe(text);
    expect(await by("seed").inputValue()).toBe("7");
    expect(await by("tile-ir").getAttribute("aria-selected")).toBe("true");
    await by("tile-ir-text").waitFor();
    await by("run").click();
    await by("result").waitFor();
    expect(await by("result").locator("p").last().innerText()).toBe(result);
  });

  it("that anybody may have written does no harm", async () => {
    const nasty = `</style><img src=x onerror="globalThis.hit=1"><script>globalThis.hit=1</script>`;
    const packed = (value: unknown): string =>
      `#1.${deflateRawSync(JSON.stringify(value)).toString("base64url")}`;
    const bomb = `#1.${deflateRawSync(Buffer.alloc(2 ** 26)).toString("base64url")}`;
    const links = [
      packed({
        text: nasty,
        func: nasty,
        tab: nasty,
        seed: nasty,
        inputs: [[nasty, [[nasty, nasty, nasty]]]],
      }),
      packed({
        text: small.replace("@f", `@f_${"f".repeat(5000)}`),
        tab: "tune",
        seed: 1e300,
        inputs: { ["__proto__"]: 1 },
      }),
      packed({
        text: small,
        inputs: [
          [
            "f",
            [
              ["data", { dtype: "f32", shape: [8, 16] }, "AAAA"],
              ["indices", { dtype: "i32", shape: [-1] }, "!"],
            ],
          ],
        ],
      }),
      packed({ text: "x".repeat(300_000) }),
      packed(`func @${nasty}`),
      bomb,
      `#1.${nasty}`,
      "#1.%E0%A4%A",
    ];
    for (const link of links) {
      await visit(link);
      await page.waitForTimeout(150);
      expect(await page.evaluate("globalThis.hit"), link.slice(0, 40)).toBeUndefined();
      expect(await page.locator("img").count()).toBe(0);
      expect(await page.evaluate("({}).polluted")).toBeUndefined();
    }
    // Inputs that are not what they say end in a diagnostic.
    await visit(links[2]);
    await isLegal(true);
    await by("run").click();
    await page.locator(".run .diagnostics, [data-testid=result]").first().waitFor();
  });
});

describe("a file", () => {
  const file = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
  const open = async (name: string, buffer: Buffer | string) => {
    await by("open").setInputFiles({
      name,
      mimeType: "application/octet-stream",
      buffer: Buffer.from(buffer),
    });
  };

  it("of cases, a model and an array become programs and inputs", async () => {
    await by("open").setInputFiles(file("test/conformance/cases/seed.json"));
    await by("function").waitFor();
    await by("function").selectOption("seed_dml_gather_nd_1");
    await until(async () => (await by("op").inputValue()) === "gather_nd");
    expect(await sameBits()).toEqual({ same: "true", backends: "reference, sim, webgpu" });
    expect(await by("result").innerText()).toContain("2 (0x40000000), 3 (0x40400000), 0 (0x00000000), 1");
    await by("open").setInputFiles(file("test/conformance/onnx-node-tests/test_gather_0/model.onnx"));
    await until(async () => (await program()).startsWith("func @y("));
    await write(`func @sorted(%data: tensor<2x4xf32>, %order: tensor<2x4xi32>) -> tensor<2x4xf32> {
  %y = pypto.gather %data, %order {dim = 0}
  return %y
}
`);
    await by("open").setInputFiles(file("examples/data/order.npy"));
    await until(async () => (await program()).includes("%order: tensor<1461x4xi32>"));
    expect(await by("notes").innerText()).toContain("order.npy is now the indices of @sorted");
  });

  it("that is dropped on the page opens", async () => {
    await page.evaluate(`(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([${JSON.stringify(wide)}], "wide.tir"));
      document.querySelector(".cm-content").dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: transfer }));
    })()`);
    await until(async () => (await program()) === wide);
  });

  it("that is broken, or means harm, is told in words, and runs nothing", async () => {
    const nasty = `<img src=x onerror="globalThis.hit=1">`;
    const before = await program();
    for (const [name, contents, said] of [
      ["a.npy", "no array", "TC011"],
      ["a.onnx", "no model", "TC014"],
      ["a.json", `[{"id": ${JSON.stringify(nasty)}}]`, "TC013"],
      ["a.exe", nasty, "TC010"],
      [`${nasty.replaceAll("/", "")}.json`, "{", "TC013"],
    ] as const) {
      await open(name, contents);
      await until(async () => (await by("notes").innerText()).includes(said));
      expect(await program()).toBe(before);
    }
    expect(await page.evaluate("globalThis.hit")).toBeUndefined();
    expect(await page.locator("img").count()).toBe(0);
  });
});

describe("long work", () => {
  const long = `func @long(%x: tensor<4096x4096xf32>, %i: tensor<4096x4096xi32>) -> tensor<4096x4096xf32> target("webgpu") {
  %y = onnx.gather_elements %x, %i {axis = 0}
  return %y
}
`;

  it("stops without a result, and the next run works", async () => {
    await write(long);
    await isLegal(true);
    await by("run").click();
    await page.waitForTimeout(300);
    await by("stop").click();
    await by("ended").waitFor();
    expect(await by("result").count()).toBe(0);
    // The page was awake all the while.
    await write(small);
    await isLegal(true);
    expect((await sameBits()).same).toBe("true");
  });

  it("that ends after the program has changed shows nothing of the other program", async () => {
    // Half a second of work: the seed changes while it goes on.
    await write(long.replaceAll("4096", "1024"));
    await isLegal(true);
    await by("run").click();
    await until(() => by("stop").isEnabled());
    await by("seed").fill("7");
    await until(() => by("run").isEnabled());
    expect(await by("result").count()).toBe(0);
    expect((await sameBits()).same).toBe("true");
  });

  it("waits for the verdict on the program that it is of", async () => {
    // The compiler is slow to judge: the page has the new text, and the verdict and inputs of the text before.
    await page.evaluate(`{
      const post = Worker.prototype.postMessage;
      Worker.prototype.postMessage = function (message) {
        if (message.kind === "show") setTimeout(() => post.call(this, message), 700);
        else post.call(this, message);
      };
    }`);
    await choose("dml-gather-nd-shape");
    expect(await by("run").isEnabled()).toBe(false);
    expect((await sameBits()).same).toBe("true");
  });

  it("of a search shows progress, stops, and its best is taken", async () => {
    // Thousands of candidates: a search that takes its time on any machine.
    await write(pages);
    await by("tune").click();
    await by("budget").fill("5000");
    await by("tune-start").click();
    await page.locator(".tune progress[value]").waitFor();
    await by("tune-stop").click();
    await until(async () => (await page.locator(".tune progress").count()) === 0);
    await by("budget").fill("20");
    await by("tune-start").click();
    await by("tuned").waitFor();
    await by("use-best").click();
    await until(async () => /tile = \[[\d, ]+\].*residency = gm/.test(await program()));
    await isLegal(true);
  });
});

describe("the map of tiles", () => {
  it("is said to be drawn until it is there; that there is none is said of one tile alone", async () => {
    await page.goto("about:blank");
    // Every text that the section has had, from the page's first element on.
    await page.addInitScript(() => {
      const seen = new Set<string>();
      Object.assign(globalThis, { seenOfMap: seen });
      new MutationObserver(() => {
        for (const { textContent } of Array.from(document.querySelectorAll("section.space > p")))
          seen.add(textContent);
      }).observe(document, { childList: true, subtree: true, characterData: true });
    });
    const seen = () =>
      page.evaluate(() => [...(globalThis as unknown as { seenOfMap: ReadonlySet<string> }).seenOfMap]);
    await visit();
    await by("heat-map").waitFor();
    const texts = await seen();
    expect(texts).toContain("Drawing the map…");
    expect(texts.join()).not.toContain("no map");
    await write(
      "func @one(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<f32> {\n  %y = onnx.gather %x, %i {axis = 0}\n  return %y\n}\n",
    );
    await until(async () => (await seen()).includes("There is one tile: no map."));
  });

  it("sets the tile of a cell, and an illegal one says why", async () => {
    // The map of the program before may stand until that of this one is drawn, and its cells are other tiles.
    await by("heat-map").locator("svg").first().waitFor();
    await by("heat-map").evaluate((map) => map.querySelector("svg")?.setAttribute("data-before", ""));
    await choose("over-budget");
    await by("heat-map").locator("svg:not([data-before]) a").first().waitFor();
    const hatched = by("heat-map").locator('[fill="url(#illegal)"] a').first();
    const titled = await by("heat-map").locator('[fill="url(#illegal)"] title').first().textContent();
    expect(titled).toMatch(/TC401.*needs/s);
    await by("heat-map").locator("a").last().click();
    await isLegal(true);
    await hatched.click();
    await isLegal(false);
    expect(await verdict().getAttribute("data-code")).toBe("TC401");
  });
});

describe("the map by keys", () => {
  it("is one tab stop, and arrows move from cell to cell", async () => {
    await by("heat-map").locator("a").first().waitFor();
    const stops = () => by("heat-map").locator('a[tabindex="0"]').count();
    const cells = await by("heat-map").locator("a").count();
    expect(cells).toBeGreaterThan(100);
    expect(await stops()).toBe(1);
    // The stop is the cell of the tile that is shown: rows above it have smaller entries along dim 0.
    await by("heat-map").locator('a[tabindex="0"]').focus();
    const title = () => page.evaluate<string>("document.activeElement.textContent");
    const tileAt = async () =>
      /tile = \[(\d+), (\d+)\]/
        .exec(await title())
        ?.slice(1)
        .map(Number) ?? [];
    expect(await tileAt()).toEqual([8, 128]);
    await page.keyboard.press("ArrowDown");
    const [down = 0, same] = await tileAt();
    expect([down > 8, same]).toEqual([true, 128]);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowLeft");
    const [row, left = 0] = await tileAt();
    expect([row, left < 128]).toEqual([8, true]);
    expect(await stops()).toBe(1);
    await page.keyboard.press("Enter");
    await until(async () => (await program()).includes(`tile = [8, ${left}]`));
    await until(async () => (await verdict().getAttribute("aria-busy")) === "false");
    expect(await page.evaluate("document.activeElement.closest('figure') !== null")).toBe(true);
    // From the far corner no arrow leads out of the map.
    for (let k = 0; k < 40; k++) await page.keyboard.press("ArrowRight");
    expect((await tileAt())[1]).toBe(128);
  });
});

describe("charts", () => {
  it("are as wide as their column, and nothing of them is cut", async () => {
    await choose("pypto-gather-1");
    await by("tune").click();
    await by("budget").fill("20");
    await by("tune-start").click();
    await by("tuned").waitFor();
    for (const width of [1280, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      for (const [tab, charts] of [
        ["timeline", "timeline-charts"],
        ["ir", "heat-map"],
      ] as const) {
        await by(tab).click();
        await by(charts).locator("svg").first().waitFor();
        await page.waitForTimeout(600);
        const found = await page.evaluate<readonly string[]>(`(() => {
          const found = [];
          for (const chart of document.querySelectorAll("[data-testid=${charts}] svg[aria-label]")) {
            const box = chart.getBoundingClientRect();
            const name = chart.getAttribute("aria-label");
            if (box.width === 0 || box.height < 40) continue;
            const column = chart.closest("figure").getBoundingClientRect();
            if (box.right > column.right + 1 || column.width - box.width > 24) found.push(name + ": " + box.width + " of " + column.width);
            for (const text of chart.querySelectorAll("text")) {
              const at = text.getBoundingClientRect();
              if (at.width > 0 && (at.left < box.left - 1 || at.right > box.right + 1)) found.push(name + ": " + text.textContent + " is cut");
            }
          }
          return found;
        })()`);
        expect(found, `${tab} at ${width}`).toEqual([]);
      }
    }
  });

  it("of time zoom, and scroll in their column", async () => {
    await by("timeline").click();
    const lanes = by("timeline-charts").locator(
      "svg[aria-label='pipes of the opened cores over time']:visible",
    );
    await lanes.waitFor();
    const wide = (await lanes.boundingBox())?.width ?? 0;
    await page.getByRole("radio", { name: "4x" }).check();
    expect(((await lanes.boundingBox())?.width ?? 0) / wide).toBeCloseTo(4, 1);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  });
});

describe("the tabs", () => {
  it("show passes, tile IR, WGSL, PTO C++, a timeline and steps", async () => {
    await choose("pypto-gather-1");
    await by("ir-panel").locator("ins").first().waitFor();
    for (const [tab, said] of [
      ["tile-ir", "gather %"],
      ["wgsl", "@compute"],
      ["pto", "TLOAD"],
    ] as const) {
      await by(tab).click();
      await until(async () => (await by(`${tab}-text`).innerText()).includes(said));
    }
    await by("timeline").click();
    await by("timeline-charts")
      .locator("svg[aria-label='pipes of the opened cores over time']:visible")
      .waitFor();
    await by("timeline").press("ArrowRight");
    const view = by("step-view");
    await view.waitFor();
    expect(await by("steps").getAttribute("aria-selected")).toBe("true");
    const picks: string[] = [];
    const seen = new Set<string>();
    for (let k = 0; k < 30 && (await by("step-on").isEnabled()); k++) {
      const text = await by("step-text").innerText();
      seen.add(text.split(" ")[0] ?? "");
      if (text.startsWith("gather") && picks.length === 0) {
        await by("picks").waitFor();
        picks.push(...(await by("picks").locator("tbody tr").allInnerTexts()));
      }
      const before = await view.getAttribute("data-step");
      await by("step-on").click();
      await until(async () => (await view.getAttribute("data-step")) !== before);
    }
    // The second row of indices of the documentation's example begins with 1.
    expect(picks).toContain("[1, 0]\t%indices[1, 0] = 1\t[1, 0]");
    expect([...seen].sort()).toEqual(["gather", "load", "store", "sync", "task"]);
    const last = Number(await view.getAttribute("data-step"));
    await by("step-back").click();
    expect(Number(await view.getAttribute("data-step"))).toBe(last - 1);
  });
});

describe("copies", () => {
  const copied = async (form: string): Promise<string> => {
    await by("copy-as").selectOption(form);
    await until(async () => (await by("copied").count()) > 0);
    await page.waitForTimeout(200);
    return by("copied").inputValue();
  };

  it("are a command, a program, a case and a text that say the same elsewhere", async () => {
    await choose("pypto-gather-1");
    await isLegal(true);
    const command = await copied("cli");
    const main = join(root, "dist/src/cli/main.js");
    const said = execFileSync("bash", ["-c", command.replace("npx tilec", `node ${main}`)], {
      encoding: "utf8",
    });
    expect(said).toContain("legal");
    const folder = mkdtempSync(join(root, "dist/copies-"));
    try {
      writeFileSync(join(folder, "case.json"), await copied("case"));
      const checked = execFileSync(
        "node",
        [main, "check", join(folder, "case.json"), "--backend", "reference,sim"],
        { encoding: "utf8" },
      );
      expect(checked).toContain("pass");
      writeFileSync(join(folder, "copy.mjs"), await copied("library"));
      const ran = execFileSync("node", [join(folder, "copy.mjs")], { encoding: "utf8" });
      expect(ran).toContain("load %");
    } finally {
      rmSync(folder, { recursive: true });
    }
    expect((await copied("tir")).trim()).toBe((await program()).trim());
    await by("share").click();
    await until(async () => (await by("copied").inputValue()).startsWith("http"));
    const link = await by("copied").inputValue();
    expect(link).toMatch(/#1\./);
    const before = await program();
    await visit(new URL(link).hash);
    expect(await program()).toBe(before);
  });
});

describe("a GPU", () => {
  /** Runs code in the workers before they do anything that takes long. */
  async function inWorkers<T>(code: string): Promise<readonly T[]> {
    await by("heat-map").waitFor();
    return Promise.all(page.workers().map((worker) => worker.evaluate<T>(code)));
  }

  it("that is missing leaves the rest working, and the page says so", async () => {
    await inWorkers(`void Object.defineProperty(navigator, "gpu", { value: undefined })`);
    expect(await sameBits()).toEqual({ same: "true", backends: "reference, sim" });
    expect(await by("result").innerText()).toContain("no WebGPU");
    expect(await by("result-webgpu").getAttribute("data-status")).toBe("absent");
  });

  it("whose bits differ is told, with the first element that does", async () => {
    await choose("sort");
    await inWorkers(`
      const range = GPUBuffer.prototype.getMappedRange;
      GPUBuffer.prototype.getMappedRange = function (...all) {
        const bytes = range.apply(this, all);
        if ((this.usage & GPUBufferUsage.MAP_READ) !== 0 && bytes.byteLength > 4) new Uint8Array(bytes)[20] ^= 1;
        return bytes;
      };
      undefined`);
    expect((await sameBits()).same).toBe("false");
    expect(await by("result").innerText()).toMatch(
      /TC610 webgpu: 1 of \d+ elements differ; first at \[1, 1\]/,
    );
  });

  it("that is lost is asked for anew", async () => {
    await inWorkers(`
      globalThis.devices = [];
      const ask = GPUAdapter.prototype.requestDevice;
      GPUAdapter.prototype.requestDevice = async function (...all) {
        const device = await ask.apply(this, all);
        globalThis.devices.push(device);
        return device;
      };
      undefined`);
    const devices = async (): Promise<number> =>
      (await inWorkers<number>("devices.length")).reduce((sum, count) => sum + count, 0);
    expect((await sameBits()).backends).toBe("reference, sim, webgpu");
    expect(await devices()).toBe(1);
    await inWorkers("devices.forEach((device) => device.destroy())");
    await by("seed").fill("2");
    expect(await sameBits()).toEqual({ same: "true", backends: "reference, sim, webgpu" });
    expect(await devices()).toBe(2);
  });
});

describe("the page", () => {
  it("takes less than 280 kB, compressed, until it judges", async () => {
    const loads: { readonly asked: number; readonly bytes: Promise<number> }[] = [];
    const count = (response: Response): void => {
      const asked = response.request().timing().startTime;
      loads.push({ asked, bytes: response.body().then((body) => gzipSync(body).length) });
    };
    const bytesOf = async (some: typeof loads): Promise<number> =>
      (await Promise.all(some.map(({ bytes }) => bytes))).reduce((sum, bytes) => sum + bytes, 0);
    await page.goto("about:blank");
    page.on("response", count);
    // When the verdict is drawn, by the page's own clock: what is asked for later is not needed for it.
    await page.addInitScript(`new MutationObserver((_, observer) => {
      if (document.querySelector("[data-testid=verdict]") === null) return;
      window.judgedAt = performance.timeOrigin + performance.now();
      observer.disconnect();
    }).observe(document, { childList: true, subtree: true })`);
    await page.goto(`${origin}${path}`);
    await by("heat-map").waitFor();
    page.off("response", count);
    const judgedAt = await page.evaluate<number>("window.judgedAt");
    const first = loads.filter(({ asked }) => asked <= judgedAt);
    const [judging, all, files] = [await bytesOf(first), await bytesOf(loads), first.length];
    const kilobytes = [judging, all].map((bytes) => (bytes / 1000).toFixed(0));
    console.log(`playground: ${kilobytes.join(" kB compressed until it judges, ")} kB with the map`);
    expect(files).toBeGreaterThan(3);
    expect(judging).toBeLessThan(280_000);
  });

  it("has no serious fault of accessibility, light or dark", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await visit();
      await choose("over-budget");
      await isLegal(false);
      await by("heat-map").waitFor();
      await by("suggestion").click();
      await isLegal(true);
      await sameBits();
      await page.evaluate(axe.source);
      for (const tab of ["ir", "tile-ir", "timeline", "steps", "tune"]) {
        await by(tab).click();
        await page.waitForTimeout(700);
        const found = await page.evaluate<{
          readonly violations: readonly {
            readonly id: string;
            readonly impact: string;
            readonly nodes: readonly { readonly html: string }[];
          }[];
        }>(`axe.run(document, { resultTypes: ["violations"] })`);
        const serious = found.violations
          .filter(({ impact }) => impact === "serious" || impact === "critical")
          .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`);
        expect(serious, `${colorScheme}, ${tab}`).toEqual([]);
      }
    }
  });

  it("fits from 360 to 2000 px, light and dark", async () => {
    await choose("over-budget");
    await by("suggestion").click();
    await isLegal(true);
    await sameBits();
    for (const tab of ["ir", "wgsl", "timeline", "steps", "tune"]) {
      await by(tab).click();
      await page.waitForTimeout(500);
      for (const width of [360, 400, 820, 1000, 1320, 1600, 2000]) {
        await page.setViewportSize({ width, height: 900 });
        const over = await page.evaluate<string[]>(`(() => {
          const inScroller = (element) => element.closest(".scroll, pre, figure, .cm-scroller, [type=file]") !== null;
          return [...document.querySelectorAll("body *")]
            .filter((element) => !inScroller(element) && element.getBoundingClientRect().right > innerWidth + 1)
            .map((element) => element.outerHTML.slice(0, 100))
            .concat(document.documentElement.scrollWidth > innerWidth ? ["the page is " + document.documentElement.scrollWidth + " wide"] : []);
        })()`);
        expect(over, `${tab} at ${width} px`).toEqual([]);
      }
    }
  });

  it("is worked with the keyboard: a suggestion keeps the focus, a slider goes from stop to stop, tabs by arrows", async () => {
    await choose("over-budget");
    await isLegal(false);
    await by("suggestion").press("Enter");
    await isLegal(true);
    expect(await page.evaluate("document.activeElement.dataset.testid")).toBe("verdict");
    const stops = ((await by("tile-1").getAttribute("data-stops")) ?? "").split(",").map(Number);
    const before = Math.max(...stops.filter((entry) => entry < 240));
    await by("tile-1").press("ArrowLeft");
    await until(async () => (await program()).includes(`tile = [64, ${before}]`));
    expect(await page.evaluate("document.activeElement.dataset.testid")).toBe("tile-1");
    await by("ir").press("ArrowLeft");
    expect(await page.evaluate("document.activeElement.dataset.testid")).toBe("tune");
  });

  it("asks nobody but its own host, and writes nothing to the console", () => {
    expect(requests.length).toBeGreaterThan(50);
    const others = requests.filter((url) => !url.startsWith(origin) && !/^(data|blob|about):/.test(url));
    expect(others).toEqual([]);
    expect(opened?.log).toEqual([]);
  });
});
