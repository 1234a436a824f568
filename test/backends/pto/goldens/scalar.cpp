// tilec emit pto: @gather_elements for ascend-a2, 2 cores, 2496 of 196608 B of UB
// blocks: 2
#include <cstdint>
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr uint32_t tilec_kernel_gather_elements_cores = 2;

// The element that an index names among n, and whether there is one.
template <typename T>
AICORE inline int64_t tilec_kernel_gather_elements_index(T raw, int64_t n, bool from_end, bool& inside)
{
    if (raw >= 0 && (uint64_t)raw < (uint64_t)n) return (int64_t)raw;
    if (from_end && raw < 0 && (int64_t)raw >= -n) return (int64_t)raw + n;
    if (n > 0) {
        const int64_t rest = raw < 0 ? (int64_t)raw % n : (int64_t)((uint64_t)raw % (uint64_t)n);
        return rest < 0 ? rest + n : rest;
    }
    inside = false;
    return 0;
}

extern "C" __global__ AICORE void tilec_kernel_gather_elements(__gm__ int32_t* gm_data, __gm__ int32_t* gm_indices, __gm__ int32_t* gm_output)
{
    constexpr uint64_t ub_data[2] = {0, 576};
    constexpr uint64_t ub_indices[2] = {1152, 1376};
    constexpr uint64_t ub_output[2] = {1600, 2048};
    using UbData = Tile<TileType::Vec, int32_t, 9, 16, BLayout::RowMajor, 9, DYNAMIC>;
    using UbIndex = Tile<TileType::Vec, int32_t, 7, 8, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
    using UbOutput = Tile<TileType::Vec, int32_t, 7, 16, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
    using GmData = GlobalTensor<int32_t, Shape<1, 1, 1, 9, DYNAMIC>, Stride<1, 1, 1, 18, 1>, Layout::ND>;
    using GmIndex = GlobalTensor<int32_t, Shape<1, 1, 1, DYNAMIC, DYNAMIC>, Stride<1, 1, 1, 9, 1>, Layout::ND>;
    using GmOutput = GlobalTensor<int32_t, Shape<1, 1, 1, DYNAMIC, DYNAMIC>, Stride<1, 1, 1, 18, 1>, Layout::ND>;

    set_mask_norm();
    set_vector_mask(-1, -1);

    uint32_t turn_data = 1, turn_indices = 1, turn_output = 1;
    uint32_t sync0 = 0, sync1 = 0, sync2 = 0; // runs of the syncs with lag 1
    for (uint32_t task = get_block_idx(); task < 2; task += tilec_kernel_gather_elements_cores) {
        const int32_t iv_t1 = (int32_t)(task % 2) * 5;
        const int32_t n1 = 9 - iv_t1 < 5 ? 9 - iv_t1 : 5;
        // sync V -> MTE2 lag 1
        set_flag(PIPE_V, PIPE_MTE2, (event_t)(1 + (sync0 & 1)));
        if (sync0 > 0) wait_flag(PIPE_V, PIPE_MTE2, (event_t)(1 + ((sync0 - 1) & 1)));
        sync0++;
        // load %data[0, %t1][9, min(5, 9 - %t1)] to %data_ub
        turn_data ^= 1;
        GmData load0(gm_data + iv_t1 * 2, GmData::Shape((int64_t)n1 * 2));
        UbData tile0(n1 * 2);
        TASSIGN(tile0, ub_data[turn_data]);
        TLOAD(tile0, load0);
        // sync MTE2 -> V
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
        for (int32_t iv_t0 = 0; iv_t0 < 40; iv_t0 += 7) {
            const int32_t n0 = 40 - iv_t0 < 7 ? 40 - iv_t0 : 7;
            // sync V -> MTE2 lag 1
            set_flag(PIPE_V, PIPE_MTE2, (event_t)(3 + (sync1 & 1)));
            if (sync1 > 0) wait_flag(PIPE_V, PIPE_MTE2, (event_t)(3 + ((sync1 - 1) & 1)));
            sync1++;
            // load %indices[%t0, %t1][min(7, 40 - %t0), min(5, 9 - %t1)] to %indices_ub
            turn_indices ^= 1;
            GmIndex load1(gm_indices + iv_t0 * 9 + iv_t1, GmIndex::Shape((int64_t)n0, (int64_t)n1));
            UbIndex tile1(n0, n1);
            TASSIGN(tile1, ub_indices[turn_indices]);
            TLOAD(tile1, load1);
            // sync MTE3 -> V lag 1
            set_flag(PIPE_MTE3, PIPE_V, (event_t)(1 + (sync2 & 1)));
            if (sync2 > 0) wait_flag(PIPE_MTE3, PIPE_V, (event_t)(1 + ((sync2 - 1) & 1)));
            sync2++;
            // sync MTE2 -> V
            set_flag(PIPE_MTE2, PIPE_V, EVENT_ID2);
            wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID2);
            // gather %data_ub[0, 0][9, min(5, 9 - %t1)], %indices_ub[0, 0][min(7, 40 - %t0), min(5, 9 - %t1)] to %output_ub[0, 0][min(7, 40 - %t0), min(5, 9 - %t1)] (d0, d1) -> (from_end(%indices_ub[d0, d1]), d1) {oob = wrap, origin = [%t0, %t1]}
            set_flag(PIPE_V, PIPE_S, EVENT_ID7);
            wait_flag(PIPE_V, PIPE_S, EVENT_ID7);
            turn_output ^= 1;
            UbOutput tile2(n0, n1 * 2);
            TASSIGN(tile2, ub_output[turn_output]);
            for (int32_t d0 = 0; d0 < n0; d0++) {
                for (int32_t d1 = 0; d1 < n1; d1++) {
                    bool inside = true;
                    const int64_t s0 = tilec_kernel_gather_elements_index<int32_t>((int32_t)tile1.GetValue(d0 * 8 + d1), 9, true, inside);
                    tile2.SetValue(d0 * 16 + d1 * 2, inside ? tile0.GetValue(s0 * 16 + d1 * 2) : 0);
                    tile2.SetValue(d0 * 16 + d1 * 2 + 1, inside ? tile0.GetValue(s0 * 16 + d1 * 2 + 1) : 0);
                }
            }
            set_flag(PIPE_S, PIPE_V, EVENT_ID7);
            wait_flag(PIPE_S, PIPE_V, EVENT_ID7);
            // sync V -> MTE3
            set_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
            wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
            // store %output_ub to %output[%t0, %t1][min(7, 40 - %t0), min(5, 9 - %t1)]
            GmOutput store0(gm_output + iv_t0 * 18 + iv_t1 * 2, GmOutput::Shape((int64_t)n0, (int64_t)n1 * 2));
            TSTORE(store0, tile2);
        }
    }
    // the last flag of each sync with lag 1
    if (sync0 > 0) wait_flag(PIPE_V, PIPE_MTE2, (event_t)(1 + ((sync0 - 1) & 1)));
    if (sync1 > 0) wait_flag(PIPE_V, PIPE_MTE2, (event_t)(3 + ((sync1 - 1) & 1)));
    if (sync2 > 0) wait_flag(PIPE_MTE3, PIPE_V, (event_t)(1 + ((sync2 - 1) & 1)));
}
