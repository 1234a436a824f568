/**
 * npm run bench:isa: what AMD's compiler makes of the kernels that gpu-kernels.ts lists, on a machine without
 * a GPU.
 *
 * Dawn's SPIR-V of each kernel goes through `spirv-as` and through Mesa's RADV on its device without
 * hardware, which compiles for a family that RADV_FORCE_FAMILY names: code size, registers, shared memory,
 * waves of a SIMD, and the compiler's estimate of its throughput. `--against FOLDER` prints those of another
 * build behind an arrow, `--native` adds the kernels with native arithmetic, `--tools FOLDER` finds unpacked
 * Debian packages, `--json` prints the rows.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { deviceLimits } from "../ir/index.js";
import { emitWgsl, type Arithmetic } from "../backends/webgpu/index.js";
import { compile, targets } from "../src/index.js";
import { packageFile } from "../src/device/package-files.js";
import { table } from "../src/report/table.js";
import { importBuilt } from "./built.js";
import { fail, parseFlags, shared } from "./flags.js";
import { gpuKernels } from "./gpu-kernels.js";
import { countsIn, figures, spirvIn, type Counts, type Figure } from "./isa-figures.js";

/** RDNA 2, and GCN 4 before it. */
const families = ["navi21", "polaris10"] as const;
const packages = "mesa-vulkan-drivers libvulkan-dev spirv-tools gcc";

interface NamedText {
  readonly name: string;
  readonly code: string;
}

/** Compiler entry points of a build: this one, or the one that it is compared with. */
interface Build {
  readonly compile: typeof compile;
  readonly emitWgsl: typeof emitWgsl;
  readonly targets: typeof targets;
}

const flags = parseFlags(
  "bench:isa",
  "registers, waves and throughput of the kernels by AMD's compiler, without a GPU",
  {
    json: shared.json,
    against: shared.against,
    tools: shared.tools,
    native: { type: "boolean", default: false, help: "add the kernels with native arithmetic" },
  },
);
const root = flags.tools === undefined ? "" : resolve(flags.tools);
const library = join(root, "/usr/lib/x86_64-linux-gnu");
const environment = {
  ...process.env,
  ...(root === "" ? {} : { LD_LIBRARY_PATH: `${library}:${join(root, "/lib/x86_64-linux-gnu")}` }),
};
const work = mkdtempSync(join(tmpdir(), "tilec-isa-"));
process.on("exit", () => {
  rmSync(work, { recursive: true, force: true });
});

/** Runs a command and returns the standard output. Ends the process with an error if the command fails. */
function run(command: string, args: readonly string[], input = "", more: NodeJS.ProcessEnv = {}): string {
  const done = spawnSync(command, args, {
    input,
    encoding: "utf8",
    env: { ...environment, ...more },
    maxBuffer: 2 ** 30,
  });
  if (done.error !== undefined || done.status !== 0) {
    const why = done.error?.message ?? `it ended with ${done.status ?? "a signal"}\n${done.stderr}`;
    fail(`${command}: ${why}`, `apt-get install ${packages}, or --tools a folder with these unpacked`);
  }
  return done.stdout;
}

/**
 * Prepares the tools of bench:isa and returns three paths: the SPIR-V assembler, the Vulkan driver file
 * (`icd`) and the compiled program `isa.c`. Ends the process with an installation hint if a tool is missing.
 */
function tools(): { readonly assembler: string; readonly icd: string; readonly compiled: string } {
  const assembler = root === "" ? "spirv-as" : join(root, "/usr/bin/spirv-as");
  const driver = join(root, "/usr/share/vulkan/icd.d/radeon_icd.x86_64.json");
  const headers = join(root, "/usr/include");
  for (const path of [driver, join(headers, "vulkan/vulkan.h")])
    if (!existsSync(path))
      fail(`${path} is not there`, `apt-get install ${packages}, or --tools a folder with these unpacked`);
  run(assembler, ["--version"]);
  // A driver's file names its library by a path of the system.
  const icd = join(work, "icd.json");
  const written = JSON.parse(readFileSync(driver, "utf8")) as { ICD: { library_path: string } };
  const path = written.ICD.library_path;
  const moved = {
    ...written,
    ICD: { ...written.ICD, library_path: path.startsWith("/") ? join(root, path) : path },
  };
  writeFileSync(icd, JSON.stringify(moved));
  const compiled = join(work, "isa");
  const source = packageFile("bench/isa.c");
  run("cc", ["-O1", `-I${headers}`, source, "-o", compiled, `-L${library}`, "-l:libvulkan.so.1"]);
  return { assembler, icd, compiled };
}

