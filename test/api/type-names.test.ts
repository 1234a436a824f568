/** A reader who meets an exported type finds one declaration of its name. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../support/root.js";

/** Emitted modules are files of their own: each has its `Gather`, and `declarations.ts` holds their types as text. */
const isEmitted = (file: string) => file.startsWith(join("src", "module"));

const sources = ["ir", "passes", "backends", "src"]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)),
  )
  .filter((file) => file.endsWith(".ts") && !isEmitted(file));

it("has one declaration for each name of an exported type", () => {
  const declared = new Map<string, string[]>();
  for (const file of sources) {
    const text = readFileSync(join(root, file), "utf8");
    for (const [, name] of text.matchAll(
      /^export (?:declare )?(?:abstract )?(?:interface|type|class) (\w+)/gm,
    )) {
      if (name !== undefined) declared.set(name, [...(declared.get(name) ?? []), file]);
    }
  }
  expect(declared.get("Linear")).toEqual([join("ir", "linear.ts")]);
  expect([...declared].filter(([, files]) => files.length > 1)).toEqual([]);
});
