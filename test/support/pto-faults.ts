/** Faults put into a kernel's text one at a time: each is a program that a judge of kernels must object to. */

export interface Fault {
  readonly kind: string;
  /** The line, for reports. */
  readonly line: string;
  readonly code: string;
}

const without = (lines: readonly string[], dropped: readonly number[]): string =>
  lines.filter((_, k) => !dropped.includes(k)).join("\n");

const replaced = (lines: readonly string[], at: number, line: string): string =>
  lines.map((own, k) => (k === at ? line : own)).join("\n");

export function faultsOf(code: string): readonly Fault[] {
  const lines = code.split("\n");
  return lines.flatMap((line, k): Fault[] => {
    const text = line.trim();
    const fault = (kind: string, changed: string): Fault => ({ kind, line: text, code: changed });
    const [, pair] = /^set_flag\((PIPE_\w+, PIPE_\w+, EVENT_ID\d)\);/.exec(text) ?? [];
    if (pair !== undefined && lines[k + 1]?.includes(`wait_flag(${pair})`))
      return [fault("a sync dropped", without(lines, [k, k + 1]))];
    const [, counter] = /^set_flag\(.*\((sync\d+) & 1\)/.exec(text) ?? [];
    if (counter !== undefined) {
      const own = lines.flatMap((other, at) =>
        new RegExp(`\\b${counter}\\b(?!.* = 0)`).test(other) ? [at] : [],
      );
      return [fault("a sync with lag 1 dropped", without(lines, own))];
    }
    if (text.startsWith("pipe_barrier")) return [fault("a pipe barrier dropped", without(lines, [k]))];
    if (/^TMULS\(.*\d+\);/.test(text)) return [fault("a multiply dropped", without(lines, [k]))];
    const [, size, most] = /^const int32_t (n\w+) = .* : (\d+);/.exec(text) ?? [];
    if (size !== undefined)
      return [fault("a tail widened", replaced(lines, k, `const int32_t ${size} = ${most ?? ""};`))];
    const [, head, address, tail] =
      /^(constexpr uint64_t \w+(?:\[2\] = \{\d+, | = ))(\d+)(.*)/.exec(text) ?? [];
    if (head !== undefined)
      return [
        fault(
          "an address moved by a block",
          replaced(lines, k, `${head}${Number(address) + 32}${tail ?? ""}`),
        ),
      ];
    const [, row, words, rest] =
      /^(using Ub\w*Row\d* = Tile<TileType::Vec, \w+, 1, )(\d+)(.*)/.exec(text) ?? [];
    if (row !== undefined && code.includes("TMOV("))
      return [fault("a row widened", replaced(lines, k, `${row}${2 * Number(words)}${rest ?? ""}`))];
    if (text.startsWith("TCVT(")) return [fault("a conversion dropped", without(lines, [k]))];
    if (/^turn_\w+ \^= 1;/.test(text)) return [fault("a turn dropped", without(lines, [k]))];
    return [];
  });
}
