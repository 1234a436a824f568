// @gather_elements(%data: 6x64xf32, %indices: 6x64xi32, %output: 6x64xf32)
@group(0) @binding(0) var<storage, read> gm_data: array<u32, 384>;
@group(0) @binding(1) var<storage, read> gm_indices: array<vec4u, 96>;
@group(0) @binding(2) var<storage, read_write> gm_output: array<vec4u, 96>;
@group(0) @binding(3) var<storage, read_write> status: array<atomic<u32>, 1>;

fn resolve_0(position: u32) -> vec4u {
  let low = gm_indices[position];
  return min(low, low + vec4u(64u));
}

// the elements at four addresses
fn fetch(source: vec4u) -> vec4u {
  return vec4u(gm_data[source.x], gm_data[source.y], gm_data[source.z], gm_data[source.w]);
}

@compute @workgroup_size(16)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) lane: vec3u) {
  // for %t0 = 0 to 6 step 1 parallel
  let iv_t0 = group.x;
  // gather %data[%t0, 0][1, 64], %indices[%t0, 0][1, 64] to %output[%t0, 0][1, 64] (d0, d1) -> (d0, from_end(%indices[d0, d1])) {oob = error, origin = [%t0, 0]}
  {
    var bad = 0xffffffffu;
    let d1_unit = lane.x;
    let to = iv_t0 * 16u + d1_unit;
    let raw_at0_0 = resolve_0(iv_t0 * 16u + d1_unit);
    let in_at0_0 = min(raw_at0_0, vec4u(63u));
    bad = min(bad, select(0xffffffffu, to * 4u, any(raw_at0_0 != in_at0_0)));
    let at0_0 = in_at0_0;
    gm_output[to] = fetch(vec4u(iv_t0 * 64u) + at0_0);
    if (bad != 0xffffffffu) { atomicMin(&status[0], bad); }
  }
}
