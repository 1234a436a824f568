/** Programs to begin with. */

interface Titled {
  readonly id: string;
  readonly title: string;
}

/** A case of `test/conformance/cases/seed.json`, or a text of the page's own. */
export type Example = Titled & ({ readonly seed: string } | { readonly text: string });

const seeds: readonly Example[] = [
  ["dml-gather-elements-1", "DirectML GATHER_ELEMENTS, its documentation's example"],
  ["onnx-gather-elements-2", "ONNX GatherElements, its specification's example"],
  ["pypto-gather-1", "PyPTO gather, its documentation's example"],
  ["dml-gather-nd-1", "DirectML GATHER_ND, its documentation's example"],
  ["dml-gather-nd-shape", "DirectML GATHER_ND of five dims"],
].map(([id = "", title = ""]) => ({ id, title, seed: `seed/${id}` }));

const texts: readonly Example[] = [
  {
    id: "embedding",
    title: "Embedding lookup: rows of a table stay in global memory",
    text: `// A token's row of a table that no unified buffer holds: rows are fetched from global memory one by one.
func @embedding(%table: tensor<32000x64xf32>, %tokens: tensor<512xi32>) -> tensor<512x64xf32> target("ascend-a2") schedule {tile = [64, 64], residency = gm} {
  %rows = onnx.gather %table, %tokens {axis = 0}
  return %rows
}
`,
  },
  {
    id: "moe",
    title: "Mixture of experts: tokens to the experts' order",
    text: `// Each of 256 tokens goes to 2 experts: the router's order as indices.
func @dispatch(%tokens: tensor<256x128xf16>, %order: tensor<512xi32>) -> tensor<512x128xf16> target("ascend-a2") schedule {tile = [128, 64]} {
  %sent = pypto.index_select %tokens, %order {dim = 0}
  return %sent
}
`,
  },
  {
    id: "kv-pages",
    title: "KV pages: whole pages of a cache by their numbers",
    text: `// 16 tokens a page, 64 numbers a token: the pages of one sequence in its order.
func @pages(%cache: tensor<128x16x64xf16>, %table: tensor<24xi64>) -> tensor<24x16x64xf16> target("ascend-950") schedule {tile = [4, 16, 64], residency = gm} {
  %sequence = onnx.gather %cache, %table {axis = 0}
  return %sequence
}
`,
  },
  {
    id: "paged",
    title: "Paged rows: a token's page from a block table",
    text: `// Token t lies in page t div 16 of its sequence, which the block table puts anywhere: 6 of 8 pages of 16 rows.
func @paged(%kv: tensor<128x64xf16>, %topk: tensor<48xi32>, %bt: tensor<6xi32>) -> tensor<48x64xf16> target("ascend-a2") schedule {tile = [4, 64]} {
  %rows = access.gather %kv, %topk, %bt (d0, d1)
    let t = error(%topk[d0] in 96)
    -> (error(16 * %bt[t div 16] + t mod 16 in 128), d1) {oob = error}
  return %rows
}
`,
  },
  {
    id: "quantized",
    title: "4-bit embedding: blocks dequantized as they are gathered",
    text: `// Two numbers of 4 bits in a byte, a scale for each 32: GatherBlockQuantized, which 4-bit language models begin with.
func @embedding_4_bit(%data: tensor<16000x64xu8>, %tokens: tensor<128xi64>, %scales: tensor<16000x4xf16>) -> tensor<128x128xf16> target("webgpu") schedule {tile = [16, 128], residency = gm} {
  %rows = onnx.gather_block_quantized %data, %tokens, %scales {block_size = 32}
  return %rows
}
`,
  },
  {
    id: "symbolic",
    title: "Symbolic sizes: one program for every batch",
    text: `// A batch of N tokens, a table of V rows: the verdict holds for every size, and says up to which V the table fits.
dim V <= 1500  dim N <= 512
func @batch(%table: tensor<Vx32xf32>, %tokens: tensor<Nxi32>) -> tensor<Nx32xf32> target("ascend-a2") schedule {tile = [64, 16], residency = ub} {
  %rows = access.gather %table, %tokens (d0, d1) -> (%tokens[d0], d1) {oob = clamp}
  return %rows
}
`,
  },
  {
    id: "sort",
    title: "Sort: every column by a ranking computed before",
    text: `// out[i, j] = data[order[i, j], j]: the tile covers the gather dim, so whole columns are loaded.
func @sort_columns(%data: tensor<1461x4xf32>, %order: tensor<1461x4xi32>) -> tensor<1461x4xf32> target("ascend-a2") schedule {tile = [1461, 4], profile = strict} {
  %sorted = pypto.gather %data, %order {dim = 0}
  return %sorted
}
`,
  },
  {
    id: "over-budget",
    title: "Over budget: a tile that is too large, and the nearest that is not",
    text: `// The operands of this tile need more unified buffer than a core has.
func @too_much(%data: tensor<64x4096xf32>, %indices: tensor<64x4096xi32>) -> tensor<64x4096xf32> target("ascend-a2") schedule {tile = [64, 1024]} {
  %y = pypto.gather %data, %indices {dim = 0}
  return %y
}
`,
  },
  {
    id: "no-legal-tile",
    title: "No legal tile: not even one column of the table fits",
    text: `// A full load takes a column of 50257 numbers; one column alone is over the budget. There is a way out.
func @vocabulary(%table: tensor<50257x16xf32>, %tokens: tensor<256xi32>) -> tensor<256x16xf32> target("ascend-a2") schedule {tile = [64, 16], residency = ub} {
  %rows = onnx.gather %table, %tokens {axis = 0}
  return %rows
}
`,
  },
];

export const gallery: readonly Example[] = [...seeds, ...texts];
