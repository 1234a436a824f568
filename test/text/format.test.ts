/** Canonical text keeps the comments of what it is made from. */
import fc from "fast-check";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { formatText, parseModule, printModule } from "../../ir/index.js";

const texts = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".tir"))
    .map((name) => `${folder}/${name}`);

const formatted = (text: string): string => {
  const result = formatText(text, "f.tir");
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return result.text;
};

const spaced = `// Of the file.

dim N <= 8 // rows
// Of f.
func @f(%x: tensor<4x2xf32>, %i: tensor<Nxi32>) -> tensor<Nx2xf32> {   // head
    // Of the gather.
  %y = access.gather %x, %i (d0, d1)
        -> (%i[d0], d1) {oob = error}   // behind
  return %y
  // Of the end.
}
// Last.
`;

describe("formatText", () => {
  it("keeps comments before the lines that followed them, and behind those that they stood behind", () => {
    expect(formatted(spaced)).toBe(`// Of the file.

dim N <= 8 // rows
// Of f.
func @f(%x: tensor<4x2xf32>, %i: tensor<Nxi32>) -> tensor<Nx2xf32> { // head
  // Of the gather.
  %y = access.gather %x, %i (d0, d1) -> (%i[d0], d1) {oob = error} // behind
  return %y
  // Of the end.
}
// Last.
`);
  });

  it.each(texts("examples"))("%s is as it would be formatted", (file) => {
    const text = readFileSync(file, "utf8");
    expect(formatted(text)).toBe(text);
  });

  const programs = texts("test/text")
    .map((file) => {
      const { module, diagnostics } = parseModule(readFileSync(file, "utf8"), file);
      return diagnostics.length > 0 ? undefined : printModule(module);
    })
    .filter((text) => text !== undefined);

  it("loses no comment wherever it stands, changes no program, and changes nothing twice", () => {
    expect(programs.length).toBeGreaterThan(5);
    const place = fc.record({ at: fc.nat(), alone: fc.boolean(), gap: fc.boolean() });
    fc.assert(
      fc.property(fc.constantFrom(...programs), fc.array(place, { maxLength: 8 }), (program, places) => {
        const lines = program.split("\n");
        places.forEach(({ at, alone, gap }, k) => {
          const line = at % lines.length;
          const comment = `// note ${k}.`;
          if (alone) lines.splice(line, 0, `   ${comment}`, ...(gap ? [" "] : []));
          else lines[line] = `${lines[line] ?? ""}\t${comment} `;
        });
        const text = formatted(lines.join("\n"));
        const notes = places.map((_, k) => `// note ${k}.`);
        expect(notes.filter((note) => text.split(note).length !== 2)).toEqual([]);
        expect(formatted(text)).toBe(text);
        const { module, diagnostics } = parseModule(text, "f.tir");
        expect(diagnostics).toEqual([]);
        expect(printModule(module)).toBe(program);
      }),
      { numRuns: 300 },
    );
  });

  it("is the same behind a byte order mark, whose text has the columns of one without", () => {
    const text = `func @f(%x: tensor<4xf32>, %i: tensor<2xi32>) -> tensor<2xf32> {
  %y = onnx.gather %x, %i {axis = 0}
  return %y
}
`;
    const { module, diagnostics } = parseModule(`\ufeff${text}`, "f.tir");
    expect(diagnostics).toEqual([]);
    expect(printModule(module)).toBe(text);
    expect(parseModule("\ufefffunc $", "f.tir").diagnostics[0]?.span?.column).toBe(6);
  });

  it("names a character that shows nothing by its number", () => {
    const messages = ["\u00a0", "\0", "\u200b", "$"].map(
      (character) => parseModule(`func ${character}`, "f.tir").diagnostics[0]?.message,
    );
    expect(messages).toEqual([
      "unexpected U+00A0",
      "unexpected U+0000",
      "unexpected U+200B",
      'unexpected "$"',
    ]);
  });

  it("tells what keeps a text from being formatted", () => {
    const codes = (text: string) => {
      const result = formatText(text, "f.tir");
      return result.ok ? [] : result.diagnostics.map(({ code }) => code);
    };
    expect(codes("// nothing else\n")).toEqual(["TC002"]);
    expect(codes("func @f( // open\n")).toEqual(["TC002"]);
    expect(codes("func $ // no token\n")).toEqual(["TC001"]);
  });
});
