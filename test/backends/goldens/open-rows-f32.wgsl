// @rows(%data: Vx64xf32, %indices: Nxi32, %output: Nx64xf32)
struct Sizes { dim_V: u32, dim_N: u32, below0: u32 }
@group(0) @binding(0) var<storage, read> gm_data: array<vec4u>;
@group(0) @binding(1) var<storage, read> gm_indices: array<u32>;
@group(0) @binding(2) var<storage, read_write> gm_output: array<vec4u>;
@group(0) @binding(3) var<storage, read_write> status: array<atomic<u32>, 1>;
@group(0) @binding(4) var<uniform> sizes: Sizes;

fn resolve_0(position: u32) -> u32 {
  let low = gm_indices[position];
  return min(low, low + sizes.below0);
}

@compute @workgroup_size(16, 8)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) lane: vec3u) {
  // for %t0 = 0 to N step 8 parallel
  let iv_t0 = group.x * 8u;
  if (iv_t0 >= sizes.dim_N) { return; }
  // gather %data[0, 0][V, 64], %indices[%t0][min(8, N - %t0)] to %output[%t0, 0][min(8, N - %t0), 64] (d0, d1) -> (from_end(%indices[d0]), d1) {oob = error, origin = [%t0]}
  {
    var bad = 0xffffffffu;
    let d0 = lane.y;
    if (d0 < min(8u, sizes.dim_N - iv_t0)) {
      let written = iv_t0 * 64u + d0 * 64u;
      let raw_at0 = resolve_0(iv_t0 + d0);
      let in_at0 = min(raw_at0, (sizes.below0 - 1u));
      bad = min(bad, select(0xffffffffu, written, raw_at0 != in_at0));
      let at0 = in_at0;
      let to = iv_t0 * 16u + d0 * 16u;
      let source = at0 * 16u;
      let unit = lane.x;
      gm_output[to + unit] = gm_data[source + unit];
    }
    if (bad != 0xffffffffu) { atomicMin(&status[0], bad); }
  }
}
