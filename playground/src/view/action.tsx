/** Buttons that say why they do nothing. */
import type { ComponentChildren } from "preact";

interface Props {
  readonly id: string;
  readonly children: ComponentChildren;
  readonly onAction: () => void;
  /** Reason why the button does nothing now; empty if it works. */
  readonly why?: string;
  readonly class?: string;
}

/**
 * Renders a button. If `why` is not empty, the button does nothing and shows the text as title, but can have
 * the keyboard focus.
 */
export const Action = ({ id, children, onAction, why = "", class: name = "" }: Props) => (
  <button
    type="button"
    class={name}
    data-testid={id}
    aria-disabled={why !== ""}
    {...(why === "" ? {} : { title: why })}
    onClick={() => {
      if (why === "") onAction();
    }}
  >
    {children}
  </button>
);
