/**
 * Programs to begin with, by title; all texts but the first program's are in `gallery-texts.ts`, loaded when
 * one is chosen.
 */

/**
 * Entry of the gallery of example programs: an id and a menu title. `seed` is the name of the conformance
 * test case that supplies the program and the inputs. Without `seed`, {@link galleryTexts} has the program.
 */
export interface Example {
  readonly id: string;
  readonly title: string;
  /**
   * Name of a test case in `test/conformance/cases/seed.json`; absent if {@link galleryTexts} has the
   * program.
   */
  readonly seed?: string;
}

const seeds: readonly Example[] = [
  ["dml-gather-elements-1", "DirectML GATHER_ELEMENTS, its documentation's example"],
  ["onnx-gather-elements-2", "ONNX GatherElements, its specification's example"],
  ["pypto-gather-1", "PyPTO gather, its documentation's example"],
  ["dml-gather-nd-1", "DirectML GATHER_ND, its documentation's example"],
  ["dml-gather-nd-shape", "DirectML GATHER_ND of five dims"],
].map(([id = "", title = ""]) => ({ id, title, seed: `seed/${id}` }));

/** Entries of the gallery of example programs, in the order of the menu. */
export const gallery: readonly Example[] = [
  ...seeds,
  { id: "embedding", title: "Embedding lookup: rows of a table stay in global memory" },
  { id: "moe", title: "Mixture of experts: tokens to the experts' order" },
  { id: "kv-pages", title: "KV pages: whole pages of a cache by their numbers" },
  { id: "paged", title: "Paged rows: a token's page from a block table" },
  { id: "paged-write", title: "Paged write: rows of new tokens into a KV cache, in place" },
  { id: "quantized", title: "4-bit embedding: blocks dequantized as they are gathered" },
  { id: "symbolic", title: "Symbolic sizes: one program for every batch" },
  { id: "sort", title: "Sort: every column by a ranking computed before" },
  { id: "over-budget", title: "Over budget: a tile that is too large, and the nearest that is not" },
  { id: "no-legal-tile", title: "No legal tile: not even one column of the table fits" },
];

/** Program text that the page shows if the address has no program. */
export const firstText = `// A token's row of a table that no unified buffer holds: rows are fetched from global memory one by one.
// Larger tiles move rows in fewer transfers; smaller ones keep all 48 cores busy.
func @embedding(%table: tensor<32000x128xf32>, %tokens: tensor<1536xi32>) -> tensor<1536x128xf32> target("ascend-a2") schedule {tile = [8, 128], residency = gm} {
  %rows = onnx.gather %table, %tokens {axis = 0}
  return %rows
}
`;
