// @gather_elements(%data: 6x64xf16, %indices: 6x64xi64, %output: 6x64xf16)
@group(0) @binding(0) var<storage, read> gm_data: array<u32, 192>;
@group(0) @binding(1) var<storage, read> gm_indices: array<vec4u, 192>;
@group(0) @binding(2) var<storage, read_write> gm_output: array<vec2u, 96>;
@group(0) @binding(3) var<storage, read_write> status: array<atomic<u32>, 1>;

fn resolve_0(position: u32) -> vec4u {
  let a = gm_indices[position];
  let b = gm_indices[position + 1u];
  let low = vec4u(a.xz, b.xz);
  let high = vec4u(a.yw, b.yw);
  let element = select(vec4u(0xffffffffu), min(low, low + vec4u(64u)), high == bitcast<vec4u>(bitcast<vec4i>(low) >> vec4u(31u)));
  return element;
}

// the elements at four addresses, each in the low bits of a word
fn fetch(source: vec4u) -> vec4u {
  let words = vec4u(gm_data[source.x >> 1u], gm_data[source.y >> 1u], gm_data[source.z >> 1u], gm_data[source.w >> 1u]);
  return words >> (source * vec4u(16u));
}

// four elements side by side
fn pack(e: vec4u) -> vec2u {
  return (e.xz & vec2u(0xffffu)) | (e.yw << vec2u(16u));
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
    let raw_at0_0 = resolve_0(iv_t0 * 32u + d1_unit * 2u);
    let in_at0_0 = min(raw_at0_0, vec4u(63u));
    bad = min(bad, select(0xffffffffu, to * 4u, any(raw_at0_0 != in_at0_0)));
    let at0_0 = in_at0_0;
    gm_output[to] = pack(fetch(vec4u(iv_t0 * 64u) + at0_0));
    if (bad != 0xffffffffu) { atomicMin(&status[0], bad); }
  }
}
