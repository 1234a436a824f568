import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PackedProject } from "../support/packed.js";

let project: PackedProject;
beforeAll(() => {
  project = new PackedProject();
  project.linkCharts();
  const imports = project.entryPoints.map((name, k) => `export * as m${k} from ${JSON.stringify(name)};`);
  project.write("every.ts", imports.join("\n"));
});
afterAll(() => {
  project.remove();
});

describe("the types of the packed package, declarations included", () => {
  it("check with the language's own library alone", async () => {
    expect(await project.compile(["every.ts"], { lib: ["es2023"], types: [] })).toBe("");
  });

  it("check with the DOM library", async () => {
    expect(await project.compile(["every.ts"], { lib: ["es2023", "dom"], types: [] })).toBe("");
  });

  it("check with every library, and a runner then takes a GPUDevice and nothing less", async () => {
    project.write(
      "device.ts",
      `import { createRunner } from "tilec/webgpu";
       export const runner = (device: GPUDevice) => createRunner(device);
       // @ts-expect-error: a device has more than a label
       export const none = (device: { label: string }) => createRunner(device);
      `,
    );
    const every = { lib: ["es2023", "dom"], types: ["@webgpu/types", "node"] };
    expect(await project.compile(["every.ts", "device.ts"], every)).toBe("");
  });
});

describe("the packed package", () => {
  it("exports a name once, or the same value from every entry point", () => {
    project.write(
      "names.mjs",
      `const seen = new Map();
       for (const entry of ${JSON.stringify(project.entryPoints)}) {
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

  it("explains, lists legal tiles, reads and writes arrays and target files, and draws pages, with Node's types", async () => {
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
    expect(await project.compile(["every.ts", "research.ts"], { lib: ["es2023"], types: ["node"] })).toBe("");
    const { stdout, stderr } = project.node("research.js");
    expect(stderr).toBe("");
    // strict pins the gather dim, whole at 8; the other takes 1 to 4.
    expect(stdout).toBe("@gather_elements on ascend-a2: legal\n4 [ 2 ] 196608\ntrue true\n");
  });

  it("has examples that compile and run in a user's project", async () => {
    const folder = join(project.folder, "node_modules/tilec/examples");
    const examples = readdirSync(folder).filter((file) => file.endsWith(".ts"));
    expect(examples).toContain("user-pass.ts");
    for (const file of examples) project.write(file, readFileSync(join(folder, file), "utf8"));
    const every = { lib: ["es2023", "dom"], types: ["@webgpu/types", "node"] };
    expect(await project.compile(examples, every)).toBe("");
    for (const file of examples) {
      const { status, stdout, stderr } = project.node(file.replace(/ts$/, "js"));
      expect([file, status], stderr).toEqual([file, 0]);
      expect(stdout).not.toBe("");
      for (const [, command = ""] of stdout.matchAll(/^ {2}npx tilec (.*?) {2,}/gm))
        expect([command, project.tilec(...command.split(" ")).stderr]).toEqual([
          command,
          expect.not.stringContaining("no such file"),
        ]);
    }
  });
});
