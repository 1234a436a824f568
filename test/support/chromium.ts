/** A headless Chromium with WebGPU, from registry packages alone, and a page on loopback that serves this repository. */
import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { chromium, type Page } from "playwright-core";
import { packageFile } from "../../src/device/package-files.js";
import { packageFolder, swiftShaderFiles } from "../../src/device/swift-shader.js";
import { makeFilledFolder } from "../../src/output/write-file.js";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".css": "text/css",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

export interface OpenPage {
  readonly page: Page;
  /** What the page wrote to its console, and errors that nobody caught. */
  readonly log: readonly string[];
  close(): Promise<void>;
}

const swiftShader = "--use-webgpu-adapter=swiftshader";

/** Without these, a WebGPU canvas that is drawn on in software loses its device. */
const forCanvases = [
  "--enable-features=Vulkan",
  "--use-vulkan=swiftshader",
  "--use-angle=swiftshader",
  "--disable-vulkan-surface",
];

/**
 * `html` is the page at `/`; every other path is a file of the repository. `gpu`: in the Chrome of this machine, on its GPU.
 * Throws when the browser does not start.
 */
export const openPage = (html: string, gpu = false): Promise<OpenPage> =>
  open(html, packageFile("./"), gpu ? ["--enable-features=Vulkan"] : [swiftShader], gpu);

/** The page of a folder, which may draw on a WebGPU canvas. Throws when the browser does not start. */
export const openApp = (folder: string): Promise<OpenPage> =>
  open(readFileSync(join(folder, "index.html"), "utf8"), folder, [swiftShader, ...forCanvases]);

/**
 * Unpacks Chromium and SwiftShader into a folder that later processes find. The folder appears in one step, so no process starts a file
 * that another still writes, as the `executablePath` of `@sparticuz/chromium` lets it. Throws where that package is not installed.
 */
async function unpackChromium(): Promise<string> {
  const from = packageFolder();
  if (from === undefined) throw new Error("@sparticuz/chromium is not installed: npm ci");
  const { version } = JSON.parse(readFileSync(join(from, "package.json"), "utf8")) as { version: string };
  const folder = join(tmpdir(), `tilec-chromium-${version}-${process.getuid?.() ?? 0}`);
  const executable = join(folder, "chromium");
  if (!existsSync(executable))
    makeFilledFolder(folder, [
      ...(await swiftShaderFiles(from)),
      {
        name: "chromium",
        data: brotliDecompressSync(readFileSync(join(from, "bin", "chromium.br"))),
        executable: true,
      },
    ]);
  return executable;
}

async function open(html: string, root: string, flags: readonly string[], gpu = false): Promise<OpenPage> {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname));
    // Shared memory needs a page that is cross-origin isolated.
    response.setHeader("cross-origin-opener-policy", "same-origin");
    response.setHeader("cross-origin-embedder-policy", "require-corp");
    if (path === "/") {
      response.setHeader("content-type", "text/html");
      response.end(html);
      return;
    }
    const file = join(root, path);
    if (!file.startsWith(root) || statSync(file, { throwIfNoEntry: false })?.isFile() !== true) {
      response.statusCode = 404;
      response.end();
      return;
    }
    response.setHeader("content-type", types[extname(file)] ?? "application/octet-stream");
    createReadStream(file).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const profile = mkdtempSync(join(tmpdir(), "tilec-chromium-"));
  const browser = await chromium.launchPersistentContext(profile, {
    ...(gpu ? { channel: "chrome" } : { executablePath: await unpackChromium() }),
    headless: true,
    args: [
      "--no-sandbox",
      "--enable-unsafe-webgpu",
      ...flags,
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
    ],
  });
  const page = browser.pages()[0] ?? (await browser.newPage());
  const log: string[] = [];
  page.on("console", (message) => log.push(message.text()));
  page.on("pageerror", (error) => log.push(`uncaught: ${error.message}`));
  await page.goto(`http://127.0.0.1:${port}/`);
  return {
    page,
    log,
    async close() {
      await browser.close();
      server.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
