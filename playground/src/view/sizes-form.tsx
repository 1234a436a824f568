/**
 * Sizes of a program's symbols, for all that runs or is made for one size; the verdict holds for every size.
 */
import { sizesTaken, takesSize, type Sizes, type Sym } from "../../../ir/symbols/symbols.js";
import { TextField } from "./field.js";

interface Props {
  readonly symbols: readonly Sym[];
  readonly sizes: Sizes;
  readonly onSizes: (sizes: Sizes) => void;
}

/**
 * Renders a field for the size of each symbol of the program. Renders nothing for a program without symbols.
 */
export function SizesForm({ symbols, sizes, onSizes }: Props) {
  if (symbols.length === 0) return null;
  return (
    <fieldset class="form">
      <legend>Sizes</legend>
      <p class="soft wide">The verdict holds for every size, and its cycles are those at the most.</p>
      {symbols.map((symbol) => (
        <TextField
          key={symbol.name}
          id={`size-${symbol.name}`}
          label={`${symbol.name}, at most ${symbol.most}`}
          help="elements along the dims that the symbol stands for"
          value={String(sizes[symbol.name] ?? symbol.most)}
          onText={(typed) => {
            const wrong = problemOf(typed, symbol);
            if (wrong === "") onSizes({ ...sizes, [symbol.name]: Number(typed) });
            return Promise.resolve(wrong);
          }}
        />
      ))}
    </fieldset>
  );
}

function problemOf(text: string, symbol: Sym): string {
  if (!/^\d+$/.test(text.trim())) return `${symbol.name} is a whole number of elements`;
  return takesSize(symbol, Number(text)) ? "" : sizesTaken(symbol);
}
