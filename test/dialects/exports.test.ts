/** Entry points of builders: those of ONNX are exported by themselves, too. */
import { expect, it } from "vitest";
import * as tilec from "../../src/index.js";

it("every builder of ONNX is an export of tilec by its name", () => {
  const builders = Object.keys(tilec.onnx);
  expect(builders).toEqual(
    expect.arrayContaining(["gather", "scatterElements", "scatterNd", "tensorScatter"]),
  );
  expect(tilec).toMatchObject(tilec.onnx);
});
