/** The VS Code extension's manifest; `npm run package` in its folder builds it. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const folder = fileURLToPath(new URL("../../editors/vscode/", import.meta.url));
const read = (file: string): string => readFileSync(folder + file, "utf8");

interface Manifest {
  readonly main: string;
  readonly files: readonly string[];
  readonly scripts: { readonly package: string };
  readonly contributes: {
    readonly languages: readonly { readonly extensions: readonly string[]; readonly configuration: string }[];
    readonly grammars: readonly { readonly path: string }[];
    readonly configuration: { readonly properties: Readonly<Record<string, unknown>> };
  };
}

it("the extension packs what its manifest names, and its client reads the setting that it declares", () => {
  const { main, files, scripts, contributes } = JSON.parse(read("package.json")) as Manifest;
  const { languages, grammars, configuration } = contributes;
  const named = [...languages.map((entry) => entry.configuration), ...grammars.map(({ path }) => path)];
  for (const path of named) expect([path, existsSync(folder + path)]).toEqual([path, true]);
  const built = main.replace("./", "");
  expect(scripts.package).toContain(`--outfile=${built}`);
  for (const file of files.filter((name) => name !== built))
    expect([file, existsSync(folder + file)]).toEqual([file, true]);
  expect(languages.flatMap(({ extensions }) => extensions)).toEqual([".tir"]);
  expect(Object.keys(configuration.properties)).toEqual(["tilec.command"]);
  expect(read("extension.mts")).toContain('getConfiguration("tilec").get<string[]>("command")');
});

it("the extension is under the license of the package", () => {
  expect(read("LICENSE")).toBe(readFileSync(new URL("../../LICENSE", import.meta.url), "utf8"));
});
