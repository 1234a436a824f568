/** What the playground says of profiles, by the job that judges its text. */
import { describe, expect, it } from "vitest";
import { galleryTexts } from "../../playground/src/gallery-texts.js";
import { show } from "../../playground/src/jobs/show.js";

const program = (schedule: string, target = "ascend-a2", type = "f32"): string =>
  `func @g(%x: tensor<16x80x${type}>, %i: tensor<16x64xi32>) -> tensor<16x64x${type}> target("${target}") schedule {${schedule}} {\n` +
  "  %y = pypto.gather %x, %i {dim = 0}\n  return %y\n}\n";
const shown = (...given: Parameters<typeof program>) => show({ text: program(...given) }).verdict;

describe("the verdict of the playground", () => {
  it("says that PyPTO's pages would turn a refusal of strict, and offers their profile", () => {
    const refused = shown("tile = [4, 16]");
    expect([refused.legal, refused.code]).toEqual([false, "TC301"]);
    expect(refused.explained?.turned).toBe(
      "legal under PyPTO's documentation since 2026-04-02 (--profile pages)",
    );
    expect(refused.suggestions.map(({ flags }) => flags)).toEqual(["--tile 16,16", "--profile pages"]);
    expect(refused.suggestions[1]?.entries).toEqual([{ entry: "profile", text: "pages" }]);
  });

  it("says nothing of pages where they agree, and under another profile", () => {
    for (const schedule of [
      "tile = [16, 16]",
      "tile = [4, 16], profile = pages",
      "tile = [4, 16], profile = head",
    ]) {
      const { legal, explained } = shown(schedule);
      expect([legal, explained?.turned], schedule).toEqual([true, undefined]);
    }
    // Over the budget under both.
    const over = shown("tile = [16, 64], ub_bytes = 1024");
    expect([over.legal, over.explained?.turned]).toEqual([false, undefined]);
    expect(over.suggestions.length).toBeGreaterThan(0);
  });

  it("says that a verdict of strict stands where the pages lack a type", () => {
    expect(shown("", "ascend-a2", "i8").code).toBe("TC104");
    expect(shown("profile = head", "ascend-a2", "i8").diagnostics.map(({ code }) => code)).toContain("TC911");
  });

  it("has the tile that is judged where it is clipped, and no profile where full load is not in force", () => {
    expect(shown("tile = [16, 200]").explained?.judgedTile).toEqual([16, 80]);
    expect(shown("tile = [16, 16]").explained?.judgedTile).toBeUndefined();
    const inPlace = shown("tile = [4, 16], residency = gm", "webgpu").explained;
    expect(inPlace?.schedule.profile).toBeUndefined();
    expect(shown("tile = [16, 16]", "webgpu").explained?.schedule.profile).toBe("strict");
  });

  it("has sliders over the points of a scatter, not over its output", () => {
    const { stops, verdict } = show({ text: galleryTexts["paged-write"]! });
    expect(verdict.legal).toBe(true);
    for (const key of ["tile", "view"] as const)
      expect(stops![key].map((list) => list.at(-1)!.entry)).toEqual([8, 64]);
  });

  it("has the types of a program whose operator nobody has, beside its error", () => {
    const { verdict, inputs, extents } = show({
      text: program("tile = [16, 16]").replace("pypto.gather", "onnx.gathr"),
    });
    expect([verdict.legal, verdict.code]).toEqual([false, "TC003"]);
    expect(inputs.map(({ text }) => text)).toEqual(["f32[16,80]", "i32[16,64]"]);
    expect(extents).toEqual([16, 64]);
  });
});
