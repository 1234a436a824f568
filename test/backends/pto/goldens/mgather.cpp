// tilec emit pto: @gather for ascend-a2, 2 cores, 16576 of 196608 B of UB
// blocks: 2
#include <cstdint>
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr uint32_t tilec_kernel_gather_cores = 2;

extern "C" __global__ AICORE void tilec_kernel_gather(__gm__ int32_t* gm_data, __gm__ int32_t* gm_indices, __gm__ int32_t* gm_output)
{
    constexpr uint64_t ub_indices[2] = {0, 64};
    constexpr uint64_t ub_output[2] = {128, 8320};
    constexpr uint64_t addresses_ub = 16512; // index values, then addresses in the data tile
    using UbIndex = Tile<TileType::Vec, int32_t, 1, 16, BLayout::RowMajor, 1, DYNAMIC>;
    using UbOutput = Tile<TileType::Vec, int32_t, 16, 128, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
    using GmIndex = GlobalTensor<int32_t, Shape<1, 1, 1, 1, DYNAMIC>, Stride<1, 1, 1, 1, 1>, Layout::ND>;
    using GmData = GlobalTensor<int32_t, Shape<1, 1, 1, 5000, DYNAMIC>, Stride<1, 1, 1, 300, 1>, Layout::ND>;
    using GmOutput = GlobalTensor<int32_t, Shape<1, 1, 1, DYNAMIC, DYNAMIC>, Stride<1, 1, 1, 300, 1>, Layout::ND>;

    set_mask_norm();
    set_vector_mask(-1, -1);

    uint32_t turn_indices = 1, turn_output = 1;
    uint32_t sync0 = 0; // runs of the syncs with lag 1
    for (uint32_t task = get_block_idx(); task < 15; task += tilec_kernel_gather_cores) {
        const int32_t iv_t1 = (int32_t)(task / 5 % 3) * 128;
        const int32_t n1 = 300 - iv_t1 < 128 ? 300 - iv_t1 : 128;
        const int32_t iv_t0 = (int32_t)(task % 5) * 16;
        const int32_t n0 = 70 - iv_t0 < 16 ? 70 - iv_t0 : 16;
        // load %indices[%t0][min(16, 70 - %t0)] to %indices_ub
        turn_indices ^= 1;
        GmIndex load0(gm_indices + iv_t0, GmIndex::Shape((int64_t)n0));
        UbIndex tile0(n0);
        TASSIGN(tile0, ub_indices[turn_indices]);
        TLOAD(tile0, load0);
        // sync MTE3 -> MTE2 lag 1
        set_flag(PIPE_MTE3, PIPE_MTE2, (event_t)(1 + (sync0 & 1)));
        if (sync0 > 0) wait_flag(PIPE_MTE3, PIPE_MTE2, (event_t)(1 + ((sync0 - 1) & 1)));
        sync0++;
        // gather %data[0, %t1][5000, min(128, 300 - %t1)], %indices_ub[0][min(16, 70 - %t0)] to %output_ub[0, 0][min(16, 70 - %t0), min(128, 300 - %t1)] (d0, d1) -> (from_end(%indices_ub[d0]), d1) {oob = clamp, origin = [%t0], scratch = %addresses_ub}
        turn_output ^= 1;
        UbOutput tile1(n0, n1);
        TASSIGN(tile1, ub_output[turn_output]);
        GmData load1(gm_data + iv_t1, GmData::Shape((int64_t)n1));
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID7);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID7);
        UbIndex row0(n0);
        TASSIGN(row0, addresses_ub);
        TMINS(row0, tile0, (int32_t)0);
        pipe_barrier(PIPE_V);
        TMAXS(row0, row0, (int32_t)-1);
        pipe_barrier(PIPE_V);
        TMULS(row0, row0, (int32_t)-5000);
        pipe_barrier(PIPE_V);
        TADD(row0, row0, tile0);
        pipe_barrier(PIPE_V);
        TMAXS(row0, row0, (int32_t)0);
        pipe_barrier(PIPE_V);
        TMINS(row0, row0, (int32_t)4999);
        MGATHER<Coalesce::Row, GatherOOB::Undefined>(tile1, load1, row0);
        // sync MTE2 -> MTE3
        set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID1);
        wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID1);
        // store %output_ub to %output[%t0, %t1][min(16, 70 - %t0), min(128, 300 - %t1)]
        GmOutput store0(gm_output + iv_t0 * 300 + iv_t1, GmOutput::Shape((int64_t)n0, (int64_t)n1));
        TSTORE(store0, tile1);
    }
    // the last flag of each sync with lag 1
    if (sync0 > 0) wait_flag(PIPE_MTE3, PIPE_MTE2, (event_t)(1 + ((sync0 - 1) & 1)));
}
