// Rows of f16 by an index, clamped to the table: an invocation for each word of the output.
struct Sizes {
  rows: u32,
  width: u32,
  table: u32,
}

@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<storage, read> indices: array<i32>;
@group(0) @binding(2) var<storage, read_write> output: array<u32>;
@group(0) @binding(3) var<uniform> sizes: Sizes;

override WORKGROUP: u32 = 64;

fn half(element: u32) -> u32 {
  var index = indices[element / sizes.width];
  if (index < 0) {
    index += i32(sizes.table);
  }
  let row = u32(clamp(index, 0, i32(sizes.table) - 1));
  let place = row * sizes.width + element % sizes.width;
  return (data[place / 2u] >> (16u * (place % 2u))) & 0xffffu;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= sizes.rows * sizes.width / 2u) {
    return;
  }
  output[id.x] = half(2u * id.x) | (half(2u * id.x + 1u) << 16u);
}
