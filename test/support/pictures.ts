/** The pictures of the README: the playground in a headless Chromium, and the map of a search. In the folder given, or in docs/pictures. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { packageFile } from "../../src/device/package-files.js";
import { onnx, targets, tune } from "../../src/index.js";
import { tuneSvg } from "../../src/report/index.js";
import { openPage } from "./chromium.js";

const folder = process.argv[2] ?? packageFile("docs/pictures");
mkdirSync(folder, { recursive: true });

const matrix = onnx.gather({ data: ["f32", [300, 200]], indices: ["i32", [64]], axis: 1 });
const map = tuneSvg(await tune(matrix, { target: targets.ascendA2, budget: 60 }));

const opened = await openPage("<!doctype html><title>tilec</title>");
const { page } = opened;
try {
  await page.setViewportSize({ width: 1360, height: 820 });
  await page.goto(new URL("/playground/dist/index.html", page.url()).href);
  await page.getByTestId("gallery").selectOption("over-budget");
  await page.getByTestId("suggestion").waitFor();
  await page.getByTestId("timeline").click();
  await page.getByTestId("suggestion").click();
  await page.locator("[data-testid=verdict][data-legal=true]").waitFor();
  await page.getByTestId("run").click();
  await page.getByTestId("result").waitFor();
  await page.getByTestId("timeline-charts").locator("svg").first().waitFor();
  await page.screenshot({ path: join(folder, "playground.jpg"), type: "jpeg", quality: 60 });
  await page.setContent(map);
  await page
    .locator("svg")
    .first()
    .screenshot({ path: join(folder, "heat-map.png") });
} finally {
  await opened.close();
}
