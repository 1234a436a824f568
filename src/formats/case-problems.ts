/** What is wrong with a case, or with the file around the cases, in words. */
import { problemsOf } from "../../backends/index.js";
import { didYouMean } from "../../ir/did-you-mean.js";
import { caseField, caseFileField } from "./case-schema.js";
import type { JsonField } from "./json-fields.js";

const inWords = (field: JsonField, value: unknown): string[] =>
  problemsOf(field, value, "", didYouMean).map(({ message, hint }) =>
    hint === undefined ? message : `${message}; ${hint}`,
  );

export const caseProblems = (entry: unknown): string[] => inWords(caseField, entry);

/** Of a file as `{schema, cases}`; its cases are left out. */
export const caseFileProblems = (file: unknown): string[] => inWords(caseFileField, file);
