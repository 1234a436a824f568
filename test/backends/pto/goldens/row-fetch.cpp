// tilec emit pto: @gather for ascend-a2, 2 cores, 1600 of 196608 B of UB
// blocks: 2
#include <cstdint>
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr uint32_t tilec_kernel_gather_cores = 2;

// The element that an index names among n, and whether there is one.
template <typename T>
AICORE inline int64_t tilec_kernel_gather_index(T raw, int64_t n, bool from_end, bool& inside)
{
    if (raw >= 0 && (uint64_t)raw < (uint64_t)n) return (int64_t)raw;
    if (from_end && raw < 0 && (int64_t)raw >= -n) return (int64_t)raw + n;
    inside = false;
    return 0;
}

extern "C" __global__ AICORE void tilec_kernel_gather(__gm__ int16_t* gm_data, __gm__ int64_t* gm_indices, __gm__ int16_t* gm_output)
{
    constexpr uint64_t ub_indices[2] = {0, 32};
    constexpr uint64_t ub_output[2] = {64, 832};
    using UbIndex = Tile<TileType::Vec, int64_t, 1, 4, BLayout::RowMajor, 1, DYNAMIC>;
    using UbOutput = Tile<TileType::Vec, int16_t, 6, 16, BLayout::RowMajor, 6, DYNAMIC>;
    using UbOutput2 = Tile<TileType::Vec, int16_t, 24, 16, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
    using UbZeros = Tile<TileType::Vec, int32_t, 6, 8, BLayout::RowMajor, 6, 8>;
    using GmIndex = GlobalTensor<int64_t, Shape<1, 1, 1, 1, DYNAMIC>, Stride<1, 1, 1, 1, 1>, Layout::ND>;
    using GmData = GlobalTensor<int16_t, Shape<1, 1, 1, 6, DYNAMIC>, Stride<1, 1, 1, 20, 1>, Layout::ND>;
    using GmOutput = GlobalTensor<int16_t, Shape<1, 1, 1, DYNAMIC, DYNAMIC>, Stride<1, 1, 1, 20, 1>, Layout::ND>;

    set_mask_norm();
    set_vector_mask(-1, -1);

    uint32_t turn_indices = 1, turn_output = 1;
    uint32_t sync0 = 0; // runs of the syncs with lag 1
    for (uint32_t task = get_block_idx(); task < 16; task += tilec_kernel_gather_cores) {
        const int32_t iv_t2 = (int32_t)(task / 8 % 2) * 16;
        const int32_t n2 = 20 - iv_t2 < 16 ? 20 - iv_t2 : 16;
        const int32_t iv_t0 = (int32_t)(task % 8) * 4;
        const int32_t n0 = 30 - iv_t0 < 4 ? 30 - iv_t0 : 4;
        // load %indices[%t0][min(4, 30 - %t0)] to %indices_ub
        turn_indices ^= 1;
        GmIndex load0(gm_indices + iv_t0, GmIndex::Shape((int64_t)n0));
        UbIndex tile0(n0);
        TASSIGN(tile0, ub_indices[turn_indices]);
        TLOAD(tile0, load0);
        // sync MTE3 -> MTE2 lag 1
        set_flag(PIPE_MTE3, PIPE_MTE2, (event_t)(1 + (sync0 & 1)));
        if (sync0 > 0) wait_flag(PIPE_MTE3, PIPE_MTE2, (event_t)(1 + ((sync0 - 1) & 1)));
        sync0++;
        // gather %data[0, 0, %t2][40, 6, min(16, 20 - %t2)], %indices_ub[0][min(4, 30 - %t0)] to %output_ub[0, 0, 0][min(4, 30 - %t0), 6, min(16, 20 - %t2)] (d0, d1, d2) -> (from_end(%indices_ub[d0]), d1, d2) {oob = zero, origin = [%t0]}
        set_flag(PIPE_MTE2, PIPE_S, EVENT_ID7);
        wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID7);
        set_flag(PIPE_MTE3, PIPE_S, EVENT_ID7);
        wait_flag(PIPE_MTE3, PIPE_S, EVENT_ID7);
        set_flag(PIPE_MTE3, PIPE_V, EVENT_ID7);
        wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID7);
        turn_output ^= 1;
        for (int32_t d0 = 0; d0 < n0; d0++) {
            bool inside = true;
            const int64_t s0 = tilec_kernel_gather_index<int64_t>((int64_t)tile0.GetValue(d0), 40, true, inside);
            if (inside) {
                GmData load1(gm_data + s0 * 120 + iv_t2, GmData::Shape((int64_t)n2));
                UbOutput tile1(n2);
                TASSIGN(tile1, ub_output[turn_output] + d0 * 192);
                TLOAD(tile1, load1);
            }
            else {
                UbZeros row0;
                TASSIGN(row0, ub_output[turn_output] + d0 * 192);
                TEXPANDS(row0, (int32_t)0);
            }
        }
        set_flag(PIPE_V, PIPE_MTE2, EVENT_ID7);
        wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID7);
        set_flag(PIPE_S, PIPE_MTE2, EVENT_ID7);
        wait_flag(PIPE_S, PIPE_MTE2, EVENT_ID7);
        // sync MTE2 -> MTE3
        set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID1);
        wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID1);
        // store %output_ub to %output[%t0, 0, %t2][min(4, 30 - %t0), 6, min(16, 20 - %t2)]
        GmOutput store0(gm_output + iv_t0 * 120 + iv_t2, GmOutput::Shape((int64_t)n0 * 6, (int64_t)n2));
        UbOutput2 tile2(n0 * 6, n2);
        TASSIGN(tile2, ub_output[turn_output]);
        TSTORE(store0, tile2);
    }
    // the last flag of each sync with lag 1
    if (sync0 > 0) wait_flag(PIPE_MTE3, PIPE_MTE2, (event_t)(1 + ((sync0 - 1) & 1)));
}
