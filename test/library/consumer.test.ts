/**
 * A new user's project: npm installs the packed tarball into a folder outside the repository, with an empty temporary directory and
 * without NODE_PATH. Nothing that was unpacked or installed here may help.
 */
import { execFileSync, spawnSync, type SpawnSyncReturns } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { root } from "../support/root.js";
import { scratchFolder } from "../support/scratch-folder.js";

const home = scratchFolder("consumer");
const project = join(home, "project");
const temporary = join(home, "empty");
const coverage = join(home, "coverage");

/** The environment of somebody who has never run tilec. */
const env = {
  PATH: process.env["PATH"],
  HOME: home,
  TMPDIR: temporary,
  NO_COLOR: "1",
  npm_config_cache: execFileSync("npm", ["config", "get", "cache"], { encoding: "utf8" }).trim(),
  npm_config_userconfig: execFileSync("npm", ["config", "get", "userconfig"], { encoding: "utf8" }).trim(),
  npm_config_globalconfig: execFileSync("npm", ["config", "get", "globalconfig"], {
    encoding: "utf8",
  }).trim(),
};

function inProject(command: string, ...args: readonly string[]): SpawnSyncReturns<string> {
  rmSync(coverage, { recursive: true, force: true });
  return spawnSync(command, args, {
    cwd: project,
    encoding: "utf8",
    env: { ...env, NODE_V8_COVERAGE: coverage },
  });
}

const npm = (...args: readonly string[]): void => {
  execFileSync("npm", [...args, "--no-audit", "--no-fund", "--prefer-offline"], {
    cwd: project,
    env,
    stdio: "pipe",
  });
};

const tilec = (...args: readonly string[]): SpawnSyncReturns<string> =>
  inProject(process.execPath, "node_modules/tilec/dist/src/cli/main.js", ...args);

const vitest = (): SpawnSyncReturns<string> =>
  inProject(process.execPath, "node_modules/vitest/vitest.mjs", "run");

/**
 * Returns the text that Dawn prints on stderr when it is asked for an adapter. Vulkan drivers of the machine may cause warnings, which
 * no process can prevent. Empty without the package `webgpu`.
 */
function askDawn(): string {
  const script = `import { create } from "webgpu";
    try { process.dlopen({ exports: {} }, "libvulkan.so.1"); } catch {}
    const gpu = create([]);
    await gpu.requestAdapter();`;
  const { status, stderr } = inProject(process.execPath, "--input-type=module", "--eval", script);
  return status === 0 ? stderr : "";
}

let saidByDawn = "";

/** Returns the text of a command on stderr without the text of Dawn. */
const withoutDawn = (stderr: string): string =>
  saidByDawn === "" ? stderr : stderr.replaceAll(saidByDawn, "");

/** Modules of the last command that lie in the repository. */
function ofRepository(): readonly string[] {
  const urls = readdirSync(coverage).flatMap((file) => {
    const { result } = JSON.parse(readFileSync(join(coverage, file), "utf8")) as {
      readonly result: readonly { readonly url: string }[];
    };
    return result.map(({ url }) => url);
  });
  expect(urls.some((url) => url.startsWith(pathToFileURL(join(project, "node_modules/tilec/")).href))).toBe(
    true,
  );
  return urls.filter((url) => url.startsWith(pathToFileURL(root).href));
}

beforeAll(() => {
  mkdirSync(project);
  mkdirSync(temporary);
  execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", home], { cwd: root });
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module", private: true }));
  writeFileSync(
    join(project, "vitest.config.js"),
    `export default { test: { setupFiles: ["tilec/vitest"], include: ["*.test.js"] } };`,
  );
  writeFileSync(
    join(project, "kernel.test.js"),
    `import { expect, it } from "vitest";
     import { compile, gatherElements, targets } from "tilec";
     it("has the same bits", async () => {
       const op = gatherElements({ data: ["f32", [64, 80]], indices: ["i32", [64, 64]], axis: 0 });
       await expect(compile(op, { target: targets.ascendA2 })).toMatchReference({
         backends: ["sim", "webgpu"],
         require: ["webgpu"],
       });
     });`,
  );
});

const gather = ["--op", "gather", "--data", "f32[64,16]", "--indices", "i32[32]"];
const onBoth = ["run", ...gather, "--seed", "1", "--backend", "reference,webgpu"];
const pinned = manifest.devDependencies;

describe.each([
  ["of today", ["webgpu", "@sparticuz/chromium", "vitest"]],
  [
    "that tilec is built with",
    [
      `webgpu@${pinned.webgpu}`,
      `@sparticuz/chromium@${pinned["@sparticuz/chromium"]}`,
      `vitest@${pinned.vitest}`,
    ],
  ],
])("with the optional packages %s", (_, packages) => {
  beforeAll(() => {
    rmSync(join(project, "node_modules"), { recursive: true, force: true });
    rmSync(temporary, { recursive: true, force: true });
    mkdirSync(temporary);
    const [tarball] = readdirSync(home).filter((name) => name.endsWith(".tgz"));
    npm("install", "--save-dev", join(home, tarball!), ...packages);
    saidByDawn = askDawn();
  });

  it("lists a device, runs on it, and loads nothing of the repository", () => {
    const devices = tilec("devices", "--json");
    expect([devices.status, withoutDawn(devices.stderr)]).toEqual([0, ""]);
    expect(JSON.parse(devices.stdout)).toMatchObject({ devices: [{ limits: expect.anything() }] });
    expect(ofRepository()).toEqual([]);
    const run = tilec(...onBoth, "--json");
    expect([run.status, withoutDawn(run.stderr)]).toEqual([0, ""]);
    expect(ofRepository()).toEqual([]);
  });

  it("has a green test on the simulator and on WebGPU, and no other word of vitest", () => {
    const { status, stdout, stderr } = vitest();
    expect(`${stdout}${stderr}`).toMatch(/Tests\s+1 passed \(1\)/);
    expect(status).toBe(0);
    expect(withoutDawn(stderr)).toBe("");
  });
});

describe("without one of them", () => {
  const files = join(project, "node_modules/tilec/test/conformance/cases/seed.json");
  it.each([
    ["@sparticuz/chromium", "npm install @sparticuz/chromium"],
    ["webgpu", "npm install webgpu @sparticuz/chromium"],
  ])("%s, each command says which line installs it", (name, line) => {
    npm("uninstall", name);
    rmSync(temporary, { recursive: true, force: true });
    mkdirSync(temporary);
    expect(existsSync(join(project, "node_modules", name))).toBe(false);
    const check = ["check", files, "--backend", "webgpu"];
    for (const words of [["devices"], onBoth, check]) {
      const { status, stderr } = tilec(...words);
      expect([words[0], stderr]).toEqual([words[0], expect.stringContaining("[TC703]")]);
      expect(stderr).toContain(line);
      expect(withoutDawn(stderr)).not.toMatch(/^\s+at /m);
      expect(status).toBe(1);
    }
    const { status, stdout, stderr } = vitest();
    expect(`${stdout}${stderr}`).toContain(line);
    expect(status).toBe(1);
  });
});
