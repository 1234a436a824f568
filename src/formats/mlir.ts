/**
 * The `stablehlo.gather` operations of an MLIR text, each as a program of its own. Gathers that tilec does
 * not read are refused by name; whatever else the text holds is passed over.
 *
 * The form is the one MLIR gives an operation without a form of its own: operands, attributes as `<{…}>` or
 * `{…}`, a function type. Source: openxla/stablehlo docs/spec.md and its tests; mlir.llvm.org/docs/LangRef.
 */
import {
  dtypes,
  elementTypes,
  error,
  isSigned,
  lex,
  maxElements,
  maxRank,
  operandsOf,
  ParseError,
  type Attrs,
  type Diagnostic,
  type DType,
  type SourceFunc,
  type TensorType,
  TokenReader,
  type Token,
  UniqueNames,
} from "../../ir/index.js";
import { denseIntegers, type DenseLiteral } from "./mlir-dense.js";

/**
 * Gather of an MLIR text as a source program, or the diagnostic that explains why tilec cannot read the
 * gather.
 */
export type MlirGather =
  | { readonly ok: true; readonly func: SourceFunc }
  | { readonly ok: false; readonly name: string; readonly diagnostic: Diagnostic };

const who = "stablehlo.gather";
/** Gathers that are refused by name: why, and what to write in their place. */
const refusals: Readonly<Record<string, { readonly why: string; readonly hint: string }>> = {
  "stablehlo.dynamic_gather": {
    why: "its slice sizes are an operand, and a gather of static shapes needs their values",
    hint: "where they are constant, write stablehlo.gather without that operand, with slice_sizes = array<i64: …>, as stablehlo-opt --stablehlo-canonicalize-dynamism does",
  },
  "mhlo.gather": {
    why: "an operation of MHLO",
    hint: "write stablehlo for mhlo, whose form is the same, as mlir-hlo-opt --hlo-legalize-to-stablehlo does",
  },
  "mhlo.dynamic_gather": {
    why: "an operation of MHLO, whose slice sizes are an operand",
    hint: "where they are constant, write stablehlo.gather without that operand, with slice_sizes = array<i64: …>",
  },
};

/**
 * A gather, the head of a function, or what neither stands in: a string, and a comment up to the end of its
 * line.
 */
