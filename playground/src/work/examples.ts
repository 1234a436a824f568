/** Examples of the gallery, as programs with the inputs that their sources state. */
import seeds from "../../../test/conformance/cases/seed.json?raw";
import { gallery } from "../gallery.js";
import type { Opened } from "./messages.js";
import { openedCases } from "./open-file.js";

export function exampleOf(id: string): Opened {
  const example = gallery.find((one) => one.id === id);
  if (example === undefined) return { text: "", inputs: {}, notes: [] };
  return "text" in example
    ? { text: example.text, inputs: {}, notes: [] }
    : openedCases(seeds, "seed.json", example.seed);
}
