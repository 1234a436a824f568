/** The program at each level as text, and what it does over time. */
import { walkOf } from "../../../ir/index.js";
import { compile } from "../../../src/api/compile.js";
import { passSections, type PassStep } from "../../../src/report/pass-page.js";
import type { Timeline } from "../../../src/report/timeline-charts.js";
import { boundFunc, type Asked } from "./program.js";

/**
 * Compiles a program and returns HTML markup with the changes that each compiler pass makes. Throws a
 * CompileError if the program is refused.
 */
export function passTexts(asked: Asked): string {
  const steps: PassStep[] = [];
  compile(boundFunc(asked), {
    afterPass: ({ name }, before, after) => steps.push({ pass: name, before, after }),
  });
  return passSections(steps);
}

/**
 * Compiles a program and returns the tile IR, WGSL or PTO-ISA C++ as text. Throws a CompileError if the
 * program is refused.
 */
export function kernelText(asked: Asked, form: "tile-ir" | "wgsl" | "pto"): string {
  const kernel = compile(boundFunc(asked));
  switch (form) {
    case "tile-ir":
      return kernel.text("tile");
    case "wgsl":
      return kernel.wgsl().code;
    case "pto":
      return kernel.pto().code;
  }
}

/**
 * Compiles a program and returns the kernel with the timing estimated by the cost model. Throws a
 * CompileError if the program is refused.
 */
export function timelineOf(asked: Asked): Timeline {
  const { name, tile, target } = compile(boundFunc(asked));
  return { kernel: { name, tile, target }, timing: walkOf(tile, target) };
}
