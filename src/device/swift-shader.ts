/**
 * SwiftShader, Chromium's software implementation of Vulkan, which the npm package `@sparticuz/chromium`
 * ships for Linux on x64. It is unpacked once, into a folder that later processes find.
 */
import { brotliDecompressSync } from "node:zlib";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, normalize } from "node:path";
import { makeFilledFolder, type FileContent } from "../output/write-file.js";
import { messageOf } from "../../ir/faults.js";

/** File that names the driver's library for Vulkan's loader. */
const driver = "vk_swiftshader_icd.json";

/**
 * Paths of the unpacked files of SwiftShader, a software GPU, or the reason why SwiftShader is not available.
 */
export type SwiftShader =
  | { readonly status: "ready"; readonly driver: string; readonly loader: string }
  /** The package is not installed. */
  | { readonly status: "absent" }
  | { readonly status: "unusable"; readonly reason: string };

/**
 * Finds SwiftShader, a software GPU, and unpacks the files into the temporary directory. Resolves to the
 * paths of the files, or to the reason why SwiftShader is not available. Never rejects.
 */
export async function unpackSwiftShader(): Promise<SwiftShader> {
  const from = packageFolder();
  if (from === undefined) return { status: "absent" };
  try {
    const { version } = JSON.parse(readFileSync(join(from, "package.json"), "utf8")) as { version: string };
    const folder = join(tmpdir(), `tilec-swiftshader-${version}-${process.getuid?.() ?? 0}`);
    if (!existsSync(join(folder, driver))) makeFilledFolder(folder, await swiftShaderFiles(from));
    return { status: "ready", driver: join(folder, driver), loader: join(folder, "libvulkan.so.1") };
  } catch (thrown) {
    const reason = messageOf(thrown);
    return { status: "unusable", reason: `SwiftShader of @sparticuz/chromium cannot be unpacked: ${reason}` };
  }
}

/**
 * Returns the folder of `@sparticuz/chromium`, whose `exports` name no file that stays the same over its
 * versions. Undefined if the package is not installed.
 */
export const packageFolder = (): string | undefined =>
  (createRequire(import.meta.url).resolve.paths("@sparticuz/chromium") ?? [])
    .map((modules) => join(modules, "@sparticuz/chromium"))
    .find((folder) => existsSync(join(folder, "package.json")));

/**
 * Resolves to the files of SwiftShader in a folder of `@sparticuz/chromium`. Rejects if its archive does not
 * contain the driver.
 */
export async function swiftShaderFiles(from: string): Promise<readonly FileContent[]> {
  const { parseTar } = await import("nanotar");
  const archive = join(from, "bin", "swiftshader.tar.br");
  const files = parseTar(brotliDecompressSync(readFileSync(archive))).flatMap(({ name, data }) =>
    data === undefined ? [] : [{ name: normalize(name), data }],
  );
  if (!files.some(({ name }) => name === driver)) throw new Error(`${archive} holds no ${driver}`);
  return files;
}
