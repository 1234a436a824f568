// @gather_elements(%data: 6x64xf64, %indices: 6x64xi32, %output: 6x64xf64)
@group(0) @binding(0) var<storage, read> gm_data: array<vec2u, 384>;
@group(0) @binding(1) var<storage, read> gm_indices: array<u32, 384>;
@group(0) @binding(2) var<storage, read_write> gm_output: array<vec4u, 192>;

fn resolve_0(position: u32) -> u32 {
  let low = gm_indices[position];
  let element = min(low, low + 64u);
  return select(min(element, 63u), 0u, (element >= 64u) && (low >= 0x80000000u));
}

@compute @workgroup_size(32)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) lane: vec3u) {
  // for %t0 = 0 to 6 step 1 parallel
  let iv_t0 = group.x;
  // gather %data[%t0, 0][1, 64], %indices[%t0, 0][1, 64] to %output[%t0, 0][1, 64] (d0, d1) -> (d0, from_end(%indices[d0, d1])) {oob = clamp, origin = [%t0, 0]}
  {
    let d1_unit = lane.x;
    let to = iv_t0 * 32u + d1_unit;
    let at0_0 = resolve_0(iv_t0 * 64u + d1_unit * 2u);
    let at0_1 = resolve_0(iv_t0 * 64u + (d1_unit * 2u + 1u));
    gm_output[to] = vec4u(gm_data[iv_t0 * 64u + at0_0], gm_data[iv_t0 * 64u + at0_1]);
  }
}
