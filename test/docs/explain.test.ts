/** docs/explain.md: each line of a real run has one explanation, and each explanation a line. */
import { expect, it } from "vitest";
import { explainPage } from "./explain-page.js";

it("docs/explain.md explains each line of a run (npm run docs:explain writes it)", async () => {
  await expect(await explainPage()).toMatchFileSnapshot("../../docs/explain.md");
});
