// @gather_elements(%data: 6x64xc128, %indices: 6x64xi64, %output: 6x64xc128)
@group(0) @binding(0) var<storage, read> gm_data: array<vec4u, 384>;
@group(0) @binding(1) var<storage, read> gm_indices: array<u32, 768>;
@group(0) @binding(2) var<storage, read_write> gm_output: array<vec4u, 384>;

fn wrap_0(low: u32, high: u32) -> u32 {
  let negative = (high & 0x80000000u) != 0u;
  var r = select(high, ~high, negative) % 64u;
  let tail = select(low, ~low, negative);
  for (var bit = 0u; bit < 32u; bit++) {
    r = (2u * r + ((tail >> (31u - bit)) & 1u)) % 64u;
  }
  return select(r, 64u - 1u - r, negative);
}

fn resolve_0(position: u32) -> u32 {
  let low = gm_indices[2u * position];
  let high = gm_indices[2u * position + 1u];
  let element = select(0xffffffffu, min(low, low + 64u), high == bitcast<u32>(bitcast<i32>(low) >> 31u));
  var wrapped = element;
  for (var again = element >= 64u; again; again = false) {
    wrapped = wrap_0(low, high);
  }
  return wrapped;
}

@compute @workgroup_size(32)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) lane: vec3u) {
  // for %t0 = 0 to 6 step 1 parallel
  let iv_t0 = group.y;
  // for %t1 = 0 to 64 step 32 parallel
  let iv_t1 = group.x * 32u;
  // gather %data[%t0, 0][1, 64], %indices[%t0, %t1][1, 32] to %output[%t0, %t1][1, 32] (d0, d1) -> (d0, from_end(%indices[d0, d1])) {oob = wrap, origin = [%t0, %t1]}
  {
    let d1 = lane.x;
    let to = iv_t0 * 64u + iv_t1 + d1;
    let at0_0 = resolve_0(iv_t0 * 64u + iv_t1 + d1);
    gm_output[to] = gm_data[iv_t0 * 64u + at0_0];
  }
}
