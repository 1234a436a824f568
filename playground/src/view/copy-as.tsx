/**
 * The page for use elsewhere: each form is copied, and shown for those whose clipboard is closed to pages.
 */
import { useState } from "preact/hooks";
import { copyForms, type CopyForm, type WithInputs } from "../jobs/messages.js";
import { quick } from "../workers.js";
import { Action } from "./action.js";
import { Choice } from "./field.js";
import { failedAnswer } from "./use-answer.js";

const titles: Readonly<Record<CopyForm, string>> = {
  cli: "command line",
  library: "library code",
  case: "case file",
  tir: ".tir",
};

interface Props {
  readonly asked: WithInputs;
  /** Returns the address of the page with its state. */
  readonly link: () => Promise<string>;
}

/**
 * Renders the button that copies a link to the page, and the menu that copies the program. The copied text is
 * also shown below.
 */
export function CopyAs({ asked, link }: Props) {
  const [copied, setCopied] = useState<{ readonly said: string; readonly text: string }>();
  const copy = async (what: string, made: () => Promise<string>): Promise<void> => {
    try {
      const text = await made();
      setCopied({ said: await toClipboard(what, text), text });
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
    <div class="copy row">
      <Choice
        id="copy-as"
        label="copy as"
        value=""
        options={[["", "choose"], ...copyForms.map((form) => [form, titles[form]] as const)]}
        onChoice={(chosen) => {
          const form = copyForms.find((one) => one === chosen);
          if (form !== undefined) void copy(titles[form], () => quick.call("copy", { ...asked, form }));
        }}
      />
      <Action id="share" onAction={() => void copy("link", link)}>
        Share
      </Action>
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
 * Writes text to the clipboard. Resolves to a message for the user: success, or the reason for the failure.
 */
async function toClipboard(what: string, text: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return `Copied: ${what}.`;
  } catch {
    return `This page may not write to the clipboard; here is the ${what}:`;
  }
}
