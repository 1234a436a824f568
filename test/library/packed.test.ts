import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PackedProject } from "../support/packed.js";

let project: PackedProject;
beforeAll(() => {
  project = new PackedProject();
});
afterAll(() => {
  project.remove();
});

describe("the types of the packed package", () => {
  const libraries = [
    { with: "the language's own library alone", lib: ["es2023"], types: [] },
    { with: "Node's types", lib: ["es2023"], types: ["node"] },
    { with: "the DOM library", lib: ["es2023", "dom"], types: [] },
    { with: "every library", lib: ["es2023", "dom"], types: ["@webgpu/types", "node"] },
  ];
  it.each(libraries)("check, declarations included, with $with", ({ lib, types }) => {
    const imports = project.entryPoints.map((name, k) => `export * as m${k} from ${JSON.stringify(name)};`);
    project.write("every.ts", imports.join("\n"));
    expect(project.compile(["every.ts"], { lib, types })).toBe("");
  });

  it("a runner takes the GPUDevice of whoever knows it, and nothing less", () => {
    project.write(
      "device.ts",
      `import { createRunner } from "tilec/webgpu";
       export const runner = (device: GPUDevice) => createRunner(device);
       // @ts-expect-error: a device has more than a label
       export const none = (device: { label: string }) => createRunner(device);
      `,
    );
    expect(project.compile(["device.ts"], { lib: ["es2023", "dom"], types: ["@webgpu/types"] })).toBe("");
  });
});

describe("the entry points of the packed package", () => {
  it("export a name once, or the same value everywhere", () => {
    const entryPoints = JSON.stringify(project.entryPoints);
    project.write(
      "names.mjs",
      `const seen = new Map();
       for (const entry of ${entryPoints}) {
         for (const [name, value] of Object.entries(await import(entry))) {
           const first = seen.get(name) ?? { entry, value };
           if (first.value !== value) console.log(name + " of " + entry + " is not that of " + first.entry);
           seen.set(name, first);
         }
       }
       console.log(seen.size > 100);`,
    );
    const { stdout, stderr } = project.node("names.mjs");
    expect(stderr).toBe("");
    expect(stdout).toBe("true\n");
  });

  it("have what a researcher asks for: explain, legal tiles, arrays, target files and pages", () => {
    project.write(
      "research.ts",
      `import { compile, explain, gatherElements, legalTiles, targets } from "tilec";
       import { parseTargetFile, readNpy, targetFile, writeNpy } from "tilec/formats";
       import { passPage, renderExplanation, timelinePage } from "tilec/report";
       import { estimateTiming } from "tilec/sim";

       const op = gatherElements({ data: ["f32", [8, 4]], indices: ["i32", [8, 4]], axis: 0 });
       const data = readNpy(writeNpy({ type: { dtype: "f32", shape: [2] }, bytes: new Uint8Array(8) }), "a.npy");
       const target = parseTargetFile(JSON.stringify(targetFile(targets.ascendA2)), "a2.json");
       const kernel = compile(op, { target });
       const timing = estimateTiming(kernel.tile, target);
       console.log(renderExplanation(explain(op, { target })).split("\\n")[0]);
       console.log(legalTiles(op, { target }).count, data.type.shape, target.ubBytes);
       console.log(timelinePage(kernel, timing).includes("<svg"), passPage("t", []).includes("<h1>t</h1>"));
      `,
    );
    expect(project.compile(["research.ts"])).toBe("");
    const { stdout, stderr } = project.node("research.js");
    expect(stderr).toBe("");
    expect(stdout).toBe("@gather_elements on ascend-a2: legal\n32 [ 2 ] 196608\ntrue true\n");
  });
});
