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
 * Returns a function that checks the JSON value of a case and returns a message for each problem. An empty
 * list means that the case is valid. `operators` are the operators that the case may name.
 */
export function caseProblemsAmong(operators: Operators): (entry: unknown) => string[] {
  const field = operators === opDefs ? caseField : caseFieldOf(operators);
  return (entry) => inWords(field, entry);
}

/**
 * Returns the problems of a case file of the form `{schema, cases}` as messages, without the problems inside
 * its cases. An empty list means that the file is valid.
 */
export const caseFileProblems = (file: unknown): string[] => inWords(caseFileField, file);
