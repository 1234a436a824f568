import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";
import { unended } from "./test/support/unended.js";

/**
 * Left out by `npm test` (`--mode quick`) and run by `npm run test:all`, with the seconds that each takes on a machine with two
 * idle cores, and the reason. `npx vitest run FILE` runs any of them.
 */
const slow: readonly (readonly [file: string, seconds: number, reason: string])[] = [
  ["test/api/lowering-hints.test.ts", 8, "follows each hint of each lowering"],
  [
    "test/backends/checked-large.test.ts",
    8,
    "executes tiles of millions of elements on the checked executor",
  ],
  ["test/module/scatter-sizes.test.ts", 10, "compiles modules of scatters for each of many sizes"],
  ["test/backends/scatter-webgpu.test.ts", 12, "compiles kernels of scatters of each type for WebGPU"],
  ["test/module/scatter.test.ts", 13, "compiles, loads and runs modules of the scatters of half the cases"],
  ["test/backends/pypto-scatter.test.ts", 14, "compiles 1,600 random scatters, and runs them in Python"],
  ["test/conformance/scatter.test.ts", 60, "runs each case of scatters on every backend"],
  ["test/property/scatter-legality.test.ts", 12, "compiles every tile of 80 random scatters"],
  ["test/property/scatter-traffic.test.ts", 25, "executes 1,000 schedules of random scatters"],
  ["test/api/scatter.test.ts", 9, "compiles each tile of some scatters"],
  ["test/backends/index-types.test.ts", 28, "compiles kernels of each index type for WebGPU"],
  [
    "test/backends/pto/cases.test.ts",
    60,
    "compiles kernels of each case for each target with a C++ compiler",
  ],
  ["test/backends/pto/faults.test.ts", 35, "compiles kernels with faults with a C++ compiler"],
  ["test/backends/pto/maps.test.ts", 24, "compiles kernels of random maps with a C++ compiler"],
  ["test/backends/pto/property.test.ts", 11, "compiles kernels of random programs with a C++ compiler"],
  ["test/backends/pto/scatter.test.ts", 50, "compiles kernels of scatters with a C++ compiler"],
  ["test/backends/pto/values.test.ts", 60, "compiles kernels of values with a C++ compiler"],
  ["test/backends/robustness.test.ts", 26, "runs every case on a second device, without bounds checks"],
  ["test/library/foreign.test.ts", 20, "judges fourteen kernels from the packed package, a process each"],
  ["test/docs/tables.test.ts", 15, "makes the tables of the documentation that take seconds"],
  ["test/bench/flags.test.ts", 15, "starts each benchmark twice"],
  ["test/bench/dataset.test.ts", 90, "makes the files of npm run repro twice"],
  ["test/bench/page.test.ts", 10, "needs the packages of bench/"],
  ["test/browser/app.test.ts", 12, "builds the app of docs/app.md, and draws it in a browser in software"],
  ["test/browser/chromium.test.ts", 22, "runs every case in a browser that draws in software"],
  ["test/browser/pages.test.ts", 22, "draws pages in a browser that draws in software"],
  [
    "test/browser/playground.test.ts",
    100,
    "works every example of the page in a browser that draws in software",
  ],
  ["test/report/next-step.test.ts", 12, "follows what explain says to try, one compilation after another"],
  ["test/browser/report.test.ts", 9, "draws pages in a browser"],
  ["test/cli/compare.test.ts", 19, "follows each flag that explain compares, one compilation after another"],
  ["test/cli/standard-input.test.ts", 12, "pipes programs into processes, one after another"],
  [
    "test/conformance/model-tiles.test.ts",
    9,
    "explains each tile of PyPTO's models under each profile and target",
  ],
  ["test/cli/list.test.ts", 10, "runs, explains and searches lists of programs, one after another"],
  ["test/cli/fold.test.ts", 15, "plans, writes and runs the kernels of models under each policy of folding"],
  ["test/cli/sensitivity.test.ts", 12, "compiles a program at both ends of the range of each figure"],
  ["test/cli/plan.test.ts", 11, "searches by commands, one process after another"],
  ["test/cli/profiles.test.ts", 10, "runs commands under each profile, one process after another"],
  ["test/cli/project-operators.test.ts", 20, "runs commands in a project, one process after another"],
  ["test/cli/start-up.test.ts", 29, "starts the command time after time"],
  ["test/cli/streams.test.ts", 14, "pipes through processes, one after another"],
  ["test/cli/tune.test.ts", 90, "searches that are killed, split and measured, one process after another"],
  ["test/clock/closed.test.ts", 50, "walks every statement of long nests beside the closed form"],
  ["test/clock/lower-bound.test.ts", 25, "searches 500 random gathers under both residencies"],
  ["test/clock/one-number.test.ts", 27, "derives the schedules of random programs twice"],
  [
    "test/clock/program-lower-bound.test.ts",
    40,
    "searches hundreds of programs for a schedule under their floor",
  ],
  ["test/cross-check/onnx-operators.test.ts", 8, "needs the packages of bench/"],
  ["test/cross-check/onnx-shapes.test.ts", 4, "needs the packages of bench/"],
  ["test/cross-check/onnxruntime.test.ts", 13, "needs the packages of bench/"],
  ["test/cross-check/values.test.ts", 40, "needs the packages of bench/"],
  ["test/docs/claims.test.ts", 20, "runs a program for each cell, on C++ and Python judges too"],
  ["test/docs/docs.test.ts", 48, "runs the commands of every page"],
  ["test/docs/extending.test.ts", 28, "compiles the sources with the edits of each section"],
  ["test/docs/library.test.ts", 10, "runs every snippet of the page"],
  ["test/docs/pypto-tests.test.ts", 10, "compiles each operator test of PyPTO for the tables of a page"],
  ["test/docs/tuning.test.ts", 14, "runs the searches of docs/tuning.md"],
  ["test/formats/spatter.test.ts", 9, "runs the gathers of a suite beside an oracle"],
  [
    "test/formats/output-schema.test.ts",
    15,
    "derives schemas from the types, and validates what commands print",
  ],
  ["test/formats/files.test.ts", 9, "reads texts as long as a string can be"],
  ["test/formats/string-limits.test.ts", 7, "reads texts as long as a string can be"],
  ["test/library/consumer.test.ts", 45, "installs the package and what goes with it from the registry"],
  ["test/library/example.test.ts", 9, "runs npm start, which searches and draws a page"],
  ["test/library/package.test.ts", 10, "installs the packed package, and resolves its types in every mode"],
  ["test/library/packed.test.ts", 11, "installs the packed package, and checks its types with every library"],
  ["test/library/slim.test.ts", 12, "installs the packed package without its optional parts"],
  ["test/output/full-disk.test.ts", 8, "runs commands on a small disk, one after another"],
  ["test/output/records.test.ts", 9, "searches in several processes at once"],
  ["test/output/rewritten.test.ts", 12, "runs each command that writes four times"],
  ["test/output/write-file.test.ts", 10, "pipes through processes, one after another"],
  [
    "test/passes/choose-schedule.test.ts",
    26,
    "costs the schedules of hundreds of gathers beside the default",
  ],
  ["test/property/verdicts.test.ts", 15, "judges 150 random programs by every command"],
  ["test/property/pypto-lines.test.ts", 9, "types back every line that explanations print"],
  ["test/property/mutants.test.ts", 7, "runs 400 programs with one slip on every executor"],
  ["test/property/scatter.test.ts", 12, "runs 250 random scatters under three schedules each"],
  ["test/property/sum-mutants.test.ts", 12, "runs programs of sums with slips on every executor"],
  ["test/property/ub-total.test.ts", 10, "explains hundreds of gathers that fill the buffer"],
  ["test/property/steps.test.ts", 15, "compiles kernels of random maps for WebGPU"],
  [
    "test/property/names.test.ts",
    15,
    "compiles programs under other names for WebGPU and with a C++ compiler",
  ],
  ["test/report/tune-cells.test.ts", 29, "costs each tile of each map again"],
  ["test/testing/foreign.test.ts", 15, "starts a process for each kernel that tilec did not write"],
  ["test/tune/exact.test.ts", 21, "costs every schedule of a search"],
  ["test/tune/more-ub.test.ts", 40, "searches random programs at several UB sizes"],
  ["test/tune/own-pipeline.test.ts", 9, "searches by pipelines that change each candidate"],
  ["test/tune/sizes.test.ts", 15, "searches each size of a family alone"],
  ["test/tune/sweep.test.ts", 140, "searches programs again at each value of a figure"],
  ["test/values/drawn-schedules.test.ts", 25, "compiles ten cases under 50 schedules each"],
  ["test/values/uneven-rows.test.ts", 12, "compiles and runs each length of a row under several schedules"],
  ["test/values/sums.test.ts", 17, "runs random sums on every backend"],
  ["test/values/unrolled.test.ts", 60, "runs 2,000 random values of long rows on every backend"],
  ["test/vitest/matchers.test.ts", 32, "runs vitest on projects of its own"],
  ["test/validation/validation.test.ts", 12, "fits the figures of two machines to sixty parts of their rows"],
];
const unknown = slow.filter(([file]) => !existsSync(new URL(file, import.meta.url)));
if (unknown.length > 0) throw new Error(`no such test: ${unknown.map(([file]) => file).join(", ")}`);

