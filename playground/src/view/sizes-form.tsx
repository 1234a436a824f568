/** Sizes of a program's symbols, for all that runs or is made for one size; the verdict holds for every size. */
import type { Sizes, Sym } from "../../../ir/symbolic.js";
import { TextField } from "./field.js";

interface Props {
  readonly symbols: readonly Sym[];
  readonly sizes: Sizes;
  readonly onSizes: (sizes: Sizes) => void;
}

export function SizesForm({ symbols, sizes, onSizes }: Props) {
  if (symbols.length === 0) return null;
  return (
    <fieldset class="form">
      <legend>Sizes</legend>
      <p class="soft wide">The verdict holds for every size, and its cycles are those at the most.</p>
      {symbols.map(({ name, most }) => (
        <TextField
          key={name}
          id={`size-${name}`}
          label={`${name}, at most ${most}`}
          help="elements along the dims that the symbol stands for"
          value={String(sizes[name] ?? most)}
          onText={(typed) => {
            const wrong = problemOf(typed, name, most);
            if (wrong === "") onSizes({ ...sizes, [name]: Number(typed) });
            return Promise.resolve(wrong);
          }}
        />
      ))}
    </fieldset>
  );
}

function problemOf(text: string, name: string, most: number): string {
  if (!/^\d+$/.test(text.trim())) return `${name} is a whole number of elements`;
  return Number(text) > most ? `dim ${name} <= ${most} says 0 to ${most}` : "";
}
