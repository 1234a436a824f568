// tilec emit pto: @gather_in_ub for ascend-a2, 2 cores, 608 of 196608 B of UB
// blocks: 2
#include <cstdint>
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr uint32_t tilec_kernel_gather_in_ub_cores = 2;

// The element that an index names among n, and whether there is one.
template <typename T>
AICORE inline int64_t tilec_kernel_gather_in_ub_index(T raw, int64_t n, bool from_end, bool& inside)
{
    if (raw >= 0 && (uint64_t)raw < (uint64_t)n) return (int64_t)raw;
    if (from_end && raw < 0 && (int64_t)raw >= -n) return (int64_t)raw + n;
    inside = false;
    return 0;
}

extern "C" __global__ AICORE void tilec_kernel_gather_in_ub(__gm__ int16_t* gm_param, __gm__ int32_t* gm_indices, __gm__ int32_t* gm_block_table, __gm__ int16_t* gm_output, __gm__ int32_t* status)
{
    constexpr uint64_t ub_indices[2] = {0, 32};
    constexpr uint64_t ub_block_table = 64;
    constexpr uint64_t ub_output[2] = {96, 352};
    using UbIndex = Tile<TileType::Vec, int32_t, 1, 8, BLayout::RowMajor, 1, DYNAMIC>;
    using UbIndex2 = Tile<TileType::Vec, int32_t, 1, 8, BLayout::RowMajor, 1, 6>;
    using UbOutput = Tile<TileType::Vec, int16_t, 1, 16, BLayout::RowMajor, 1, DYNAMIC>;
    using UbOutput2 = Tile<TileType::Vec, int16_t, 8, 16, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
    using UbZeros = Tile<TileType::Vec, int32_t, 1, 8, BLayout::RowMajor, 1, 8>;
    using GmIndex = GlobalTensor<int32_t, Shape<1, 1, 1, 1, DYNAMIC>, Stride<1, 1, 1, 1, 1>, Layout::ND>;
    using GmIndex2 = GlobalTensor<int32_t, Shape<1, 1, 1, 1, 6>, Stride<1, 1, 1, 1, 1>, Layout::ND>;
    using GmData = GlobalTensor<int16_t, Shape<1, 1, 1, 1, DYNAMIC>, Stride<1, 1, 1, 1, 1>, Layout::ND>;
    using GmOutput = GlobalTensor<int16_t, Shape<1, 1, 1, DYNAMIC, DYNAMIC>, Stride<1, 1, 1, 20, 1>, Layout::ND>;

    set_mask_norm();
    set_vector_mask(-1, -1);

    uint32_t turn_indices = 1, turn_output = 1;
    uint32_t sync0 = 0; // runs of the syncs with lag 1
    bool bad = false;
    for (uint32_t task = get_block_idx(); task < 8; task += tilec_kernel_gather_in_ub_cores) {
        const int32_t iv_t1 = (int32_t)(task / 4 % 2) * 16;
        const int32_t n1 = 20 - iv_t1 < 16 ? 20 - iv_t1 : 16;
        const int32_t iv_t0 = (int32_t)(task % 4) * 8;
        const int32_t n0 = 30 - iv_t0 < 8 ? 30 - iv_t0 : 8;
        // load %indices[0, %t0][1, min(8, 30 - %t0)] to %indices_ub
        turn_indices ^= 1;
        GmIndex load0(gm_indices + iv_t0, GmIndex::Shape((int64_t)n0));
        UbIndex tile0(n0);
        TASSIGN(tile0, ub_indices[turn_indices]);
        TLOAD(tile0, load0);
        // load %block_table[0, 0][1, 6] to %block_table_ub
        GmIndex2 load1(gm_block_table);
        UbIndex2 tile1;
        TASSIGN(tile1, ub_block_table);
        TLOAD(tile1, load1);
        // sync MTE3 -> MTE2 lag 1
        set_flag(PIPE_MTE3, PIPE_MTE2, (event_t)(1 + (sync0 & 1)));
        if (sync0 > 0) wait_flag(PIPE_MTE3, PIPE_MTE2, (event_t)(1 + ((sync0 - 1) & 1)));
        sync0++;
        // gather %param[0, %t1][100, min(16, 20 - %t1)], %indices_ub[0, 0][1, min(8, 30 - %t0)], %block_table_ub[0, 0][1, 6] to %output_ub[0, 0][min(8, 30 - %t0), min(16, 20 - %t1)] (d0, d1) let s0 = %indices_ub[0, d0] -> (error(16 * %block_table_ub[0, s0 div 16] + s0 mod 16 in 100), d1) {oob = error, origin = [0, %t0], [0, 0]}
        set_flag(PIPE_MTE2, PIPE_S, EVENT_ID7);
        wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID7);
        set_flag(PIPE_MTE3, PIPE_S, EVENT_ID7);
        wait_flag(PIPE_MTE3, PIPE_S, EVENT_ID7);
        set_flag(PIPE_MTE3, PIPE_V, EVENT_ID7);
        wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID7);
        turn_output ^= 1;
        for (int32_t d0 = 0; d0 < n0; d0++) {
            bool inside = true;
            const int64_t s0 = tilec_kernel_gather_in_ub_index<int32_t>((int32_t)tile0.GetValue(d0), 96, false, inside);
            const int64_t s1 = inside ? (int32_t)tile1.GetValue((s0 / 16)) : (int32_t)0;
            const int64_t s2 = tilec_kernel_gather_in_ub_index<int64_t>(inside ? s1 * 16 + (s0 % 16) : (int64_t)0, 100, false, inside);
            if (inside) {
                GmData load2(gm_param + s2 * 20 + iv_t1, GmData::Shape((int64_t)n1));
                UbOutput tile2(n1);
                TASSIGN(tile2, ub_output[turn_output] + d0 * 32);
                TLOAD(tile2, load2);
            }
            else {
                UbZeros row0;
                TASSIGN(row0, ub_output[turn_output] + d0 * 32);
                TEXPANDS(row0, (int32_t)0);
                bad = true;
            }
        }
        set_flag(PIPE_V, PIPE_MTE2, EVENT_ID7);
        wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID7);
        set_flag(PIPE_S, PIPE_MTE2, EVENT_ID7);
        wait_flag(PIPE_S, PIPE_MTE2, EVENT_ID7);
        // sync MTE2 -> MTE3
        set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID1);
        wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID1);
        // store %output_ub to %output[%t0, %t1][min(8, 30 - %t0), min(16, 20 - %t1)]
        GmOutput store0(gm_output + iv_t0 * 20 + iv_t1, GmOutput::Shape((int64_t)n0, (int64_t)n1));
        UbOutput2 tile3(n0, n1);
        TASSIGN(tile3, ub_output[turn_output]);
        TSTORE(store0, tile3);
    }
    // the last flag of each sync with lag 1
    if (sync0 > 0) wait_flag(PIPE_MTE3, PIPE_MTE2, (event_t)(1 + ((sync0 - 1) & 1)));
    if (bad) status[get_block_idx()] = 1;
}
