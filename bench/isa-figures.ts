/** Texts that bench:isa reads: Dawn's dump of its SPIR-V, and what the driver prints of each kernel. */

/**
 * Names of the statistics that the Mesa driver RADV prints for a compiled kernel, by the names used in the
 * benchmark.
 */
export const figures = {
  code: "Code size",
  instructions: "Instructions",
  VGPRs: "VGPRs",
  LDS: "LDS size",
  waves: "Subgroups per SIMD",
  throughput: "Inverse Throughput",
} as const;

/** Name of a statistic of a compiled kernel. */
export type Figure = keyof typeof figures;

/** Statistics of a compiled kernel. A statistic that the driver did not print is NaN. */
export type Counts = Readonly<Record<Figure, number>>;

/** SPIR-V of a kernel as text, with the name of the kernel. */
export interface NamedSpirv {
  readonly name: string;
  readonly spirv: string;
}

/** Parses the output of isa-dump.js, and returns the SPIR-V of each kernel. */
export const spirvIn = (printed: string): readonly NamedSpirv[] =>
  printed
    .split(/^@@@@ /m)
    .slice(1)
    .map((part) => {
      const [spirv] = part
        .split("/* Dumped SPIRV disassembly */\n")
        .slice(-1)
        .map((text) => /^[^]*OpFunctionEnd\s*\n/.exec(text)?.[0] ?? "");
      return { name: part.slice(0, part.indexOf("\n")), spirv: spirv ?? "" };
    });

/**
 * Parses the output of isa.c, and returns the statistics of each kernel by name. `names` has the kernel names
 * in the order of the output.
 */
export function countsIn(printed: string, names: readonly string[]): ReadonlyMap<string, Counts> {
  const parts = printed.split(/^@@ .*\n/m).slice(1);
  const valueIn = (part: string, name: string): number =>
    Number(new RegExp(`^${name}=(\\d+)$`, "m").exec(part)?.[1] ?? NaN);
  return new Map(
    names.map((name, k) => [
      name,
      Object.fromEntries(
        Object.entries(figures).map(([figure, label]) => [figure, valueIn(parts[k] ?? "", label)]),
      ) as Record<Figure, number>,
    ]),
  );
}
