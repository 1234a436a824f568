// tilec emit pto: @gather_elements for ascend-a2, 2 cores, 2528 of 196608 B of UB
// blocks: 2
#include <cstdint>
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr uint32_t gather_elements_cores = 2;

extern "C" __global__ AICORE void gather_elements(__gm__ int16_t* data, __gm__ int32_t* indices, __gm__ int16_t* output)
{
    constexpr uint64_t data_ub[2] = {0, 640};
    constexpr uint64_t indices_ub[2] = {1280, 1600};
    constexpr uint64_t output_ub[2] = {1920, 2080};
    constexpr uint64_t scratch_ub = 2240;
    constexpr uint64_t rows_ub = 2368; // rows of addresses beside the scratch
    constexpr uint64_t zeros_ub = 2496; // a block of zeros, for indices outside
    using UbData = Tile<TileType::Vec, int16_t, 20, 16, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
    using UbIndex = Tile<TileType::Vec, int32_t, 5, 16, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
    using UbRow = Tile<TileType::Vec, int32_t, 1, 16, BLayout::RowMajor, 1, DYNAMIC>;
    using UbRow2 = Tile<TileType::Vec, int32_t, 1, 16, BLayout::RowMajor, 1, 16>;
    using UbOutputRow = Tile<TileType::Vec, int16_t, 1, 16, BLayout::RowMajor, 1, DYNAMIC>;
    using UbOutput = Tile<TileType::Vec, int16_t, 5, 16, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
    using UbZeros = Tile<TileType::Vec, int32_t, 1, 8, BLayout::RowMajor, 1, 8>;
    using GmData = GlobalTensor<int16_t, Shape<1, 1, 1, 20, DYNAMIC>, Stride<1, 1, 1, 40, 1>, Layout::ND>;
    using GmIndex = GlobalTensor<int32_t, Shape<1, 1, 1, DYNAMIC, DYNAMIC>, Stride<1, 1, 1, 40, 1>, Layout::ND>;
    using GmOutput = GlobalTensor<int16_t, Shape<1, 1, 1, DYNAMIC, DYNAMIC>, Stride<1, 1, 1, 40, 1>, Layout::ND>;

    set_mask_norm();
    set_vector_mask(-1, -1);
    UbZeros zeros;
    TASSIGN(zeros, zeros_ub);
    TEXPANDS(zeros, (int32_t)0);
    UbRow2 iota;
    TASSIGN(iota, scratch_ub + 64);
    for (int32_t c = 0; c < 16; c++) iota.SetValue(c, c);
    set_flag(PIPE_S, PIPE_V, EVENT_ID1);
    wait_flag(PIPE_S, PIPE_V, EVENT_ID1);

    uint32_t data_turn = 1, indices_turn = 1, output_turn = 1;
    uint32_t sync0 = 0, sync1 = 0, sync2 = 0; // runs of the syncs with lag 1
    for (uint32_t task = get_block_idx(); task < 3; task += gather_elements_cores) {
        const int32_t t1 = (int32_t)(task % 3) * 16;
        const int32_t n1 = 40 - t1 < 16 ? 40 - t1 : 16;
        // sync V -> MTE2 lag 1
        set_flag(PIPE_V, PIPE_MTE2, (event_t)(1 + (sync0 & 1)));
        if (sync0 > 0) wait_flag(PIPE_V, PIPE_MTE2, (event_t)(1 + ((sync0 - 1) & 1)));
        sync0++;
        // load %data[0, %t1][20, min(16, 40 - %t1)] to %data_ub
        data_turn ^= 1;
        GmData load0(data + t1, GmData::Shape((int64_t)n1));
        UbData tile0(20, n1);
        TASSIGN(tile0, data_ub[data_turn]);
        TLOAD(tile0, load0);
        // sync MTE2 -> V
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
        for (int32_t t0 = 0; t0 < 12; t0 += 5) {
            const int32_t n0 = 12 - t0 < 5 ? 12 - t0 : 5;
            // sync V -> MTE2 lag 1
            set_flag(PIPE_V, PIPE_MTE2, (event_t)(3 + (sync1 & 1)));
            if (sync1 > 0) wait_flag(PIPE_V, PIPE_MTE2, (event_t)(3 + ((sync1 - 1) & 1)));
            sync1++;
            // load %indices[%t0, %t1][min(5, 12 - %t0), min(16, 40 - %t1)] to %indices_ub
            indices_turn ^= 1;
            GmIndex load1(indices + t0 * 40 + t1, GmIndex::Shape((int64_t)n0, (int64_t)n1));
            UbIndex tile1(n0, n1);
            TASSIGN(tile1, indices_ub[indices_turn]);
            TLOAD(tile1, load1);
            // sync MTE3 -> V lag 1
            set_flag(PIPE_MTE3, PIPE_V, (event_t)(1 + (sync2 & 1)));
            if (sync2 > 0) wait_flag(PIPE_MTE3, PIPE_V, (event_t)(1 + ((sync2 - 1) & 1)));
            sync2++;
            // sync MTE2 -> V
            set_flag(PIPE_MTE2, PIPE_V, EVENT_ID2);
            wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID2);
            // gather %data_ub[0, 0][20, min(16, 40 - %t1)], %indices_ub[0, 0][min(5, 12 - %t0), min(16, 40 - %t1)] to %output_ub[0, 0][min(5, 12 - %t0), min(16, 40 - %t1)] (d0, d1) -> (from_end(%indices_ub[d0, d1]), d1) {oob = zero, origin = [%t0, %t1], scratch = %scratch_ub}
            output_turn ^= 1;
            for (int32_t d0 = 0; d0 < n0; d0++) {
                UbRow row0(n1);
                TASSIGN(row0, indices_ub[indices_turn] + d0 * 64);
                UbOutputRow row1(n1);
                TASSIGN(row1, output_ub[output_turn] + d0 * 32);
                UbRow row2(n1);
                TASSIGN(row2, scratch_ub);
                UbRow row3(n1);
                TASSIGN(row3, scratch_ub + 64);
                UbRow row4(n1);
                TASSIGN(row4, rows_ub);
                UbRow row5(n1);
                TASSIGN(row5, rows_ub + 64);
                pipe_barrier(PIPE_V);
                TMINS(row2, row0, (int32_t)0);
                pipe_barrier(PIPE_V);
                TMAXS(row2, row2, (int32_t)-1);
                pipe_barrier(PIPE_V);
                TMULS(row2, row2, (int32_t)-20);
                pipe_barrier(PIPE_V);
                TADD(row2, row2, row0);
                pipe_barrier(PIPE_V);
                TMAXS(row4, row2, (int32_t)0);
                pipe_barrier(PIPE_V);
                TMINS(row4, row4, (int32_t)19);
                pipe_barrier(PIPE_V);
                TSUB(row2, row2, row4);
                pipe_barrier(PIPE_V);
                TMINS(row2, row2, (int32_t)1);
                pipe_barrier(PIPE_V);
                TMAXS(row2, row2, (int32_t)-1);
                pipe_barrier(PIPE_V);
                TMUL(row2, row2, row2);
                pipe_barrier(PIPE_V);
                TMULS(row4, row4, (int32_t)16);
                pipe_barrier(PIPE_V);
                TADDS(row4, row4, (int32_t)0);
                pipe_barrier(PIPE_V);
                TADD(row4, row4, row3);
                pipe_barrier(PIPE_V);
                TMULS(row5, row4, (int32_t)-1);
                pipe_barrier(PIPE_V);
                TADDS(row5, row5, (int32_t)((zeros_ub - data_ub[data_turn]) / 2));
                pipe_barrier(PIPE_V);
                TMUL(row5, row5, row2);
                pipe_barrier(PIPE_V);
                TADD(row4, row4, row5);
                pipe_barrier(PIPE_V);
                TGATHER(row1, tile0, row4, row4);
            }
            // sync V -> MTE3
            set_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
            wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
            // store %output_ub to %output[%t0, %t1][min(5, 12 - %t0), min(16, 40 - %t1)]
            GmOutput store0(output + t0 * 40 + t1, GmOutput::Shape((int64_t)n0, (int64_t)n1));
            UbOutput tile2(n0, n1);
            TASSIGN(tile2, output_ub[output_turn]);
            TSTORE(store0, tile2);
        }
    }
    // the last flag of each sync with lag 1
    if (sync0 > 0) wait_flag(PIPE_V, PIPE_MTE2, (event_t)(1 + ((sync0 - 1) & 1)));
    if (sync1 > 0) wait_flag(PIPE_V, PIPE_MTE2, (event_t)(3 + ((sync1 - 1) & 1)));
    if (sync2 > 0) wait_flag(PIPE_MTE3, PIPE_V, (event_t)(1 + ((sync2 - 1) & 1)));
}