const match =
  /"(?<gather>(?:stablehlo\.|mhlo\.)(?:dynamic_)?gather)"\s*\(|\bfunc\.func\s+(?:(?:public|private|nested)\s+)?@(?<head>[\w$.-]+)|"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*/g;

/**
 * Returns every gather of an MLIR text in text order, as a program or a diagnostic. A gather has the name of
 * the enclosing function. `file`: file name in diagnostics.
 */
export function findMlirGathers(text: string, file: string): MlirGather[] {
  const names = new UniqueNames();
  return operationsIn(text).map((operation): MlirGather => {
    const name = names.next(operation.inside, "gather");
    const refusal = refusals[operation.op];
    if (refusal !== undefined) {
      const { op, line, column } = operation;
      const span = { file, line, column, length: op.length + 2 };
      return {
        ok: false,
        name,
        diagnostic: error("TC003", `${op}: ${refusal.why}`, { span, hint: refusal.hint }),
      };
    }
    try {
      return { ok: true, func: new Operation(tokensOf(operation, file)).gather(name) };
    } catch (thrown) {
      if (!(thrown instanceof ParseError)) throw thrown;
      return { ok: false, name, diagnostic: thrown.diagnostic };
    }
  });
}

/** An operation where it stands. */
interface Matched {
  /** Its name, such as stablehlo.gather. */
  readonly op: string;
  /** The function that it is in. */
  readonly inside: string;
  readonly line: number;
  readonly column: number;
  /** Up to the end of the line that has its result's type, and no further than the next gather. */
  readonly text: string;
}

/** Returns the text and position of each gather operation in an MLIR text, in text order. */
function operationsIn(text: string): Matched[] {
  const starts: (Omit<Matched, "text"> & { readonly index: number })[] = [];
  let [inside, line, lineStart, lineEnd] = ["", 1, 0, text.indexOf("\n")];
  for (const { index, groups } of text.matchAll(match)) {
    inside = groups?.["head"] ?? inside;
    const op = groups?.["gather"];
    if (op === undefined) continue;
    while (lineEnd !== -1 && lineEnd < index) {
      line++;
      lineStart = lineEnd + 1;
      lineEnd = text.indexOf("\n", lineStart);
    }
    starts.push({ op, inside, line, column: index - lineStart + 1, index });
  }
  return starts.map(({ index, ...place }, k) => {
    const rest = text.slice(index, starts[k + 1]?.index);
    const arrow = rest.indexOf("->");
    const end = arrow === -1 ? -1 : rest.indexOf("\n", arrow);
    return { ...place, text: end === -1 ? rest : rest.slice(0, end) };
  });
}

/**
 * Returns the tokens of an MLIR operation. Throws a ParseError for quantized types (TC002) and for text that
 * cannot be split into tokens.
 */
function tokensOf(operation: Matched, file: string): readonly Token[] {
  const { tokens, diagnostics } = lex(operation.text, file, operation);
  if (operation.text.includes("!quant.")) {
    const message = `${who}: quantized types, which tilec lacks`;
    throw new ParseError(error("TC002", message, { span: tokens[0]?.span }));
  }
  const [first] = diagnostics;
  if (first !== undefined) throw new ParseError(first);
  return tokens;
}

/** Element types by what MLIR writes; `si8` is `i8` with its sign written. */
const elementTypeOf: ReadonlyMap<string, DType> = new Map(
  dtypes.flatMap((dtype) => {
    const { mlir } = elementTypes[dtype];
    if (mlir === undefined) return [];
    return [mlir, ...(isSigned(dtype) ? [`s${mlir}`] : [])].map((name) => [name, dtype] as const);
  }),
);

const dimensionNumbers: ReadonlySet<string> = new Set([
  "offset_dims",
  "collapsed_slice_dims",
  "operand_batching_dims",
  "start_indices_batching_dims",
  "start_index_map",
]);

class Operation extends TokenReader {
  gather(name: string): SourceFunc {
    const { span: opSpan } = this.take("string", who);
    this.punct("(");
    this.value();
    this.punct(",");
    this.value();
    this.punct(")");
    const attrs = { ...this.attributes(), ...(this.peek().text === "{" ? this.attributes() : {}) };
    this.punct(":");
    this.punct("(");
    const data = this.type();
    this.punct(",");
    const indices = this.type();
    this.punct(")");
    this.punct("->");
    const output = this.type();
    return {
      level: "source",
      name,
      op: who,
      attrs,
      operands: operandsOf([
        { name: "data", type: data },
        { name: "indices", type: indices },
        { name: "output", type: output },
      ]),
      schedule: {},
      opSpan,
    };
  }

  /** Parses an SSA value: `%arg0`, or `%0#1`, the second result of an operation. */
  private value(): void {
    this.take("value", "an operand such as %operand");
    if (this.accept("#")) this.take("int", "the number of a result");
  }

  /** Parses the attributes `<{…}>` or `{…}` and returns those of gather. Other attributes are skipped. */
  private attributes(): Attrs {
    const properties = this.accept("<");
    this.punct("{");
    let attrs: Attrs = {};
    while (!this.accept("}")) {
      const { text } = this.take("word", "an attribute");
      if (text === "dimension_numbers") {
        this.punct("=");
        attrs = { ...attrs, ...this.dimensionNumbers() };
      } else if (text === "slice_sizes") {
        this.punct("=");
        attrs = { ...attrs, slice_sizes: this.sliceSizes() };
      } else if (this.accept("=")) this.skipValue();
      this.accept(",");
    }
    if (properties) this.punct(">");
    return attrs;
  }

  /** Parses `#stablehlo.gather<offset_dims = [2], …, index_vector_dim = 2>`. */
  private dimensionNumbers(): Attrs {
    this.punct("#");
    this.take("word", who);
    this.punct("<");
    const attributes: [string, number | readonly number[]][] = [];
    while (!this.accept(">")) {
      const token = this.take("word", "a dimension number");
      this.punct("=");
      if (token.text === "index_vector_dim") attributes.push([token.text, this.int()]);
      else if (dimensionNumbers.has(token.text)) attributes.push([token.text, this.intList()]);
      else this.fail(token, `no dimension number ${token.text}`);
      this.accept(",");
    }
    return Object.fromEntries(attributes);
  }

  /** Parses slice sizes: `array<i64: 1, 2>`, or the earlier form `dense<[1, 2]> : tensor<2xi64>`. */
  private sliceSizes(): readonly number[] {
    const form = this.take("word", "array<i64: …>");
    if (form.text === "dense") return this.denseIntegers();
    this.punct("<");
    this.take("word", "i64");
    if (this.accept(">")) return [];
    this.punct(":");
    return this.intsUpTo(">");
  }

  /** Parses the literal and the type after `dense`: `<1> : tensor<3xi64>` gives three ones. */
  private denseIntegers(): readonly number[] {
    const start = this.peek();
    this.punct("<");
    const literal = this.peek().text === ">" ? undefined : this.denseLiteral();
    this.punct(">");
    this.punct(":");
    const integers = denseIntegers(literal, this.type());
    if (typeof integers === "string") return this.fail(start, `dense<…> ${integers}`);
    const beyond = integers.find((value) => value > maxElements || value < -maxElements);
    return beyond === undefined ? integers.map(Number) : this.fail(start, `${beyond} is beyond 2^31`);
  }

  private denseLiteral(depth = 0): DenseLiteral {
    const token = this.peek();
    if (this.accept("[")) {
      if (depth === maxRank) this.fail(token, `dense<…> has lists more than ${maxRank} deep`);
      const list: DenseLiteral[] = [];
      while (!this.accept("]")) {
        if (list.length > 0) this.punct(",");
        list.push(this.denseLiteral(depth + 1));
      }
      return list;
    }
    const { kind, text } = token;
    if (kind !== "int" && kind !== "word" && kind !== "number" && kind !== "string")
      this.fail(token, `expected an element; found ${text}`);
    this.position++;
    if (kind === "string") return `"${text}"`;
    // `0x1` is two tokens.
    return text === "0" && /^x[\da-f]+$/i.test(this.peek().text)
      ? `0${this.take("word", "digits").text}`
      : text;
  }

  /** Parses a tensor type: `tensor<2x3xf32>`, `tensor<f32>`, `tensor<2xcomplex<f32>>`. */
  private type(): TensorType {
    const start = this.take("word", "tensor<…>");
    if (start.text !== "tensor") this.fail(start, `expected tensor<…>; found ${start.text}`);
    this.punct("<");
    const token = this.peek();
    if (token.kind !== "word") {
      this.fail(token, "the tensor has no fixed shape", "a gather of static shapes is what tilec compiles");
    }
    const pieces = this.take("word", "a type such as 2x3xf32").text.split("x");
    // complex has an x of its own.
    const complex = pieces.length > 1 && pieces.slice(-2).join("x") === "complex";
    const element = complex ? `complex<${this.inner()}>` : (pieces[pieces.length - 1] ?? "");
    const shape = pieces.slice(0, complex ? -2 : -1).map(Number);
    const dtype = elementTypeOf.get(element);
    if (dtype === undefined) return this.fail(token, `element type ${element}, which tilec lacks`);
    this.punct(">");
    return { dtype, shape };
  }

  private inner(): string {
    this.punct("<");
    const { text } = this.take("word", "f32 or f64");
    this.punct(">");
    return text;
  }

  /** Skips the value of an attribute: all tokens up to a comma or closing brace outside brackets. */
  private skipValue(): void {
    let depth = 0;
    for (;;) {
      const { kind, text } = this.peek();
      if (kind === "end" || (depth === 0 && (text === "," || text === "}"))) return;
      if (kind === "punct" && "<([{".includes(text)) depth++;
      if (kind === "punct" && ">)]}".includes(text)) depth--;
      this.position++;
    }
  }

  protected override fail(token: Token, message: string, hint?: string): never {
    return super.fail(token, `${who}: ${message}`, hint);
  }
}
