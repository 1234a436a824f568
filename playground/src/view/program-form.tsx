/** The program as a form: operator, types, attributes. Every change is one of the text. */
import type { Shown, Vocabulary } from "../jobs/messages.js";
import type { Change } from "../jobs/program.js";
import { Choice, TextField } from "./field.js";

interface Props {
  readonly shown: Shown;
  readonly vocabulary: Vocabulary;
  /** Resolves with what is wrong; empty where nothing is. */
  readonly onChange: (change: Change) => Promise<string>;
}

/**
 * Renders the form for a program's operator, types and attributes. The form is disabled if the program does
 * not call a framework's operator.
 */
export function ProgramForm({ shown: { form, inputs, level }, vocabulary, onChange }: Props) {
  const dialect = vocabulary.dialects.find(({ name }) => name === form?.dialect);
  const choose = (change: Change): void => void onChange(change);
  const off = form === undefined;
  return (
    <fieldset class="form">
      <legend>Program as a form</legend>
      {level === undefined ? (
        <p class="soft wide">The form waits for a program without errors.</p>
      ) : level === "source" ? null : (
        <p class="soft wide">This program is written at the {level} level: change it in the editor.</p>
      )}
      <Choice
        id="dialect"
        label="dialect"
        value={form?.dialect ?? ""}
        disabled={off}
        options={vocabulary.dialects.map(({ name }) => [name, name])}
        onChoice={(name) => {
          choose({ kind: "operator", dialect: name });
        }}
      />
      <Choice
        id="op"
        label="operator"
        value={form?.op ?? ""}
        disabled={off}
        options={(dialect?.ops ?? []).map((op) => [op, op])}
        onChoice={(op) => {
          choose({ kind: "operator", op });
        }}
      />
      {inputs.map(({ key, text }) => (
        <TextField
          key={key}
          id={key}
          label={key}
          help="element type and shape, such as f32[64,80]"
          value={text}
          disabled={off}
          onText={(typed) => onChange({ kind: "type", operand: key, text: typed })}
        />
      ))}
      {(form?.attributes ?? []).map(({ key, help, words, text }) =>
        words === undefined ? (
          <TextField
            key={key}
            id={key}
            label={key}
            help={help}
            value={text}
            onText={(typed) => onChange({ kind: "attr", key, text: typed })}
          />
        ) : (
          <Choice
            key={key}
            id={key}
            label={key}
            help={help}
            value={text}
            options={words.map((word) => [word, word])}
            onChoice={(word) => {
              choose({ kind: "attr", key, text: word });
            }}
          />
        ),
      )}
      <Choice
        id="oob"
        label="index out of range"
        value={form?.policy ?? ""}
        disabled={off}
        options={vocabulary.policies.map((policy) => [policy, policy])}
        onChoice={(policy) => {
          choose({ kind: "oob", policy });
        }}
      />
    </fieldset>
  );
}
