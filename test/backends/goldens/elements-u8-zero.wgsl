// @gather_elements(%data: 6x64xu8, %indices: 6x64xi32, %output: 6x64xu8)
@group(0) @binding(0) var<storage, read> gm_data: array<u32, 96>;
@group(0) @binding(1) var<storage, read> gm_indices: array<vec4u, 96>;
@group(0) @binding(2) var<storage, read_write> gm_output: array<u32, 96>;

fn resolve_0(position: u32) -> vec4u {
  let low = gm_indices[position];
  let element = min(low, low + vec4u(64u));
  return select(element, vec4u(0xffffffffu), element >= vec4u(64u));
}

// the elements at four addresses, each in the low bits of a word
fn fetch(source: vec4u) -> vec4u {
  let words = vec4u(gm_data[source.x >> 2u], gm_data[source.y >> 2u], gm_data[source.z >> 2u], gm_data[source.w >> 2u]);
  return words >> (source * vec4u(8u));
}

// four elements side by side
fn pack(e: vec4u) -> u32 {
  let low = e & vec4u(0xffu);
  return low.x | (low.y << 8u) | (low.z << 16u) | (e.w << 24u);
}

@compute @workgroup_size(16)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) lane: vec3u) {
  // for %t0 = 0 to 6 step 1 parallel
  let iv_t0 = group.x;
  // gather %data[%t0, 0][1, 64], %indices[%t0, 0][1, 64] to %output[%t0, 0][1, 64] (d0, d1) -> (d0, from_end(%indices[d0, d1])) {oob = zero, origin = [%t0, 0]}
  {
    let d1_unit = lane.x;
    let to = iv_t0 * 16u + d1_unit;
    let at0_0 = resolve_0(iv_t0 * 16u + d1_unit);
    let none0_0 = at0_0 == vec4u(0xffffffffu);
    gm_output[to] = pack(select(fetch(vec4u(iv_t0 * 64u) + select(at0_0, vec4u(0u), none0_0)), vec4u(0u), none0_0));
  }
}
