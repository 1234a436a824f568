/**
 * Declarations of a WGSL text: its bindings of group 0 and its compute entry points. They are read from the
 * text; nothing is compiled.
 */
import { CompileError, error } from "../../../ir/index.js";

/** Buffer binding that a WGSL text declares in group 0: binding number, variable name and access mode. */
export interface DeclaredBinding {
  readonly binding: number;
  readonly name: string;
  readonly access: "read" | "read_write" | "uniform";
}

/**
 * Buffer bindings and compute entry points that a WGSL text declares, as {@link readDeclarations} returns.
 */
export interface WgslDeclarations {
  readonly bindings: readonly DeclaredBinding[];
  readonly entryPoints: readonly string[];
}

/**
 * Parses a WGSL text and returns the buffer bindings and compute entry points that the text declares. Throws
 * a CompileError (TC702) for a binding that is not a buffer, is not in group 0, or has no literal number.
 */
export function readDeclarations(wgsl: string): WgslDeclarations {
  const text = withoutComments(wgsl);
  const bindings = [...text.matchAll(bound)].map(
    ([, attributes = "", space = "", access = "read", name = ""]): DeclaredBinding => {
      const number = (attribute: string): number => {
        const written = new RegExp(`@\\s*${attribute}\\s*\\(\\s*(\\d+)[iu]?\\s*,?\\s*\\)`).exec(
          attributes,
        )?.[1];
        if (written === undefined)
          throw refused(`${name} has no @${attribute}(…) that is a number`, "write the number itself");
        return Number(written);
      };
      if (number("group") !== 0)
        throw refused(`${name} is in group ${number("group")}`, "bind it in group 0");
      const kind = space === "storage" ? access : space;
      if (kind !== "read" && kind !== "read_write" && kind !== "uniform")
        throw refused(
          `${name} is ${space === "" ? "no buffer" : `var<${space}${access === "read" ? "" : `, ${access}`}>`}`,
          "tensors are storage buffers, read or read_write, and sizes a uniform one",
        );
      return { binding: number("binding"), name, access: kind };
    },
  );
  const entryPoints = [...text.matchAll(entry)].flatMap(([, name]) => name ?? []);
  return { bindings, entryPoints };
}

const attribute = String.raw`@\s*\w+\s*(?:\([^)]*\)\s*)?`;
/** A module-scope variable with attributes; one without a space, such as a texture, has none. */
const bound = new RegExp(
  String.raw`((?:${attribute})+)var\s*(?:<\s*(\w+)\s*(?:,\s*(\w+)\s*,?\s*)?>)?\s*(\w+)`,
  "g",
);
const entry = /@\s*compute\b[^;{}]*?\bfn\s+(\w+)/g;

/** Replaces the comments of a WGSL text by blanks. */
function withoutComments(wgsl: string): string {
  let depth = 0;
  return wgsl.replace(/\/\*|\*\/|\/\/|\n|[^/*\n]+|[/*]/g, (piece) => {
    const inLine = depth === -1;
    if (inLine) {
      if (piece === "\n") depth = 0;
      return piece === "\n" ? piece : " ";
    }
    if (piece === "/*") depth++;
    else if (piece === "*/" && depth > 0) depth--;
    else if (piece === "//" && depth === 0) depth = -1;
    else return depth > 0 ? " " : piece;
    return " ";
  });
}

const refused = (message: string, hint: string): CompileError =>
  new CompileError([error("TC702", `the WGSL: ${message}`, { hint })]);
