// @paged(%data: 8x16x64xf16, %x: 50xi32, %indices: 5xi32, %output: 50x64xf16)
@group(0) @binding(0) var<storage, read> gm_data: array<vec4u, 1024>;
@group(0) @binding(1) var<storage, read> gm_x: array<u32, 50>;
@group(0) @binding(2) var<storage, read> gm_indices: array<u32, 5>;
@group(0) @binding(3) var<storage, read_write> gm_output: array<vec4u, 400>;
@group(0) @binding(4) var<storage, read_write> status: array<atomic<u32>, 1>;

fn resolve_0(position: u32) -> u32 {
  let low = gm_x[position];
  let element = low;
  return select(element, 0xffffffffu, element >= 80u);
}

fn resolve_1(position: u32) -> u32 {
  let low = gm_indices[position];
  return low;
}

@compute @workgroup_size(8, 2)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) lane: vec3u) {
  // for %t0 = 0 to 50 step 2 parallel
  let iv_t0 = group.x * 2u;
  // gather %data[0, 0, 0][8, 16, 64], %x[%t0][2], %indices[0][5] to %output[%t0, 0][2, 64] (d0, d1) let s0 = fill(%x[d0] in 80) -> (%indices[s0 div 16], s0 mod 16, d1) {oob = error, origin = [%t0], [0]}
  {
    var bad = 0xffffffffu;
    let d0 = lane.y;
    var alive = true;
    let written = iv_t0 * 64u + d0 * 64u;
    var at0 = 0u;
    {
      let position = iv_t0 + d0;
      let element = resolve_0(position);
      alive = alive && element < 80u;
      at0 = min(element, 79u);
    }
    var at1 = 0u;
    {
      let position = (at0 >> 4u);
      let element = resolve_1(position);
      bad = min(bad, select(0xffffffffu, written, alive && !(element < 8u)));
      alive = alive && element < 8u;
      at1 = min(element, 7u);
    }
    let to = iv_t0 * 8u + d0 * 8u;
    if (alive) {
      let source = at1 * 128u + (at0 & 15u) * 8u;
      let unit = lane.x;
      gm_output[to + unit] = gm_data[source + unit];
    }
    else {
      let unit = lane.x;
      gm_output[to + unit] = vec4u(0u);
    }
    if (bad != 0xffffffffu) { atomicMin(&status[0], bad); }
  }
}
