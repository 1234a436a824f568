// @gather(%data: 9x7xu8, %indices: 10xi32, %output: 10x7xu8)
@group(0) @binding(0) var<storage, read> gm_data: array<u32, 16>;
@group(0) @binding(1) var<storage, read> gm_indices: array<u32, 10>;
@group(0) @binding(2) var<storage, read_write> gm_output: array<u32, 18>;
@group(0) @binding(3) var<storage, read_write> status: array<atomic<u32>, 1>;

fn resolve_0(position: u32) -> u32 {
  let low = gm_indices[position];
  return min(low, low + 9u);
}

fn run(source: u32) -> u32 {
  let low = gm_data[source >> 2u];
  let high = gm_data[(source + 3u) >> 2u];
  let shift = (source & 3u) * 8u;
  return select((low >> shift) | (high << (32u - shift)), low, shift == 0u);
}

@compute @workgroup_size(2, 8)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) lane: vec3u) {
  // for %t0 = 0 to 10 step 8 parallel
  let iv_t0 = group.x * 8u;
  // gather %data[0, 0][9, 7], %indices[%t0][min(8, 10 - %t0)] to %output[%t0, 0][min(8, 10 - %t0), 7] (d0, d1) -> (from_end(%indices[d0]), d1) {oob = error, origin = [%t0]}
  {
    var bad = 0xffffffffu;
    let d0 = lane.y;
    if (d0 < min(8u, 10u - iv_t0)) {
      let first = iv_t0 * 7u + d0 * 7u;
      let written = iv_t0 * 7u + d0 * 7u;
      let raw_at0 = resolve_0(iv_t0 + d0);
      let in_at0 = min(raw_at0, 8u);
      bad = min(bad, select(0xffffffffu, written, raw_at0 != in_at0));
      let at0 = in_at0;
      let start = (first + 3u) >> 2u;
      let k = lane.x;
      let word = start + k;
      if (word * 4u < first + 7u) {
        var packed = 0u;
        let d = word * 4u - first;
        if (d + 4u <= 7u) {
          let source = at0 * 7u + d;
          packed = run(source);
        }
        else {
          var c0 = iv_t0 + d0;
          var c1 = d;
          for (var e = 0u; e < 4u && c0 < 10u; e++) {
            let written = c0 * 7u + c1;
            let raw_at0 = resolve_0(c0);
            let in_at0 = min(raw_at0, 8u);
            bad = min(bad, select(0xffffffffu, written, raw_at0 != in_at0));
            let at0 = in_at0;
            let source = at0 * 7u + c1;
            packed |= ((gm_data[source >> 2u] >> ((source & 3u) * 8u)) & 0xffu) << (e * 8u);
            c1 += 1u;
            if (c1 == 7u) {
              c1 = 0u;
              c0 += 1u;
            }
          }
        }
        gm_output[word] = packed;
      }
    }
    if (bad != 0xffffffffu) { atomicMin(&status[0], bad); }
  }
}
