// @gather_nd(%data: 6x7x16xf32, %indices: 20x2xi64, %output: 20x16xf32)
@group(0) @binding(0) var<storage, read> gm_data: array<vec4u, 168>;
@group(0) @binding(1) var<storage, read> gm_indices: array<vec4u, 20>;
@group(0) @binding(2) var<storage, read_write> gm_output: array<vec4u, 80>;
@group(0) @binding(3) var<storage, read_write> status: array<atomic<u32>, 1>;

fn resolve_0(words: vec4u) -> u32 {
  let low = words.x;
  let high = words.y;
  let element = select(0xffffffffu, min(low, low + 6u), high == bitcast<u32>(bitcast<i32>(low) >> 31u));
  return element;
}

fn resolve_1(words: vec4u) -> u32 {
  let low = words.z;
  let high = words.w;
  let element = select(0xffffffffu, min(low, low + 7u), high == bitcast<u32>(bitcast<i32>(low) >> 31u));
  return element;
}

@compute @workgroup_size(4, 2)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) lane: vec3u) {
  // for %t0 = 0 to 20 step 2 parallel
  let iv_t0 = group.x * 2u;
  // gather %data[0, 0, 0][6, 7, 16], %indices[%t0, 0][2, 2] to %output[%t0, 0][2, 16] (d0, d1) -> (from_end(%indices[d0, 0]), from_end(%indices[d0, 1]), d1) {oob = error, origin = [%t0, 0]}
  {
    var bad = 0xffffffffu;
    let d0 = lane.y;
    let written = iv_t0 * 16u + d0 * 16u;
    let words0 = gm_indices[iv_t0 + d0];
    let raw_at0 = resolve_0(words0);
    let in_at0 = min(raw_at0, 5u);
    bad = min(bad, select(0xffffffffu, written, raw_at0 != in_at0));
    let at0 = in_at0;
    let raw_at1 = resolve_1(words0);
    let in_at1 = min(raw_at1, 6u);
    bad = min(bad, select(0xffffffffu, written, raw_at1 != in_at1));
    let at1 = in_at1;
    let to = iv_t0 * 4u + d0 * 4u;
    let source = at0 * 28u + at1 * 4u;
    let unit = lane.x;
    gm_output[to + unit] = gm_data[source + unit];
    if (bad != 0xffffffffu) { atomicMin(&status[0], bad); }
  }
}
