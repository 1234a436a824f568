/** The app of docs/app.md, from the packed package: it draws the same picture without a bundler, and served and built by Vite. */
import { readFileSync } from "node:fs";
import { createServer, preview } from "vite";
import { afterAll, beforeAll, expect, it, type TestContext } from "vitest";
import { packageFile } from "../../src/device/package-files.js";
import { openApp, type OpenPage } from "../support/chromium.js";
import { PackedProject } from "../support/packed.js";

const text = readFileSync(packageFile("docs/app.md"), "utf8");

/** The one block of a language that begins like this. */
function block(language: string, start: string): string {
  const found = [...text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, "gm"))]
    .map(([, own = ""]) => own)
    .filter((own) => own.startsWith(start));
  expect(found).toHaveLength(1);
  return found[0]!;
}

let project: PackedProject;
let opened: OpenPage | undefined;

beforeAll(async () => {
  project = new PackedProject();
  const commands = block("sh", "mkdir").trim().split("\n");
  const command = commands.find((line) => line.startsWith("npx tilec"))!;
  const { status, stderr } = project.tilec(...command.split(" ").slice(2));
  expect(status, stderr).toBe(0);
  project.write("index.html", block("html", "<!doctype"));
  project.write("main.js", block("js", "import"));
  try {
    opened = await openApp(project.folder);
  } catch (thrown) {
    if (process.env["CI"] === "true") throw thrown;
    console.warn(`SKIPPED, no Chromium: ${String(thrown)}`);
  }
});

afterAll(async () => {
  await opened?.close();
  project.remove();
});

/** Channels of the canvas that are not those of the pattern, of 4 x 256 x 256, and what the page said. */
async function wrongChannels(context: TestContext, address?: string): Promise<unknown> {
  if (opened === undefined) return context.skip();
  const { page, log } = opened;
  if (address !== undefined) await page.goto(address);
  await page
    .waitForFunction("document.title === 'drawn'", undefined, { timeout: 60_000 })
    .catch((thrown: unknown) => {
      throw new Error(log.join("\n"), { cause: thrown });
    });
  const png = (await page.locator("canvas").screenshot()).toString("base64");
  const channels = await page.evaluate<readonly number[]>(`(async () => {
    const image = new Image();
    image.src = "data:image/png;base64,${png}";
    await image.decode();
    const drawing = new OffscreenCanvas(256, 256).getContext("2d");
    drawing.drawImage(image, 0, 0);
    return [...drawing.getImageData(0, 0, 256, 256).data];
  })()`);
  expect(channels).toHaveLength(4 * 256 * 256);
  return channels.filter((channel, at) => {
    const pixel = at >> 2;
    const index = (pixel % 256) ^ (pixel >> 8);
    return channel !== [index, 255 - index, 128, 255][at % 4];
  }).length;
}

it("draws without a bundler", async (context) => {
  expect(await wrongChannels(context)).toBe(0);
});

it("draws as Vite serves it", async (context) => {
  const server = await createServer({
    root: project.folder,
    configFile: false,
    logLevel: "error",
    server: { host: "127.0.0.1", port: 0 },
  });
  try {
    await server.listen();
    expect(await wrongChannels(context, server.resolvedUrls!.local[0])).toBe(0);
  } finally {
    await opened?.page.goto("about:blank");
    await server.close();
  }
});

it("draws as Vite builds it", async (context) => {
  project.link("vite");
  const { status, stderr } = project.node("node_modules/vite/bin/vite.js", "build");
  expect(status, stderr).toBe(0);
  const server = await preview({
    root: project.folder,
    configFile: false,
    logLevel: "error",
    preview: { host: "127.0.0.1", port: 0 },
  });
  try {
    expect(await wrongChannels(context, server.resolvedUrls!.local[0])).toBe(0);
  } finally {
    await opened?.page.goto("about:blank");
    await server.close();
  }
});
