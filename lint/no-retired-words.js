import { exceptions, retiredWords } from "./retired-words.js";

/** Returns the parts of a camel-case identifier: `siteOf` has `site` and `of`. */
const partsOf = (name) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1-$2")
    .toLowerCase();

/** Returns the retired words in an identifier. */
export const retiredIn = (name) =>
  Object.keys(retiredWords).filter((word) => `-${partsOf(name)}-`.includes(`-${word}-`));

/** Returns the exception under which a file may declare an identifier, or undefined. */
export const exceptionOf = (name, file) =>
  exceptions.find(
    ({ names, files }) =>
      names.includes(name) && (files === undefined || files.some((end) => file.endsWith(end))),
  );

/** Identifiers that a pattern declares; `{ name }` takes the name of a property. */
function* declaredBy(pattern) {
  switch (pattern?.type) {
    case "Identifier":
      yield pattern;
      break;
    case "ObjectPattern":
      for (const property of pattern.properties) {
        if (property.type === "RestElement") yield* declaredBy(property.argument);
        else if (!property.shorthand) yield* declaredBy(property.value);
      }
      break;
    case "ArrayPattern":
      for (const element of pattern.elements) yield* declaredBy(element);
      break;
    case "AssignmentPattern":
      yield* declaredBy(pattern.left);
      break;
    case "RestElement":
      yield* declaredBy(pattern.argument);
      break;
    case "TSParameterProperty":
      yield* declaredBy(pattern.parameter);
      break;
  }
}

/** Forbids retired words in declared identifiers; members of other libraries are used, not declared. */
export const noRetiredWords = {
  meta: {
    type: "suggestion",
    schema: [],
    messages: {
      retired: "`{{name}}` has the retired word `{{word}}`; say {{instead}} (lint/retired-words.js)",
    },
  },
  create(context) {
    const file = context.filename.replaceAll("\\", "/");
    const judge = (node) => {
      const [word] = retiredIn(node.name);
      if (word === undefined || exceptionOf(node.name, file) !== undefined) return;
      context.report({
        node,
        messageId: "retired",
        data: { name: node.name, word, instead: retiredWords[word] },
      });
    };
    const judgeAll = (patterns) => {
      for (const pattern of patterns) for (const name of declaredBy(pattern)) judge(name);
    };
    const named = ({ id }) => id?.type === "Identifier" && judge(id);
    const keyed = ({ key, computed }) =>
      !computed && (key.type === "Identifier" || key.type === "PrivateIdentifier") && judge(key);
    const called = (node) => {
      named(node);
      judgeAll(node.params);
    };
    return {
      VariableDeclarator: ({ id }) => judgeAll([id]),
      FunctionDeclaration: called,
      FunctionExpression: called,
      ArrowFunctionExpression: ({ params }) => judgeAll(params),
      TSDeclareFunction: called,
      TSFunctionType: ({ params }) => judgeAll(params),
      CatchClause: ({ param }) => judgeAll([param]),
      ClassDeclaration: named,
      TSInterfaceDeclaration: named,
      TSTypeAliasDeclaration: named,
      TSPropertySignature: keyed,
      TSMethodSignature: keyed,
      PropertyDefinition: keyed,
      MethodDefinition: keyed,
      TSTypeParameter: ({ name }) => judge(name),
      ImportSpecifier: ({ imported, local }) => local.name !== imported.name && judge(local),
    };
  },
};
