/** A figure of a target, with what is known of it. */

/**
 * Kinds of figures, by how well they are known. `board`: fitted to measurements of hardware. `vendor text`: stated by who made the hardware or its
 * interface. `model of others`: a fit or a calibration that others published. `simulator`: from another simulator's sources.
 */
export const figureKinds = ["board", "vendor text", "model of others", "simulator", "assumption"] as const;
/** Kind of a figure: how well it is known. */
export type FigureKind = (typeof figureKinds)[number];

/** Source of a figure, and how sure it is. */
export interface FigureSource {
  readonly source: string;
  readonly kind: FigureKind;
  /** The least and the largest value that its source allows; absent where it is the value alone. */
  readonly range?: readonly [low: number, high: number];
  /** Measurements that fix it, by their ids. */
  readonly rows?: readonly string[];
}

/** A value beside its source. */
export interface Figure extends FigureSource {
  readonly value: number;
}

/** The values of a table of figures. */
export const valuesOf = <K extends string>(table: Readonly<Record<K, Figure>>): Readonly<Record<K, number>> =>
  Object.fromEntries(Object.entries<Figure>(table).map(([name, { value }]) => [name, value])) as Record<
    K,
    number
  >;

/** The sources of a table of figures. */
export const sourcesOf = <K extends string>(
  table: Readonly<Record<K, Figure>>,
): Readonly<Record<K, FigureSource>> =>
  Object.fromEntries(
    Object.entries<Figure>(table).map(([name, { value: _, ...source }]) => [name, source]),
  ) as unknown as Record<K, FigureSource>;
