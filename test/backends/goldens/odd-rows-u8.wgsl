// @gather(%data: 9x7xu8, %indices: 10xi32, %output: 10x7xu8)
@group(0) @binding(0) var<storage, read> data: array<u32, 16>;
@group(0) @binding(1) var<storage, read> indices: array<u32, 10>;
@group(0) @binding(2) var<storage, read_write> output: array<u32, 18>;
@group(0) @binding(3) var<storage, read_write> status: array<atomic<u32>, 1>;

var<private> worst_0: u32;
fn resolve_0(position: u32) -> u32 {
  let low = indices[position];
  let element = low + select(0u, 9u, low >= 0x80000000u);
  worst_0 = max(worst_0, element);
  return min(element, 8u);
}

fn report_0(position: u32, place: u32) {
  let low = indices[position];
  if (low + select(0u, 9u, low >= 0x80000000u) >= 9u) { atomicMin(&status[0], place); }
}

fn element(flat: u32) -> u32 {
  let d0 = flat / 7u;
  let d1 = flat % 7u;
  let at0 = resolve_0(d0);
  for (var again = worst_0 >= 9u; again; again = false) {
    report_0(d0, flat);
  }
  let source = at0 * 7u + d1;
  return ((data[source / 4u] >> (source % 4u * 8u)) & 0xffu);
}

@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) lane_index: u32) {
  // gather %data[0, 0][9, 7], %indices[0][10] to %output[0, 0][10, 7] (d0, d1) -> (from_end(%indices[d0]), d1) {oob = error, origin = [0]}
  for (var slot = lane_index; slot < 20u; slot += 8u) {
    let d0 = slot / 2u;
    let d1 = slot % 2u;
    let first = d0 * 7u;
    let word = (first + 3u) / 4u + d1;
    if (word * 4u < first + 7u) {
      var packed = 0u;
      for (var e = 0u; e < 4u; e++) {
        let flat = word * 4u + e;
        if (flat < 70u) { packed |= element(flat) << (e * 8u); }
      }
      output[word] = packed;
    }
  }
}
