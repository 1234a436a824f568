/**
 * npm run bench:wgpu: the conformance cases through a second front end of WGSL and a second driver, wgpu on
 * Mesa's lavapipe.
 *
 * Needs npm's `deno` and Debian's mesa-vulkan-drivers. `--deno FILE` is the program (default: `deno` of the
 * path), `--tools FOLDER` has the unpacked package, `--json` prints the results. Ends with exit code 1 if a
 * case fails, and 2 if a part is missing.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { packageFile } from "../src/device/package-files.js";
import { fail, parseFlags, shared } from "./flags.js";
import type { WgpuAdapter, WgpuResult } from "./wgpu-side.js";

const install =
  "npm install --prefix FOLDER deno and --deno FOLDER/node_modules/.bin/deno; apt-get install mesa-vulkan-drivers, or --tools a folder with it unpacked";

const flags = parseFlags("bench:wgpu", "the conformance cases on wgpu and Mesa's lavapipe", {
  json: shared.json,
  deno: { type: "string", default: "deno", help: "the program deno (default: that of the path)" },
  tools: shared.tools,
});
const root = flags.tools === undefined ? "/" : resolve(flags.tools);
const driver = join(root, "usr/share/vulkan/icd.d/lvp_icd.x86_64.json");
if (!existsSync(driver)) fail(`${driver} is not there`, install);
const library = join(root, "usr/lib/x86_64-linux-gnu");
const { error, status, stdout, stderr } = spawnSync(
  flags.deno,
  ["run", "--allow-all", "--unstable-webgpu", packageFile("dist/bench/wgpu-side.js")],
  {
    encoding: "utf8",
    maxBuffer: 2 ** 30,
    env: {
      ...process.env,
      VK_ICD_FILENAMES: driver,
      ...(flags.tools === undefined ? {} : { LD_LIBRARY_PATH: library }),
    },
  },
);
if (error !== undefined) fail(`${flags.deno}: ${error.message}`, install);
if (status !== 0) fail(`${flags.deno} ended with ${status ?? "a signal"}\n${stderr}`, install);
const [adapter, ...results] = stdout
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as unknown) as [WgpuAdapter, ...WgpuResult[]];
const count = (kernels: WgpuResult["kernels"], status: WgpuResult["status"]): number =>
  results.filter((result) => result.kernels === kernels && result.status === status).length;
if (flags.json) console.log(JSON.stringify({ schema: 1, ...adapter, results }, null, 2));
else {
  console.log(`${adapter.adapter}${adapter.software ? " (software)" : ""}`);
  for (const kernels of ["software", "GPU"] as const)
    console.log(
      `kernels for ${kernels}: ${count(kernels, "pass")} pass, ${count(kernels, "fail")} fail, ${count(kernels, "skip")} skipped`,
    );
  for (const { kernels, file, id, status, message } of results)
    if (status === "fail") console.log(`${file} ${id}, kernels for ${kernels}: ${message ?? ""}`);
}
process.exitCode = results.some((result) => result.status === "fail") || results.length === 0 ? 1 : 0;
