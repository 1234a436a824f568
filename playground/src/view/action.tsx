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
 * Renders a button. If `why` is not empty, a click does nothing, and the tooltip shows `why`, the reason. The
 * button can still have the keyboard focus.
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
