import { expect, it } from "vitest";
import { opDefs } from "../../ir/index.js";
import { dialectsPage } from "./dialects-page.js";

const page = dialectsPage();

it("docs/dialects.md is what the definitions say (npm run docs:dialects writes it)", async () => {
  await expect(page).toMatchFileSnapshot("../../docs/dialects.md");
});

it("docs/dialects.md has every operator, beside others, and refuses indices that are no integers everywhere", () => {
  for (const { name } of opDefs) {
    expect(page).toContain(`| \`${name}\` |`);
    const [, own = ""] = page.split(`### ${name}\n`);
    expect(own.split("\n### ")[0], name).toMatch(/\| indices f32 \| TC104 \|/);
  }
});
