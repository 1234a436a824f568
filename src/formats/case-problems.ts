/** What is wrong with a case, or with the file around the cases, in words. */
import { opDefs, type Operators } from "../../ir/index.js";
import { problemsOf, type Field } from "../../backends/index.js";
import { didYouMean } from "../../ir/did-you-mean.js";
import { caseField, caseFieldOf, caseFileField } from "./case-schema.js";

const inWords = (field: Field, value: unknown): string[] =>
  problemsOf(field, value, "", didYouMean).map(({ message, hint }) =>
    hint === undefined ? message : `${message}; ${hint}`,
  );

/** The check of a case, whose operator is among these. */
export function caseProblemsAmong(operators: Operators): (entry: unknown) => string[] {
  const field = operators === opDefs ? caseField : caseFieldOf(operators);
  return (entry) => inWords(field, entry);
}

/** Of a file as `{schema, cases}`; its cases are left out. */
export const caseFileProblems = (file: unknown): string[] => inWords(caseFileField, file);
