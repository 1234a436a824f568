/** Texts that the page shows for errors of its workers. */
import { failedAnswer } from "../view/use-answer.js";

/**
 * Returns the messages that the page shows for a caught error. An error with diagnostics (a refused request)
 * gives one message for each diagnostic; any other error gives one message.
 */
export function errorTexts(thrown: unknown): readonly string[] {
  const failed = failedAnswer(thrown);
  return failed.state === "refused"
    ? failed.diagnostics.map(
        ({ code, message, hint }) => `${code}: ${message}${hint === undefined ? "" : `. Try: ${hint}`}`,
      )
    : [failed.message];
}
