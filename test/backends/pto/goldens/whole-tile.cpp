// tilec emit pto: @gather for ascend-a2, 2 cores, 134528 of 196608 B of UB
// blocks: 2
#include <cstdint>
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr uint32_t gather_cores = 2;

extern "C" __global__ AICORE void gather(__gm__ int32_t* data, __gm__ int32_t* indices, __gm__ int32_t* output)
{
    constexpr uint64_t data_ub[2] = {0, 19200};
    constexpr uint64_t indices_ub[2] = {38400, 57600};
    constexpr uint64_t output_ub[2] = {76800, 96000};
    constexpr uint64_t base_ub = 115328; // where each element's column begins in the data tile
    using UbData = Tile<TileType::Vec, int32_t, 300, 16, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
    using UbIndex = Tile<TileType::Vec, int32_t, 300, 16, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
    using UbOutput = Tile<TileType::Vec, int32_t, 300, 16, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
    using GmData = GlobalTensor<int32_t, Shape<1, 1, 1, 300, DYNAMIC>, Stride<1, 1, 1, 40, 1>, Layout::ND>;
    using GmIndex = GlobalTensor<int32_t, Shape<1, 1, 1, 300, DYNAMIC>, Stride<1, 1, 1, 40, 1>, Layout::ND>;
    using GmOutput = GlobalTensor<int32_t, Shape<1, 1, 1, 300, DYNAMIC>, Stride<1, 1, 1, 40, 1>, Layout::ND>;

    set_mask_norm();
    set_vector_mask(-1, -1);
    UbIndex base(300, 16);
    TASSIGN(base, base_ub);
    for (int32_t r = 0; r < 300; r++) {
        for (int32_t c = 0; c < 16; c++) base.SetValue(r * 16 + c, c);
    }
    set_flag(PIPE_S, PIPE_V, EVENT_ID1);
    wait_flag(PIPE_S, PIPE_V, EVENT_ID1);

    uint32_t data_turn = 1, indices_turn = 1, output_turn = 1;
    uint32_t sync0 = 0, sync1 = 0; // runs of the syncs with lag 1
    for (uint32_t task = get_block_idx(); task < 3; task += gather_cores) {
        const int32_t t1 = (int32_t)(task % 3) * 16;
        const int32_t n1 = 40 - t1 < 16 ? 40 - t1 : 16;
        // sync V -> MTE2 lag 1
        set_flag(PIPE_V, PIPE_MTE2, (event_t)(1 + (sync0 & 1)));
        if (sync0 > 0) wait_flag(PIPE_V, PIPE_MTE2, (event_t)(1 + ((sync0 - 1) & 1)));
        sync0++;
        // load %data[0, %t1][300, min(16, 40 - %t1)] to %data_ub
        data_turn ^= 1;
        GmData load0(data + t1, GmData::Shape((int64_t)n1));
        UbData tile0(300, n1);
        TASSIGN(tile0, data_ub[data_turn]);
        TLOAD(tile0, load0);
        // load %indices[0, %t1][300, min(16, 40 - %t1)] to %indices_ub
        indices_turn ^= 1;
        GmIndex load1(indices + t1, GmIndex::Shape((int64_t)n1));
        UbIndex tile1(300, n1);
        TASSIGN(tile1, indices_ub[indices_turn]);
        TLOAD(tile1, load1);
        // sync MTE3 -> V lag 1
        set_flag(PIPE_MTE3, PIPE_V, (event_t)(1 + (sync1 & 1)));
        if (sync1 > 0) wait_flag(PIPE_MTE3, PIPE_V, (event_t)(1 + ((sync1 - 1) & 1)));
        sync1++;
        // sync MTE2 -> V
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
        // gather %data_ub[0, 0][300, min(16, 40 - %t1)], %indices_ub[0, 0][300, min(16, 40 - %t1)] to %output_ub[0, 0][300, min(16, 40 - %t1)] (d0, d1) -> (%indices_ub[d0, d1], d1) {oob = clamp, origin = [0, %t1], scratch = %scratch_ub}
        output_turn ^= 1;
        UbOutput tile2(300, n1);
        TASSIGN(tile2, output_ub[output_turn]);
        UbIndex base0(300, n1);
        TASSIGN(base0, base_ub);
        TMAXS(tile1, tile1, (int32_t)0);
        pipe_barrier(PIPE_V);
        TMINS(tile1, tile1, (int32_t)299);
        pipe_barrier(PIPE_V);
        TMULS(tile1, tile1, (int32_t)16);
        pipe_barrier(PIPE_V);
        TADD(tile1, tile1, base0);
        pipe_barrier(PIPE_V);
        TGATHER(tile2, tile0, tile1, tile1);
        // sync V -> MTE3
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
        // store %output_ub to %output[0, %t1][300, min(16, 40 - %t1)]
        GmOutput store0(output + t1, GmOutput::Shape((int64_t)n1));
        TSTORE(store0, tile2);
    }
    // the last flag of each sync with lag 1
    if (sync0 > 0) wait_flag(PIPE_V, PIPE_MTE2, (event_t)(1 + ((sync0 - 1) & 1)));
    if (sync1 > 0) wait_flag(PIPE_MTE3, PIPE_V, (event_t)(1 + ((sync1 - 1) & 1)));
}
