import eslintConfigPrettier from "eslint-config-prettier";
import tseslint from "typescript-eslint";
import { noRetiredWords } from "./lint/no-retired-words.js";
import { commentColumns, docstringOpenings } from "./lint/plain-comments.js";

/** They run in a browser as they are; of the formats, what reads and writes files does not. */
const browserFolders = [
  "ir/**/*.ts",
  "passes/**/*.ts",
  "backends/**/*.ts",
  "src/{api,report,dialects,formats,tune}/**/*.ts",
  "src/lsp/{analysis,completions,judgements}.ts",
  "src/cli/flag-values.ts",
  "playground/src/**/*.{ts,tsx}",
];
/** Of `node:fs`, what changes no file: everything else is for the one module that writes. */
const readers = ["existsSync", "readFileSync", "readdirSync", "realpathSync", "statSync", "BigIntStats"];
const onlyReads = (allowed) => {
  const message = "src/output/write-file.ts writes files: over none that tilec did not write, and whole";
  const paths = ["node:fs", "fs"].map((name) => ({ name, allowImportNames: allowed, message }));
  return ["error", { paths, patterns: [{ group: ["node:fs/*", "fs/*"], message }] }];
};

const nodeFiles = ["src/formats/files.ts", "src/formats/standard-input.ts", "src/formats/onnx/node-test.ts"];

/** Divisions by which tsx cannot import a module: its lexer takes the `/` behind `of` for the start of a regular expression. */
const dividedOf = [
  "Identifier.left",
  "UnaryExpression.left > Identifier",
  "BinaryExpression.left > Identifier.right",
]
  .map((place) => `BinaryExpression[operator='/'] > ${place}[name='of']`)
  .join(", ");

const restrictedSyntax = [
  { selector: dividedOf, message: "tsx reads no module that divides a variable of this name" },
  { selector: "TSEnumDeclaration", message: "use a union of literals" },
  { selector: "TSModuleDeclaration[kind='namespace']", message: "use modules" },
];
const noKindsOfTargets = {
  selector:
    "BinaryExpression > MemberExpression[property.name='kind']:matches([object.name='target'], [object.property.name='target'])",
  message: "ask targetFacts, which a new kind of target has to state",
};

const noMembersAsEntries = {
  selector:
    ":matches(MemberExpression[computed=true] > CallExpression.property, BinaryExpression[operator='in'] > CallExpression.left)[callee.name='keyOf']",
  message: "users choose keys: entryOf finds entries alone, and not the members of every object",
};

const noPlaceOfItsOwn = {
  selector: "NewExpression[callee.name='URL'] MetaProperty",
  message: "a module is built into a file of another name and folder: ownFile finds files of the package",
};

export default tseslint.config(
  // The extension has packages and a compiler of its own.
  { ignores: ["dist/", "playground/dist/", "node_modules/", "editors/", "**/*.cjs", "eslint.config.js"] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/restrict-template-expressions": [
        "error",
        { allowNumber: true, allowBoolean: true },
      ],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "@typescript-eslint/no-unnecessary-condition": "off",
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: false },
      ],
      "no-restricted-syntax": ["error", ...restrictedSyntax],
    },
  },
  {
    files: ["{ir,passes,backends,src}/**/*.ts"],
    rules: {
      "no-restricted-syntax": [
        "error",
        ...restrictedSyntax,
        noKindsOfTargets,
        noPlaceOfItsOwn,
        noMembersAsEntries,
      ],
    },
  },
  {
    files: ["{ir,passes,backends,src}/**/*.ts"],
    plugins: { names: { rules: { "no-retired-words": noRetiredWords } } },
    rules: { "names/no-retired-words": "error" },
  },
  {
    files: ["{ir,passes,backends,src,bench}/**/*.ts", "playground/src/**/*.ts"],
    plugins: { comments: { rules: { columns: commentColumns, openings: docstringOpenings } } },
    rules: { "comments/columns": "error", "comments/openings": "error" },
  },
  {
    files: ["bench/**/*.ts", "test/fuzz/**/*.ts"],
    rules: { "no-restricted-syntax": ["error", ...restrictedSyntax, noPlaceOfItsOwn] },
  },
  {
    files: ["{ir,passes,backends,src}/**/*.ts"],
    ignores: ["src/output/write-file.ts"],
    rules: { "no-restricted-imports": onlyReads(readers) },
  },
  {
    // A pipe or device is opened to read no more of it than memory holds.
    files: ["src/formats/files.ts", "src/formats/standard-input.ts"],
    rules: { "no-restricted-imports": onlyReads([...readers, "openSync", "closeSync", "readSync"]) },
  },
  {
    files: browserFolders,
    ignores: nodeFiles,
    rules: {
      "no-restricted-imports": ["error", { patterns: ["node:*", "fs", "path", "os", "worker_threads"] }],
      "no-restricted-globals": ["error", "process", "Buffer", "require", "__dirname", "global"],
    },
  },
  {
    files: ["test/**/*.ts", "bench/**/*.ts"],
    rules: {
      "@typescript-eslint/no-non-null-assertion": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-call": "off",
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-return": "off",
    },
  },
  {
    // Run as they are, without a build: JavaScript, outside of the TypeScript projects.
    files: ["{scripts,lint}/**/*.js"],
    ...tseslint.configs.disableTypeChecked,
  },
  eslintConfigPrettier,
);
