// @gather(%data: 9x7xf32, %indices: 10xi32, %output: 10x7xf32)
@group(0) @binding(0) var<storage, read> gm_data: array<u32, 63>;
@group(0) @binding(1) var<storage, read> gm_indices: array<u32, 10>;
@group(0) @binding(2) var<storage, read_write> gm_output: array<u32, 70>;
@group(0) @binding(3) var<storage, read_write> status: array<atomic<u32>, 1>;

fn resolve_0(position: u32) -> u32 {
  let low = gm_indices[position];
  return min(low, low + 9u);
}

@compute @workgroup_size(8, 2)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) lane: vec3u) {
  // for %t0 = 0 to 10 step 2 parallel
  let iv_t0 = group.x * 2u;
  // gather %data[0, 0][9, 7], %indices[%t0][2] to %output[%t0, 0][2, 7] (d0, d1) -> (from_end(%indices[d0]), d1) {oob = error, origin = [%t0]}
  {
    var bad = 0xffffffffu;
    let d0 = lane.y;
    let written = iv_t0 * 7u + d0 * 7u;
    let raw_at0 = resolve_0(iv_t0 + d0);
    let in_at0 = min(raw_at0, 8u);
    bad = min(bad, select(0xffffffffu, written, raw_at0 != in_at0));
    let at0 = in_at0;
    let to = iv_t0 * 7u + d0 * 7u;
    let source = at0 * 7u;
    let unit = lane.x;
    if (unit < 7u) {
      gm_output[to + unit] = gm_data[source + unit];
    }
    if (bad != 0xffffffffu) { atomicMin(&status[0], bad); }
  }
}
