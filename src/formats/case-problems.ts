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
 * Returns a function that lists the problems of a case's JSON value; an empty list means a valid case. The
 * case may name the given operators.
 */
export function caseProblemsAmong(operators: Operators): (entry: unknown) => string[] {
  const field = operators === opDefs ? caseField : caseFieldOf(operators);
  return (entry) => inWords(field, entry);
}

/** Returns the problems of a file of the form `{schema, cases}`, without those of its cases. */
export const caseFileProblems = (file: unknown): string[] => inWords(caseFileField, file);
