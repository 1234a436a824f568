// @gather(%data: 9x64xf32, %indices: 50xi32, %output: 50x64xf32)
@group(0) @binding(0) var<storage, read> gm_data: array<vec4u, 144>;
@group(0) @binding(1) var<storage, read> gm_indices: array<u32, 50>;
@group(0) @binding(2) var<storage, read_write> gm_output: array<vec4u, 800>;
@group(0) @binding(3) var<storage, read_write> status: array<atomic<u32>, 1>;

fn resolve_0(position: u32) -> i32 {
  let low = gm_indices[position];
  let element = low ^ 0x80000000u;
  return min(bitcast<i32>(element), bitcast<i32>(element + 9u));
}

@compute @workgroup_size(1, 4)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) lane: vec3u) {
  // for %t0 = 0 to 50 step 16 parallel
  let iv_t0 = group.x * 16u;
  // gather %data[0, 0][9, 64], %indices[%t0][min(16, 50 - %t0)] to %output[%t0, 0][min(16, 50 - %t0), 64] (d0, d1) -> (from_end(%indices[d0]), d1) {oob = error, origin = [%t0]}
  {
    var bad = 0xffffffffu;
    let d0_run = (min(16u, 50u - iv_t0) + 3u) / 4u;
    let d0_start = lane.y * d0_run;
    let d0_stop = min(d0_start + d0_run, min(16u, 50u - iv_t0));
    let start0 = iv_t0 * 64u;
    let start1 = iv_t0 * 16u;
    for (var d0 = d0_start; d0 < d0_stop; d0 += 1u) {
      let written = d0 * 64u + start0;
      let raw_at0 = resolve_0(iv_t0 + d0);
      let in_at0 = min(raw_at0, bitcast<i32>(8u ^ 0x80000000u));
      bad = min(bad, select(0xffffffffu, written, raw_at0 != in_at0));
      let at0 = bitcast<u32>(in_at0) ^ 0x80000000u;
      let to = d0 * 16u + start1;
      let source = at0 * 16u;
      for (var unit = 0u; unit < 16u; unit += 1u) {
        gm_output[to + unit] = gm_data[source + unit];
      }
    }
    if (bad != 0xffffffffu) { atomicMin(&status[0], bad); }
  }
}
