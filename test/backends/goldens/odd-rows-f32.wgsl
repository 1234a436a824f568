// @gather(%data: 9x7xf32, %indices: 10xi32, %output: 10x7xf32)
@group(0) @binding(0) var<storage, read> data: array<u32, 63>;
@group(0) @binding(1) var<storage, read> indices: array<u32, 10>;
@group(0) @binding(2) var<storage, read_write> output: array<u32, 70>;
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

@compute @workgroup_size(8, 4)
fn main(@builtin(local_invocation_id) lane: vec3u) {
  // gather %data[0, 0][9, 7], %indices[0][10] to %output[0, 0][10, 7] (d0, d1) -> (from_end(%indices[d0]), d1) {oob = error, origin = [0]}
  {
    for (var d0 = lane.y; d0 < 10u; d0 += 4u) {
      let at0 = resolve_0(d0);
      for (var d1 = lane.x; d1 < 7u; d1 += 8u) {
        let to = d0 * 7u + d1;
        let source = (at0 * 7u + d1);
        output[to] = data[source];
      }
    }
  }
  // report the first index out of range
  for (var again = worst_0 >= 9u; again; again = false) {
    for (var d0 = lane.y; d0 < 10u; d0 += 4u) {
      report_0(d0, d0 * 7u);
    }
  }
}
