/** JSON Schemas of what commands print with `--json`, derived from the types of the documents that they give to `printJson`. */
import ts from "typescript";
import { factColumns, verdicts } from "../../src/cli/list/list.js";
import { figures } from "../../src/report/figures.js";
import { root } from "./root.js";

/** Files of each command whose documents have a schema. */
export const commandFiles = {
  compile: ["compile"],
  opt: ["opt"],
  diff: ["diff"],
  run: ["run/run-one", "run/run-model"],
  explain: ["explain"],
  legal: ["legal"],
  plan: ["plan"],
  tune: ["tune", "tune-sizes", "sweep"],
  records: ["records"],
  check: ["check"],
  validate: ["validate"],
  targets: ["targets", "targets-fit"],
  devices: ["devices"],
  fmt: ["fmt"],
} as const;
/** Command whose documents have a schema. */
export type SchemaName = keyof typeof commandFiles;

type Json = Readonly<Record<string, unknown>>;

/** Returns the schema of each command, by name. */
export function outputSchemas(): Readonly<Record<SchemaName, Json>> {
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, (file) => ts.sys.readFile(file));
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const fileOf = (name: string): string => `${root}src/cli/${name}.ts`;
  const names = [...Object.values(commandFiles).flat(), "command-line"];
  const program = ts.createProgram(names.map(fileOf), { ...options, noEmit: true });
  const checker = program.getTypeChecker();
  const printedIn = (name: string): readonly ts.Expression[] => {
    const source = program.getSourceFile(fileOf(name));
    if (source === undefined) throw new Error(`no file ${name}`);
    const found: ts.Expression[] = [];
    const visit = (node: ts.Node): void => {
      const [given] =
        ts.isCallExpression(node) && node.expression.getText() === "printJson" ? node.arguments : [];
      if (given !== undefined) found.push(given);
      ts.forEachChild(node, visit);
    };
    visit(source);
    if (found.length === 0) throw new Error(`${name} prints no document`);
    return found;
  };
  const entries = Object.entries(commandFiles).map(([name, files]) => {
    const schema = new Definitions(checker);
    const documents = [...files, "command-line"].flatMap(printedIn).map((node) => schema.document(node));
    return [
      name,
      {
        $schema: "http://json-schema.org/draft-07/schema#",
        title: `tilec ${name} --json`,
        anyOf: documents,
        definitions: Object.fromEntries(
          Object.entries(schema.definitions).sort(([a], [b]) => (a < b ? -1 : 1)),
        ),
      },
    ] as const;
  });
  return Object.fromEntries(entries) as unknown as Record<SchemaName, Json>;
}

/** Returns the schema of a row of `--list`, whose columns are those of the table of figures. */
export function rowSchema(): Json {
  const text = { type: "string" };
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "tilec --list --json: a row",
    type: "object",
    properties: {
      schema: { const: 1 },
      ...Object.fromEntries(factColumns.map((column) => [column, text])),
      command: { enum: ["explain", "tune", "run"] },
      verdict: { enum: verdicts },
      ...Object.fromEntries(Object.keys(figures).map((key) => [key, { type: ["number", "string"] }])),
    },
    required: ["schema", "command", "id", "verdict"],
    additionalProperties: false,
  };
}

/** Definitions of one schema: a type with a name is defined once. */
class Definitions {
  readonly definitions: Record<string, unknown> = {};
  private readonly names = new Map<ts.Type, string>();

  constructor(private readonly checker: ts.TypeChecker) {}

  /** Schema of a document: the version, and what is given to `printJson`. */
  document(node: ts.Expression): Json {
    const schema = this.objectOf(this.checker.getTypeAtLocation(node), node);
    const { properties, required } = schema as {
      readonly properties: Json;
      readonly required: readonly string[];
    };
    return {
      ...schema,
      properties: { schema: { const: 1 }, ...properties },
      required: ["schema", ...required],
    };
  }

