/** Examples of the gallery, as programs with the inputs that their sources state. */
import seeds from "../../../test/conformance/cases/seed.json?raw";
import { defaultTarget } from "../../../ir/index.js";
import { gallery } from "../gallery.js";
import { galleryTexts } from "../gallery-texts.js";
import type { Opened } from "./messages.js";
import { openedCases } from "./open-file.js";
import { edited } from "./program.js";

/**
 * Returns the gallery example with the given id. Input tensors are included only for examples from the
 * conformance suite. The program text is empty if the id is unknown.
 */
export function exampleOf(id: string): Opened {
  const example = gallery.find((one) => one.id === id);
  if (example?.seed === undefined) return { text: galleryTexts[id] ?? "", inputs: {}, notes: [] };
  const opened = openedCases(seeds, "seed.json", example.seed);
  // A case that states no schedule is about bits, and runs where any gather does; here it is about tiles.
  return { ...opened, text: edited(opened, { kind: "target", target: defaultTarget.name }) };
}
