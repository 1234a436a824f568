/** Frameworks whose own compiler cuts the tiles that a user types, and their facts. */

/**
 * Names of the frameworks whose tile rules tilec checks. A program names a framework in an attribute:
 * `access.gather … {framework = pypto}`.
 */
export const frameworks = ["pypto"] as const;
/**
 * Framework whose own compiler splits operators into tiles that users specify. The framework's tile rules are
 * checked on every target.
 */
export type Framework = (typeof frameworks)[number];

/** Facts of a framework. */
interface FrameworkFacts {
  /** Its name as it writes it. */
  readonly title: string;
  /** Call that sets a tile in a program of the framework. */
  readonly setTile: string;
  /** Bytes of which the last entry of a tile is a whole number, for operators that check it. */
  readonly tailBytes: number;
  /** Citation of the rule on the last entry. */
  readonly tailSource: string;
}

/** Name, tile-setting call and tile rule of each framework. */
export const frameworkFacts = {
  pypto: {
    title: "PyPTO",
    setTile: "pypto.set_vec_tile_shapes",
    tailBytes: 32,
    tailSource: "hicann/pypto docs/zh/tutorials/appendix/faq/tileshape-32byte-alignment.md at 883e7df",
  },
} as const satisfies Readonly<Record<Framework, FrameworkFacts>>;

/** Returns the line that sets a tile in a program of a framework: `pypto.set_vec_tile_shapes(64, 512)`. */
export const tileCall = (framework: Framework, tile: readonly number[]): string =>
  `${frameworkFacts[framework].setTile}(${tile.join(", ")})`;
