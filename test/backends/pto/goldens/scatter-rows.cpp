// tilec emit pto: @scatter_update for ascend-a2, 2 cores, 672 of 196608 B of UB
// blocks: 1
#include <cstdint>
#include <pto/pto-inst.hpp>
using namespace pto;

// The element that an index names among n, and whether there is one.
template <typename T>
AICORE inline int64_t tilec_kernel_scatter_update_index(T raw, int64_t n, bool from_end, bool& inside)
{
    if (raw >= 0 && (uint64_t)raw < (uint64_t)n) return (int64_t)raw;
    if (from_end && raw < 0 && (int64_t)raw >= -n) return (int64_t)raw + n;
    inside = false;
    return 0;
}

extern "C" __global__ AICORE void tilec_kernel_scatter_update(__gm__ int16_t* gm_input, __gm__ int64_t* gm_index, __gm__ int16_t* gm_src)
{
    constexpr uint64_t ub_index = 0;
    constexpr uint64_t ub_src = 288;
    using UbIndex = Tile<TileType::Vec, int64_t, 9, 4, BLayout::RowMajor, 9, 2>;
    using UbData = Tile<TileType::Vec, int16_t, 4, 48, BLayout::RowMajor, DYNAMIC, 40>;
    using UbData2 = Tile<TileType::Vec, int16_t, 1, 48, BLayout::RowMajor, 1, 40>;
    using GmIndex = GlobalTensor<int64_t, Shape<1, 1, 1, 9, 2>, Stride<1, 1, 1, 2, 1>, Layout::ND>;
    using GmData = GlobalTensor<int16_t, Shape<1, 1, 1, DYNAMIC, 40>, Stride<1, 1, 1, 40, 1>, Layout::ND>;
    using GmOutput = GlobalTensor<int16_t, Shape<1, 1, 1, 1, 40>, Stride<1, 1, 1, 1, 1>, Layout::ND>;

    set_mask_norm();
    set_vector_mask(-1, -1);
    if (get_block_idx() != 0) return;

    // load %index[0, 0][9, 2] to %index_ub
    GmIndex load0(gm_index);
    UbIndex tile0;
    TASSIGN(tile0, ub_index);
    TLOAD(tile0, load0);
    // sync MTE2 -> MTE3
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID1);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID1);
    for (int32_t iv_t0 = 0; iv_t0 < 18; iv_t0 += 4) {
        const int32_t n0 = 18 - iv_t0 < 4 ? 18 - iv_t0 : 4;
        // sync MTE3 -> MTE2
        set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);
        wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);
        // load %src[%t0, 0][min(4, 18 - %t0), 40] to %src_ub
        GmData load1(gm_src + iv_t0 * 40, GmData::Shape((int64_t)n0));
        UbData tile1(n0);
        TASSIGN(tile1, ub_src);
        TLOAD(tile1, load1);
        // sync MTE2 -> MTE3
        set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID2);
        wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID2);
        // scatter %index_ub[0, 0][9, 2], %src_ub[0, 0][min(4, 18 - %t0), 40] to %output[0, 0][64, 40] (d0 < min(4, 18 - %t0), d1 < 40) -> (%index_ub[(d0 + %t0) div 2, (d0 + %t0) mod 2], d1) yield %src_ub[d0, d1] {oob = skip, duplicates = last, domain = [18, 40], origin = [%t0, 0]}
        set_flag(PIPE_MTE2, PIPE_S, EVENT_ID7);
        wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID7);
        for (int32_t d0 = 0; d0 < n0; d0++) {
            bool inside = true;
            const int64_t s0 = tilec_kernel_scatter_update_index<int64_t>((int64_t)tile0.GetValue((((int64_t)d0 + (int64_t)iv_t0) / 2) * 4 + (((int64_t)d0 + (int64_t)iv_t0) % 2)), 64, false, inside);
            if (inside) {
                pipe_barrier(PIPE_MTE3);
                GmOutput store0(gm_input + s0 * 40);
                UbData2 tile2;
                TASSIGN(tile2, ub_src + d0 * 96);
                TSTORE(store0, tile2);
            }
        }
        set_flag(PIPE_S, PIPE_MTE3, EVENT_ID7);
        wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID7);
    }
}
