/** A figure of a target, with what is known of it. */

/**
 * Kinds of evidence for the value of a hardware parameter, strongest first. `board`: measurement of hardware.
 * `vendor text`: statement of the vendor. `model of others`: published fit. `simulator`: source code of
 * another simulator. `assumption`: no evidence.
 */
export const figureKinds = ["board", "vendor text", "model of others", "simulator", "assumption"] as const;
/** Kind of evidence for the value of a hardware parameter; see {@link figureKinds}. */
export type FigureKind = (typeof figureKinds)[number];

/**
 * Source of the value of a hardware parameter: a citation, the kind of evidence, and the range of values that
 * the source allows.
 */
export interface FigureSource {
  readonly source: string;
  readonly kind: FigureKind;
  /** Smallest and largest value that the source allows. Absent: only the value itself. */
  readonly range?: readonly [low: number, high: number];
  /** Ids of the measurements that determine the value. */
  readonly rows?: readonly string[];
}

/** Hardware parameter of a target: the value and the value's source. */
export interface Figure extends FigureSource {
  readonly value: number;
}

/** Returns the values in a table of hardware parameters, by parameter name. */
export const valuesOf = <K extends string>(table: Readonly<Record<K, Figure>>): Readonly<Record<K, number>> =>
  Object.fromEntries(Object.entries<Figure>(table).map(([name, { value }]) => [name, value])) as Record<
    K,
    number
  >;

/** Returns the sources in a table of hardware parameters, by parameter name. */
export const sourcesOf = <K extends string>(
  table: Readonly<Record<K, Figure>>,
): Readonly<Record<K, FigureSource>> =>
  Object.fromEntries(
    Object.entries<Figure>(table).map(([name, { value: _, ...source }]) => [name, source]),
  ) as unknown as Record<K, FigureSource>;
