// @gather(%data: 9x64xf32, %indices: 50xi32, %output: 50x64xf32)
@group(0) @binding(0) var<storage, read> data: array<vec4u, 144>;
@group(0) @binding(1) var<storage, read> indices: array<u32, 50>;
@group(0) @binding(2) var<storage, read_write> output: array<vec4u, 800>;
@group(0) @binding(3) var<storage, read_write> status: array<atomic<u32>, 1>;

var<private> worst_0: u32;
fn resolve_0(position: u32) -> u32 {
  let low = indices[position];
  let element = low + select(0u, 9u, low >= 0x80000000u);
  worst_0 = max(worst_0, element);
  return min(element, 8u);
}

fn report_0(position: u32, place: u32) {
  let low = indices[position];
  if (low + select(0u, 9u, low >= 0x80000000u) >= 9u) { atomicMin(&status[0], place); }
}

@compute @workgroup_size(16, 2)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) lane: vec3u) {
  // for %t0 = 0 to 50 step 2 parallel
  let t0 = group.x * 2u;
  // gather %data[0, 0][9, 64], %indices[%t0][2] to %output[%t0, 0][2, 64] (d0, d1) -> (from_end(%indices[d0]), d1) {oob = error, origin = [%t0]}
  {
    let d0 = lane.y;
    let at0 = resolve_0(t0 + d0);
    let d1 = lane.x * 4u;
    output[(t0 * 64u + d0 * 64u + d1) >> 2u] = data[(at0 * 64u + d1) >> 2u];
  }
  // report the first index out of range
  for (var again = worst_0 >= 9u; again; again = false) {
    let d0 = lane.y;
    report_0(t0 + d0, t0 * 64u + d0 * 64u);
  }
}