/**
 * Each has a process of its own: three replace a module (`vi.mock`), one counts the memories that a process allocates, four take
 * gigabytes, which a process that has run a hundred files may not have left. All others share processes, which read each module once.
 */
const isolated = [
  "test/clock/one-table.test.ts",
  "test/passes/verified-together.test.ts",
  "test/backends/whole-call.test.ts",
  "test/testing/skip.test.ts",
  "test/backends/checked-large.test.ts",
  "test/backends/far-tables.test.ts",
  "test/formats/files.test.ts",
  "test/formats/string-limits.test.ts",
];

export default defineConfig(({ mode }) => {
  const left = [...configDefaults.exclude, ...(mode === "quick" ? slow.map(([file]) => file) : [])];
  // A project that extends this file has it evaluated again, in another mode: what depends on the mode is its own.
  const provide = { quick: mode === "quick" };
  return {
    test: {
      pool: "forks",
      setupFiles: ["test/support/setup.ts"],
      // Ends what hangs, also on a machine with much else to do.
      testTimeout: 600_000,
      hookTimeout: 600_000,
      maxWorkers: availableParallelism(),
      reporters: ["default", unended()],
      // The command colours what it prints where CI is set.
      env: { NO_COLOR: "1" },
      projects: [
        {
          extends: true,
          test: {
            name: "shared",
            provide,
            include: ["test/**/*.test.ts"],
            exclude: [...left, ...isolated],
            isolate: false,
            globalSetup: ["test/support/packed-folder.ts"],
          },
        },
        { extends: true, test: { name: "isolated", provide, include: isolated, exclude: left } },
      ],
    },
  };
});
