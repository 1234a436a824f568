/** A module in the text format, with one comment per tile statement. */
import { printStmtHead } from "../../ir/text/print.js";
import { assertNever, at } from "../../ir/types.js";
import { encodingOf, maxPages, type Instr, type PlainInstr, type WasmModule } from "./instructions.js";

/** Prints a module in the text format of WebAssembly, with one comment per tile statement. */
export function printWasmModule(module: WasmModule): string {
  const { name, params, locals, result, memory } = module;
  const limits = memory.shared ? `${memory.pages} ${maxPages} shared` : `${memory.pages}`;
  const head = [
    `(func $${name} (export "${name}")`,
    ...params.map((param) => `(param $${param.name} ${param.type})`),
    `(result ${result})`,
  ].join(" ");
  const declared = locals.slice(params.length).map((local) => `    (local $${local.name} ${local.type})`);
  return [
    "(module",
    `  (import "env" "memory" (memory ${limits}))`,
    `  ${head}`,
    ...declared,
    ...lines(
      module.body,
      locals.map((local) => local.name),
      "    ",
    ),
    "  )",
    ")",
    "",
  ].join("\n");
}

const lines = (body: readonly Instr[], locals: readonly string[], indent: string): string[] =>
  body.flatMap((instr): string[] => {
    const inside = (list: readonly Instr[]): string[] => lines(list, locals, `${indent}  `);
    if ("args" in instr) return [`${indent}${[instr.op, ...immediates(instr, locals)].join(" ")}`];
    switch (instr.op) {
      case "comment":
        return [`${indent};; ${printStmtHead(instr.stmt)}`];
      case "block":
      case "loop":
        return [`${indent}${instr.op}`, ...inside(instr.body), `${indent}end`];
      case "if": {
        const otherwise = instr.otherwise.length === 0 ? [] : [`${indent}else`, ...inside(instr.otherwise)];
        return [`${indent}if`, ...inside(instr.then), ...otherwise, `${indent}end`];
      }
      default:
        return assertNever(instr);
    }
  });

/**
 * Returns the immediate operands of an instruction, as words of WebAssembly's text format. `locals`: names of
 * the function's locals.
 */
function immediates(instr: PlainInstr, locals: readonly string[]): string[] {
  const { args } = instr;
  const memory = (): string[] => [...(args[0] === 0 ? [] : [`offset=${String(at(args, 0))}`]), "align=1"];
  switch (encodingOf(instr.op).immediate) {
    case "none":
    case "copy":
    case "fill":
      return [];
    case "local":
      return [`$${at(locals, Number(at(args, 0)))}`];
    case "label":
    case "const":
    case "const64":
    case "lane":
      return [String(at(args, 0))];
    case "const128":
      return ["i32x4", ...args.map(String)];
    case "memory":
      return memory();
    case "memory and lane":
      return [...memory(), String(at(args, 1))];
  }
}
