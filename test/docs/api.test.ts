import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const json = (file: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), "utf8"));

it("the API reference is made from every entry point of the package", () => {
  const { exports } = json("package.json") as { exports: Record<string, string | { default: string }> };
  const sources = Object.values(exports).flatMap((entry) =>
    typeof entry === "string" ? [] : entry.default.replace("./dist/", "").replace(/\.js$/, ".ts"),
  );
  const { entryPoints } = json("typedoc.json") as { entryPoints: string[] };
  expect([...entryPoints].sort()).toEqual(sources.sort());
});