  private of(type: ts.Type, node: ts.Node): Json {
    const { flags } = type;
    if (flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return {};
    if (flags & ts.TypeFlags.Null) return { type: "null" };
    if (type.isStringLiteral() || type.isNumberLiteral()) return { const: type.value };
    if (flags & ts.TypeFlags.BooleanLiteral) return { const: this.checker.typeToString(type) === "true" };
    if (flags & (ts.TypeFlags.StringLike | ts.TypeFlags.BigIntLike)) return { type: "string" };
    if (flags & ts.TypeFlags.NumberLike) return { type: "number" };
    if (flags & ts.TypeFlags.BooleanLike && !type.isUnion()) return { type: "boolean" };
    if (type.isUnion()) return this.unionOf(type.types, node);
    return this.named(type, node);
  }

  private unionOf(types: readonly ts.Type[], node: ts.Node): Json {
    // The compiler has members in the order in which it meets them, which other sources change.
    const text = (each: ts.Type): string => this.checker.typeToString(each);
    const ordered = types.filter(isStated).sort((a, b) => (text(a) < text(b) ? -1 : 1));
    const schemas = ordered.map((each) => this.of(each, node));
    const constants = schemas.flatMap((each) => ("const" in each ? [each["const"]] : []));
    const isBoolean = constants.includes(true) && constants.includes(false);
    const words = constants.filter((value) => typeof value !== "boolean" || !isBoolean);
    const others = [
      ...(isBoolean ? [{ type: "boolean" }] : []),
      ...(words.length === 0 ? [] : [words.length === 1 ? { const: words[0] } : { enum: words }]),
      ...schemas.filter((each) => !("const" in each)),
    ];
    const distinct = [...new Map(others.map((each) => [JSON.stringify(each), each])).values()];
    // A list that is always empty has elements of no type.
    return distinct.length < 2 ? (distinct[0] ?? {}) : { anyOf: distinct };
  }

  private named(type: ts.Type, node: ts.Node): Json {
    const name = (type.aliasSymbol ?? type.symbol)?.name ?? "";
    const isList = this.checker.isArrayType(type) || this.checker.isTupleType(type);
    if (isList || name === "" || name.startsWith("__")) return this.plain(type, node);
    const known = this.names.get(type);
    if (known !== undefined) return { $ref: `#/definitions/${known}` };
    let own = name;
    for (let k = 2; [...this.names.values()].includes(own); k++) own = `${name}${k}`;
    this.names.set(type, own);
    this.definitions[own] = {};
    this.definitions[own] = this.plain(type, node);
    return { $ref: `#/definitions/${own}` };
  }

  private plain(type: ts.Type, node: ts.Node): Json {
    if (this.checker.isArrayType(type) || this.checker.isTupleType(type)) {
      const items = this.checker.getTypeArguments(type as ts.TypeReference);
      return { type: "array", items: items.length === 0 ? {} : this.unionOf(items, node) };
    }
    return this.objectOf(type, node);
  }

  private objectOf(type: ts.Type, node: ts.Node): ObjectSchema {
    if (type.isUnion()) {
      return joined(type.types.map((each) => this.objectOf(each, node)));
    }
    const properties: Record<string, unknown> = {};
    const required: string[] = [];
    for (const symbol of this.checker.getPropertiesOfType(type)) {
      const own = this.checker.getTypeOfSymbolAtLocation(symbol, node);
      if (own.getCallSignatures().length > 0) continue;
      const isOptional =
        (symbol.flags & ts.SymbolFlags.Optional) !== 0 || (own.isUnion() && !own.types.every(isStated));
      properties[symbol.name] = isStated(own) ? this.of(own, node) : {};
      if (!isOptional && isStated(own)) required.push(symbol.name);
    }
    const index = this.checker.getIndexTypeOfType(type, ts.IndexKind.String);
    const additionalProperties = index === undefined ? false : this.of(index, node);
    return { type: "object", properties, required, additionalProperties };
  }
}

const isStated = (type: ts.Type): boolean =>
  (type.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Void | ts.TypeFlags.Never)) === 0;

interface ObjectSchema extends Json {
  readonly type: "object";
  readonly properties: Json;
  readonly required: readonly string[];
  readonly additionalProperties: unknown;
}

/** Spreads of what may be absent make unions: a property of one of them is optional. */
function joined(all: readonly ObjectSchema[]): ObjectSchema {
  const keys = new Set(all.flatMap(({ properties }) => Object.keys(properties)));
  const schemaOf = (key: string): unknown => {
    const each = all.flatMap(({ properties }) => (Object.hasOwn(properties, key) ? [properties[key]] : []));
    const distinct = [...new Map(each.map((one) => [JSON.stringify(one), one])).values()];
    return distinct.length === 1 ? distinct[0] : { anyOf: distinct };
  };
  return {
    type: "object",
    properties: Object.fromEntries([...keys].map((key) => [key, schemaOf(key)])),
    required: [...keys].filter((key) => all.every(({ required }) => required.includes(key))),
    additionalProperties: all.some(({ additionalProperties }) => additionalProperties !== false),
  };
}
