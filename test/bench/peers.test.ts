/** What the benchmarks compare with is installed apart from what `npm start` and `npm test` use. */
import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { requirePeers } from "../../bench/peers.js";
import { root } from "../support/root.js";

const read = (file: string): string => readFileSync(root + file, "utf8");
const packages = (folder: string): Readonly<Record<string, object>> =>
  JSON.parse(read(`${folder}package-lock.json`)).packages;
const peers = Object.keys(JSON.parse(read("bench/package.json")).devDependencies);

describe("the packages of bench/", () => {
  it("are not among those of the repository", () => {
    expect(peers).toContain("onnxruntime-node");
    const installed = Object.keys(packages(""));
    expect(peers.filter((name) => installed.includes(`node_modules/${name}`))).toEqual([]);
  });

  it("that are missing are named with the command that installs them", () => {
    const said = vi.spyOn(console, "error").mockReturnValue();
    const exit = vi.spyOn(process, "exit").mockImplementation((code) => {
      throw new Error(`exit code ${String(code)}`);
    });
    try {
      expect(() => {
        requirePeers(["no-such-peer"]);
      }).toThrow("exit code 2");
      expect(said.mock.calls.flat().join("\n")).toBe(
        "error: no-such-peer: not installed\n  hint: npm ci --prefix bench installs what is compared with",
      );
    } finally {
      exit.mockRestore();
      said.mockRestore();
    }
  });
});

describe("every package.json", () => {
  it.each(["", "bench/", "editors/vscode/"])(
    "of %s pins its packages, whose lock names no address",
    (folder) => {
      const { dependencies, devDependencies } = JSON.parse(read(`${folder}package.json`));
      const versions: unknown[] = Object.values({ ...dependencies, ...devDependencies });
      expect(versions.filter((version) => !/^(npm:[a-z]+@)?\d+\.\d+\.\d+$/.test(String(version)))).toEqual(
        [],
      );
      expect(Object.entries(packages(folder)).filter(([, entry]) => "resolved" in entry)).toEqual([]);
    },
  );

  it.each(["", "bench/", "editors/vscode/"])("of %s has settings that npm 10 and 11 know", (folder) => {
    const known = ["save-exact", "fund", "audit", "omit-lockfile-registry-resolved", "ignore-scripts"];
    const keys = read(`${folder}.npmrc`)
      .split("\n")
      .flatMap((line) => (line === "" ? [] : [line.split("=")[0]]));
    expect(keys.filter((key) => !known.includes(key ?? ""))).toEqual([]);
  });
});
