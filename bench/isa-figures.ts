/** Texts that bench:isa reads: Dawn's dump of its SPIR-V, and what the driver prints of each kernel. */

/** Figures of RADV, by the names that it has for them. */
export const figures = {
  code: "Code size",
  instructions: "Instructions",
  VGPRs: "VGPRs",
  LDS: "LDS size",
  waves: "Subgroups per SIMD",
  throughput: "Inverse Throughput",
} as const;

/** Name of a figure of a compiled kernel. */
export type Figure = keyof typeof figures;

/** Figures of a compiled kernel; NaN for one that the driver did not print. */
export type Counts = Readonly<Record<Figure, number>>;

/** SPIR-V of a kernel, as text. */
export interface NamedSpirv {
  readonly name: string;
  readonly spirv: string;
}

/** Returns the SPIR-V of each kernel that isa-dump.js printed. */
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

/** Returns the figures that isa.c printed of kernels with these names, in their order. */
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
