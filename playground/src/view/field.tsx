/** Labelled controls. A text stands as it is typed until it means something. */
import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";

/**
 * Context with the callback by which a text field reports whether its text is invalid (`wrong`). `label` is
 * the label of the field.
 */
export const InvalidFields = createContext<(label: string, wrong: boolean) => void>(() => undefined);

interface FieldProps {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly help?: string;
  readonly disabled?: boolean;
  /** Resolves with what is wrong with the text; empty where it was taken. */
  readonly onText: (text: string) => Promise<string>;
}

/**
 * Renders a labelled text field. `onText` receives each entered text and resolves to an error message, which
 * is shown below the field. The message is empty for a valid text.
 */
export function TextField({ id, label, value, help, disabled = false, onText }: FieldProps) {
  const [draft, setDraft] = useState<string>();
  const [wrong, setWrong] = useState("");
  const last = useRef(0);
  const tell = useContext(InvalidFields);
  const isWrong = wrong !== "";
  useEffect(() => {
    if (!isWrong) return undefined;
    tell(label, true);
    return () => {
      tell(label, false);
    };
  }, [label, isWrong]);
  const take = async (text: string): Promise<void> => {
    const turn = ++last.current;
    setDraft(text);
    const said = await onText(text);
    if (turn === last.current) setWrong(said);
  };
  return (
    <label class="field" title={help}>
      <span>{label}</span>
      <input
        type="text"
        data-testid={id}
        value={draft ?? value}
        disabled={disabled}
        spellcheck={false}
        autocomplete="off"
        aria-invalid={isWrong}
        {...(isWrong ? { "aria-describedby": `${id}-wrong` } : {})}
        onInput={(event) => void take(event.currentTarget.value)}
        onBlur={() => {
          if (!isWrong) setDraft(undefined);
        }}
      />
      {isWrong ? (
        <span class="wrong" id={`${id}-wrong`}>
          {wrong}
        </span>
      ) : null}
    </label>
  );
}

interface ChoiceProps extends Omit<FieldProps, "onText"> {
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly onChoice: (value: string) => void;
}

/** Renders a labelled drop-down list of options. `onChoice` receives the chosen option. */
export const Choice = ({ id, label, value, help, disabled = false, options, onChoice }: ChoiceProps) => (
  <label class="field" title={help}>
    <span>{label}</span>
    <select
      data-testid={id}
      value={value}
      disabled={disabled}
      onChange={(event) => {
        onChoice(event.currentTarget.value);
      }}
    >
      {options.map(([option, text]) => (
        <option value={option} selected={option === value}>
          {text}
        </option>
      ))}
    </select>
  </label>
);
