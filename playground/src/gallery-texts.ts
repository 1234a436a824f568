/** The texts of the gallery's programs, by id. */
import { firstText } from "./gallery.js";

/**
 * Map from the id of a gallery example to the program text. Examples from the conformance suite are not in
 * the map.
 */
export const galleryTexts: Readonly<Record<string, string>> = {
  embedding: firstText,
  moe: `// Each of 256 tokens goes to 2 experts: the router's order as indices.
func @dispatch(%tokens: tensor<256x128xf16>, %order: tensor<512xi32>) -> tensor<512x128xf16> target("ascend-a2") schedule {tile = [128, 64]} {
  %sent = pypto.index_select %tokens, %order {dim = 0}
  return %sent
}
`,
  "kv-pages": `// 16 tokens a page, 64 numbers a token: the pages of one sequence in its order.
func @pages(%cache: tensor<128x16x64xf16>, %table: tensor<24xi64>) -> tensor<24x16x64xf16> target("ascend-950") schedule {tile = [4, 16, 64], residency = gm} {
  %sequence = onnx.gather %cache, %table {axis = 0}
  return %sequence
}
`,
  paged: `// Token t lies in page t div 16 of its sequence, which the block table puts anywhere: 6 of 8 pages of 16 rows.
func @paged(%kv: tensor<128x64xf16>, %topk: tensor<48xi32>, %bt: tensor<6xi32>) -> tensor<48x64xf16> target("ascend-a2") schedule {tile = [4, 64]} {
  %rows = access.gather %kv, %topk, %bt (d0, d1)
    let t = error(%topk[d0] in 96)
    -> (error(16 * %bt[t div 16] + t mod 16 in 128), d1) {oob = error}
  return %rows
}
`,
  "paged-write": `// Decoding writes 8 rows into a paged cache, in place: position p lies in page p div 16 of its sequence. A padded token has position -1.
func @write(%kv: inout tensor<4096x64xf16>, %position: tensor<8xi32>, %bt: tensor<8x32xi32>, %rows: tensor<8x64xf16>) -> tensor<4096x64xf16> target("ascend-a2") schedule {tile = [8, 32], residency = gm} {
  %written = access.scatter %kv, %position, %bt, %rows (d0 < 8, d1 < 64)
    let p = skip(%position[d0] in 512)
    -> (error(16 * %bt[d0, p div 16] + p mod 16 in 4096), d1) yield %rows[d0, d1] {oob = error, duplicates = last}
  return %written
}
`,
  quantized: `// Two numbers of 4 bits in a byte, a scale for each 32: GatherBlockQuantized, which 4-bit language models begin with.
func @embedding_4_bit(%data: tensor<16000x64xu8>, %tokens: tensor<128xi64>, %scales: tensor<16000x4xf16>) -> tensor<128x128xf16> target("webgpu") schedule {tile = [16, 128], residency = gm} {
  %rows = onnx.gather_block_quantized %data, %tokens, %scales {block_size = 32}
  return %rows
}
`,
  symbolic: `// A batch of N tokens, a table of V rows: the verdict holds for every size, and says up to which V the table fits.
dim V <= 1500  dim N <= 512
func @batch(%table: tensor<Vx32xf32>, %tokens: tensor<Nxi32>) -> tensor<Nx32xf32> target("ascend-a2") schedule {tile = [64, 16], residency = ub} {
  %rows = access.gather %table, %tokens (d0, d1) -> (%tokens[d0], d1) {oob = clamp}
  return %rows
}
`,
  sort: `// out[i, j] = data[order[i, j], j]: the tile covers the gather dim, so whole columns are loaded.
func @sort_columns(%data: tensor<1461x4xf32>, %order: tensor<1461x4xi32>) -> tensor<1461x4xf32> target("ascend-a2") schedule {tile = [1461, 4], profile = strict} {
  %sorted = pypto.gather %data, %order {dim = 0}
  return %sorted
}
`,
  "over-budget": `// The operands of this tile need more unified buffer than a core has.
func @too_much(%data: tensor<64x4096xf32>, %indices: tensor<64x4096xi32>) -> tensor<64x4096xf32> target("ascend-a2") schedule {tile = [64, 1024]} {
  %y = pypto.gather %data, %indices {dim = 0}
  return %y
}
`,
  "no-legal-tile": `// A full load takes a column of 50257 numbers; one column alone is over the budget. There is a way out.
func @vocabulary(%table: tensor<50257x16xf32>, %tokens: tensor<256xi32>) -> tensor<256x16xf32> target("ascend-a2") schedule {tile = [64, 16], residency = ub} {
  %rows = onnx.gather %table, %tokens {axis = 0}
  return %rows
}
`,
};
