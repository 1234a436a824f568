// tilec emit pto: @scatter_ for ascend-a2, 2 cores, 320 of 196608 B of UB
// blocks: 2
#include <cstdint>
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr uint32_t tilec_kernel_scatter_cores = 2;

// The element that an index names among n, and whether there is one.
template <typename T>
AICORE inline int64_t tilec_kernel_scatter_index(T raw, int64_t n, bool from_end, bool& inside)
{
    if (raw >= 0 && (uint64_t)raw < (uint64_t)n) return (int64_t)raw;
    if (from_end && raw < 0 && (int64_t)raw >= -n) return (int64_t)raw + n;
    inside = false;
    return 0;
}

// To be launched first: the status says whether an index is rejected, and nothing is written.
extern "C" __global__ AICORE void tilec_kernel_scatter_check(__gm__ int16_t* gm_input, __gm__ int32_t* gm_index, __gm__ int16_t* gm_src, __gm__ int32_t* status)
{
    constexpr uint64_t ub_output = 0;
    constexpr uint64_t ub_index = 128;
    constexpr uint64_t ub_src = 256;
    using UbIndex = Tile<TileType::Vec, int32_t, 2, 16, BLayout::RowMajor, DYNAMIC, 12>;
    using GmIndex = GlobalTensor<int32_t, Shape<1, 1, 1, DYNAMIC, 12>, Stride<1, 1, 1, 12, 1>, Layout::ND>;

    set_mask_norm();
    set_vector_mask(-1, -1);

    bool bad = false;
    for (uint32_t task = get_block_idx(); task < 4; task += tilec_kernel_scatter_cores) {
        const int32_t iv_t0 = (int32_t)(task % 4) * 2;
        const int32_t n0 = 7 - iv_t0 < 2 ? 7 - iv_t0 : 2;
        // sync S -> MTE2
        set_flag(PIPE_S, PIPE_MTE2, EVENT_ID1);
        wait_flag(PIPE_S, PIPE_MTE2, EVENT_ID1);
        // sync MTE3 -> MTE2
        set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);
        wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);
        // load %index[%t0, 0][min(2, 7 - %t0), 12] to %index_ub
        GmIndex load0(gm_index + iv_t0 * 12, GmIndex::Shape((int64_t)n0));
        UbIndex tile0(n0);
        TASSIGN(tile0, ub_index);
        TLOAD(tile0, load0);
        // sync MTE3 -> S
        set_flag(PIPE_MTE3, PIPE_S, EVENT_ID1);
        wait_flag(PIPE_MTE3, PIPE_S, EVENT_ID1);
        // sync MTE2 -> S
        set_flag(PIPE_MTE2, PIPE_S, EVENT_ID1);
        wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID1);
        // scatter %index_ub[0, 0][min(2, 7 - %t0), 12], %src_ub[0, 0][min(2, 7 - %t0), 12] to %output_ub[0, 0][min(2, 7 - %t0), 24] (d0 < min(2, 7 - %t0), d1 < 12) -> (d0, %index_ub[d0, d1]) yield %src_ub[d0, d1] {oob = error, combine = add, domain = [7, 12], origin = [%t0, 0]}
        set_flag(PIPE_MTE2, PIPE_S, EVENT_ID7);
        wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID7);
        for (int32_t d0 = 0; d0 < n0; d0++) {
            for (int32_t d1 = 0; d1 < 12; d1++) {
                bool inside = true;
                const int64_t s0 = tilec_kernel_scatter_index<int32_t>((int32_t)tile0.GetValue(d0 * 16 + d1), 24, false, inside);
                if (!inside) bad = true;
            }
        }
        set_flag(PIPE_S, PIPE_MTE3, EVENT_ID7);
        wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID7);
        // sync MTE2 -> MTE3
        set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID1);
        wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID1);
        // sync S -> MTE3
        set_flag(PIPE_S, PIPE_MTE3, EVENT_ID1);
        wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID1);
    }
    if (bad) status[get_block_idx()] = 1;
}