/**
 * Returns the WGSL texts that a tilec build emits for the benchmark kernels. Each kernel has a text for the
 * first arithmetic mode in `arithmetics`. It also has a text for each other mode whose WGSL differs from that
 * of the first mode.
 */
function textsOf({ compile, emitWgsl, targets }: Build, arithmetics: readonly Arithmetic[]): NamedText[] {
  const target = targets.webgpu;
  const limits = deviceLimits(target);
  return gpuKernels.flatMap(({ name, func, schedule }) => {
    const { tile } = compile(func, { ...schedule, target });
    const [proved, ...others] = arithmetics.map(
      (arithmetic) => emitWgsl(tile, { limits, target, arithmetic }).code,
    );
    const differing = others.filter((code) => code !== proved);
    return [
      ...(proved === undefined ? [] : [{ name, code: proved }]),
      ...differing.map((code) => ({ name: `${name}, native`, code })),
    ];
  });
}

const { assembler, icd, compiled } = tools();

/**
 * Converts WGSL kernels to SPIR-V files and returns the path of each file by kernel name. Ends the process
 * with an error if a tool fails.
 */
function assembled(texts: readonly NamedText[]): ReadonlyMap<string, string> {
  const dump = packageFile("dist/bench/isa-dump.js");
  const printed = run(process.execPath, [dump], JSON.stringify(texts));
  return new Map(
    spirvIn(printed).map(({ name, spirv }, k) => {
      const [source, file] = [join(work, `${k}.spvasm`), join(work, `${k}.spv`)];
      writeFileSync(source, spirv);
      run(assembler, ["--target-env", "vulkan1.2", source, "-o", file]);
      return [name, file];
    }),
  );
}

/**
 * Compiles SPIR-V files with Mesa's driver RADV for a GPU family. Returns the compiler's statistics of each
 * kernel, for example the code size. A statistic that is not reported is NaN.
 */
function counted(files: ReadonlyMap<string, string>, family: string): ReadonlyMap<string, Counts> {
  const printed = run(compiled, [...files.values()], "", {
    RADV_FORCE_FAMILY: family,
    VK_ICD_FILENAMES: icd,
  });
  return countsIn(printed, [...files.keys()]);
}

const own: Build = { compile, emitWgsl, targets };
const other =
  flags.against === undefined
    ? undefined
    : ((await importBuilt(flags.against, ["tilec", "tilec/webgpu"])) as Build);
const files = assembled(textsOf(own, flags.native ? ["proved", "native"] : ["proved"]));
const perFamily = (of: ReadonlyMap<string, string>) =>
  families.map((family) => [family, counted(of, family)] as const);
const counts = perFamily(files);
const before = other === undefined ? [] : perFamily(assembled(textsOf(other, ["proved"])));
if (flags.json)
  console.log(
    JSON.stringify(
      { schema: 1, families: Object.fromEntries(counts.map(([name, of]) => [name, Object.fromEntries(of)])) },
      null,
      2,
    ),
  );
else
  for (const [k, [family, of]] of counts.entries()) {
    console.log(`${family}: waves of a SIMD, throughput as the compiler estimates its cycles`);
    const shown = (name: string, figure: Figure, value: number): string => {
      const was = before[k]?.[1].get(name)?.[figure];
      return was === undefined || was === value ? `${value}` : `${was} → ${value}`;
    };
    const columns = Object.keys(figures) as Figure[];
    console.log(
      table(
        ["kernel", ...columns],
        [...of].map(([name, all]) => [name, ...columns.map((figure) => shown(name, figure, all[figure]))]),
      ),
    );
  }
