/** Problems of a case, or of the file around the cases, in words. */
import { opDefs, type Operators } from "../../ir/index.js";
import { problemsOf, type Field } from "../../backends/index.js";
import { didYouMean } from "../../ir/did-you-mean.js";
import { caseField, caseFieldOf, caseFileField } from "./case-schema.js";

const inWords = (field: Field, value: unknown): string[] =>
  problemsOf(field, value, "", didYouMean).map(({ message, hint }) =>
    hint === undefined ? message : `${message}; ${hint}`,
  );

/**
 * Returns a function from the JSON value of a test case to messages, one per problem; an empty list for a
 * valid value. `operators`: operators that a test case may name.
 */
export function caseProblemsAmong(operators: Operators): (entry: unknown) => string[] {
  const field = operators === opDefs ? caseField : caseFieldOf(operators);
  return (entry) => inWords(field, entry);
}

/**
 * Returns the problems of a JSON file of the form `{schema, cases}` as messages, without problems inside test
 * cases. The list is empty for a valid file.
 */
export const caseFileProblems = (file: unknown): string[] => inWords(caseFileField, file);