extern "C" __global__ AICORE void tilec_kernel_scatter(__gm__ int16_t* gm_input, __gm__ int32_t* gm_index, __gm__ int16_t* gm_src, __gm__ int32_t* status)
{
    constexpr uint64_t ub_output = 0;
    constexpr uint64_t ub_index = 128;
    constexpr uint64_t ub_src = 256;
    using UbOutput = Tile<TileType::Vec, int16_t, 2, 32, BLayout::RowMajor, DYNAMIC, 24>;
    using UbIndex = Tile<TileType::Vec, int32_t, 2, 16, BLayout::RowMajor, DYNAMIC, 12>;
    using UbData = Tile<TileType::Vec, int16_t, 2, 16, BLayout::RowMajor, DYNAMIC, 12>;
    using GmData = GlobalTensor<int16_t, Shape<1, 1, 1, DYNAMIC, 24>, Stride<1, 1, 1, 24, 1>, Layout::ND>;
    using GmData2 = GlobalTensor<int16_t, Shape<1, 1, 1, DYNAMIC, 12>, Stride<1, 1, 1, 12, 1>, Layout::ND>;
    using GmIndex = GlobalTensor<int32_t, Shape<1, 1, 1, DYNAMIC, 12>, Stride<1, 1, 1, 12, 1>, Layout::ND>;
    using GmOutput = GlobalTensor<int16_t, Shape<1, 1, 1, DYNAMIC, 24>, Stride<1, 1, 1, 24, 1>, Layout::ND>;

    set_mask_norm();
    set_vector_mask(-1, -1);

    bool bad = false;
    for (uint32_t task = get_block_idx(); task < 4; task += tilec_kernel_scatter_cores) {
        const int32_t iv_t0 = (int32_t)(task % 4) * 2;
        const int32_t n0 = 7 - iv_t0 < 2 ? 7 - iv_t0 : 2;
        // sync S -> MTE2
        set_flag(PIPE_S, PIPE_MTE2, EVENT_ID1);
        wait_flag(PIPE_S, PIPE_MTE2, EVENT_ID1);
        // sync MTE3 -> MTE2
        set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);
        wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);
        // load %input[%t0, 0][min(2, 7 - %t0), 24] to %output_ub
        GmData load0(gm_input + iv_t0 * 24, GmData::Shape((int64_t)n0));
        UbOutput tile0(n0);
        TASSIGN(tile0, ub_output);
        TLOAD(tile0, load0);
        // load %index[%t0, 0][min(2, 7 - %t0), 12] to %index_ub
        GmIndex load1(gm_index + iv_t0 * 12, GmIndex::Shape((int64_t)n0));
        UbIndex tile1(n0);
        TASSIGN(tile1, ub_index);
        TLOAD(tile1, load1);
        // load %src[%t0, 0][min(2, 7 - %t0), 12] to %src_ub
        GmData2 load2(gm_src + iv_t0 * 12, GmData2::Shape((int64_t)n0));
        UbData tile2(n0);
        TASSIGN(tile2, ub_src);
        TLOAD(tile2, load2);
        // sync MTE3 -> S
        set_flag(PIPE_MTE3, PIPE_S, EVENT_ID1);
        wait_flag(PIPE_MTE3, PIPE_S, EVENT_ID1);
        // sync MTE2 -> S
        set_flag(PIPE_MTE2, PIPE_S, EVENT_ID1);
        wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID1);
        // scatter %index_ub[0, 0][min(2, 7 - %t0), 12], %src_ub[0, 0][min(2, 7 - %t0), 12] to %output_ub[0, 0][min(2, 7 - %t0), 24] (d0 < min(2, 7 - %t0), d1 < 12) -> (d0, %index_ub[d0, d1]) yield %src_ub[d0, d1] {oob = error, combine = add, domain = [7, 12], origin = [%t0, 0]}
        for (int32_t d0 = 0; d0 < n0; d0++) {
            for (int32_t d1 = 0; d1 < 12; d1++) {
                bool inside = true;
                const int64_t s0 = tilec_kernel_scatter_index<int32_t>((int32_t)tile1.GetValue(d0 * 16 + d1), 24, false, inside);
                if (!inside) bad = true;
                if (inside) {
                    const uint32_t place = d0 * 32 + s0;
                    const int16_t element = (int16_t)tile0.GetValue(place);
                    const int16_t value = (int16_t)tile2.GetValue(d0 * 16 + d1);
                    tile0.SetValue(place, (int16_t)((uint32_t)element + (uint32_t)value));
                }
            }
        }
        // sync MTE2 -> MTE3
        set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID1);
        wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID1);
        // sync S -> MTE3
        set_flag(PIPE_S, PIPE_MTE3, EVENT_ID1);
        wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID1);
        // store %output_ub to %output[%t0, 0][min(2, 7 - %t0), 24]
        GmOutput store0(gm_input + iv_t0 * 24, GmOutput::Shape((int64_t)n0));
        TSTORE(store0, tile0);
    }
    if (bad) status[get_block_idx()] = 1;
}
