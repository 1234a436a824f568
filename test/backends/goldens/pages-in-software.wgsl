// @pages(%data: 8x16x64xf16, %indices: 8xi32, %output: 120x64xf16)
@group(0) @binding(0) var<storage, read> gm_data: array<vec4u, 1024>;
@group(0) @binding(1) var<storage, read> gm_indices: array<u32, 8>;
@group(0) @binding(2) var<storage, read_write> gm_output: array<vec4u, 960>;
@group(0) @binding(3) var<storage, read_write> status: array<atomic<u32>, 1>;

fn resolve_0(position: u32) -> i32 {
  let low = gm_indices[position];
  let element = low;
  return bitcast<i32>(element ^ 0x80000000u);
}

@compute @workgroup_size(1, 4)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) lane: vec3u) {
  // for %t0 = 0 to 120 step 64 parallel
  let iv_t0 = group.x * 64u;
  // gather %data[0, 0, 0][8, 16, 64], %indices[0][8] to %output[%t0, 0][min(64, 120 - %t0), 64] (d0, d1) -> (%indices[(d0 + %t0) div 16], (d0 + %t0) mod 16, d1) {oob = error, origin = [0]}
  {
    var bad = 0xffffffffu;
    let d0_run = (min(64u, 120u - iv_t0) + 3u) / 4u;
    let d0_start = lane.y * d0_run;
    let d0_stop = min(d0_start + d0_run, min(64u, 120u - iv_t0));
    let start0 = iv_t0 * 64u;
    let start1 = iv_t0 * 8u;
    for (var d0 = d0_start; d0 < d0_stop;) {
      let rows = min(16u - ((iv_t0 + d0) & 15u), d0_stop - d0);
      let written = d0 * 64u + start0;
      let raw_at0 = resolve_0(((iv_t0 + d0) >> 4u));
      let in_at0 = min(raw_at0, bitcast<i32>(7u ^ 0x80000000u));
      bad = min(bad, select(0xffffffffu, written, raw_at0 != in_at0));
      let at0 = bitcast<u32>(in_at0) ^ 0x80000000u;
      let end = rows * 8u;
      let to = d0 * 8u + start1;
      let source = at0 * 128u + ((iv_t0 + d0) & 15u) * 8u;
      for (var unit = 0u; unit < end; unit += 1u) {
        gm_output[to + unit] = gm_data[source + unit];
      }
      d0 += rows;
    }
    if (bad != 0xffffffffu) { atomicMin(&status[0], bad); }
  }
}
