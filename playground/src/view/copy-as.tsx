/**
 * The page for use elsewhere: each form is copied, and shown for those whose clipboard is closed to pages.
 */
import { useState } from "preact/hooks";
import { copyForms, type CopyForm, type WithInputs } from "../jobs/messages.js";
import { quick } from "../workers.js";
import { Choice } from "./field.js";
import { failedAnswer } from "./use-answer.js";

const titles: Readonly<Record<CopyForm, string>> = {
  cli: "command line",
  library: "library code",
  case: "case file",
  tir: ".tir",
};

/**
 * Renders the menu that copies the program, or a link to the page, to the clipboard. The copied text is also
 * shown below the menu, for pages that may not write to the clipboard.
 */
export function CopyAs({ asked }: { readonly asked: WithInputs }) {
  const [copied, setCopied] = useState<{ readonly said: string; readonly text: string }>();
  const copy = async (form: string): Promise<void> => {
    try {
      const known = copyForms.find((one) => one === form);
      const text = known === undefined ? location.href : await quick.call("copy", { ...asked, form: known });
      setCopied({ said: await toClipboard(text), text });
    } catch (thrown) {
      const failed = failedAnswer(thrown);
      const said =
        failed.state === "refused"
          ? failed.diagnostics.map(({ message }) => message).join(" ")
          : failed.message;
      setCopied({ said, text: "" });
    }
  };
  return (
    <div class="copy">
      <Choice
        id="copy-as"
        label="copy as"
        value=""
        options={[
          ["", "choose"],
          ...copyForms.map((form) => [form, titles[form]] as const),
          ["link", "link to this page"],
        ]}
        onChoice={(form) => {
          if (form !== "") void copy(form);
        }}
      />
      {copied === undefined ? null : (
        <div class="copied" role="status">
          <span>{copied.said}</span>{" "}
          <button
            type="button"
            onClick={() => {
              setCopied(undefined);
            }}
          >
            Close
          </button>
          {copied.text === "" ? null : (
            <textarea readOnly rows={6} data-testid="copied" aria-label="copied text" value={copied.text} />
          )}
        </div>
      )}
    </div>
  );
}

/**
 * Writes text to the clipboard. Resolves to a message for the user that states whether the write succeeded.
 */
async function toClipboard(text: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return "Copied.";
  } catch {
    return "This page may not write to the clipboard; here it is:";
  }
}
