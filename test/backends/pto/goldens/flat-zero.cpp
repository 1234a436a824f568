// tilec emit pto: @gather_elements for ascend-a2, 2 cores, 2912 of 196608 B of UB
// blocks: 2
#include <cstdint>
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr uint32_t tilec_kernel_gather_elements_cores = 2;

extern "C" __global__ AICORE void tilec_kernel_gather_elements(__gm__ int16_t* gm_data, __gm__ int32_t* gm_indices, __gm__ int16_t* gm_output)
{
    constexpr uint64_t ub_data[2] = {0, 640};
    constexpr uint64_t ub_indices[2] = {1280, 1600};
    constexpr uint64_t ub_output[2] = {1920, 2080};
    constexpr uint64_t addresses_ub = 2240; // index values, then addresses in the data tile
    constexpr uint64_t base_ub = 2560; // where the place of each word begins in the data tile
    constexpr uint64_t border_ub = 2880; // a block of zeros, for index values outside
    using UbData = Tile<TileType::Vec, int16_t, 20, 16, BLayout::RowMajor, 20, DYNAMIC>;
    using UbIndex = Tile<TileType::Vec, int32_t, 5, 16, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
    using UbRow = Tile<TileType::Vec, int32_t, 1, 80, BLayout::RowMajor, 1, 80>;
    using UbRow2 = Tile<TileType::Vec, int32_t, 1, 8, BLayout::RowMajor, 1, 8>;
    using UbRow3 = Tile<TileType::Vec, int32_t, 1, 16, BLayout::RowMajor, 1, 16>;
    using UbRow4 = Tile<TileType::Vec, int32_t, 1, 32, BLayout::RowMajor, 1, 32>;
    using UbSource = Tile<TileType::Vec, int16_t, 1, 320, BLayout::RowMajor, 1, 320>;
    using UbWords = Tile<TileType::Vec, int16_t, 1, 80, BLayout::RowMajor, 1, 80>;
    using UbOutput = Tile<TileType::Vec, int16_t, 5, 16, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
    using GmData = GlobalTensor<int16_t, Shape<1, 1, 1, 20, DYNAMIC>, Stride<1, 1, 1, 40, 1>, Layout::ND>;
    using GmIndex = GlobalTensor<int32_t, Shape<1, 1, 1, DYNAMIC, DYNAMIC>, Stride<1, 1, 1, 40, 1>, Layout::ND>;
    using GmOutput = GlobalTensor<int16_t, Shape<1, 1, 1, DYNAMIC, DYNAMIC>, Stride<1, 1, 1, 40, 1>, Layout::ND>;

    set_mask_norm();
    set_vector_mask(-1, -1);
    UbRow2 row5;
    TASSIGN(row5, base_ub);
    row5.SetValue(0, 0);
    row5.SetValue(1, 1);
    row5.SetValue(2, 2);
    row5.SetValue(3, 3);
    row5.SetValue(4, 4);
    row5.SetValue(5, 5);
    row5.SetValue(6, 6);
    row5.SetValue(7, 7);
    set_flag(PIPE_S, PIPE_V, EVENT_ID1);
    wait_flag(PIPE_S, PIPE_V, EVENT_ID1);
    UbRow2 row6;
    TASSIGN(row6, base_ub + 32);
    TADDS(row6, row5, (int32_t)8);
    pipe_barrier(PIPE_V);
    UbRow3 row7;
    TASSIGN(row7, base_ub + 64);
    UbRow3 row8;
    TASSIGN(row8, base_ub);
    TADDS(row7, row8, (int32_t)0);
    pipe_barrier(PIPE_V);
    UbRow4 row9;
    TASSIGN(row9, base_ub + 128);
    UbRow4 row10;
    TASSIGN(row10, base_ub);
    TADDS(row9, row10, (int32_t)0);
    UbRow3 row11;
    TASSIGN(row11, base_ub + 256);
    TADDS(row11, row8, (int32_t)0);
    UbRow2 row12;
    TASSIGN(row12, border_ub);
    TEXPANDS(row12, (int32_t)0);

    uint32_t turn_data = 1, turn_indices = 1, turn_output = 1;
    uint32_t sync0 = 0, sync1 = 0, sync2 = 0; // runs of the syncs with lag 1
    for (uint32_t task = get_block_idx(); task < 3; task += tilec_kernel_gather_elements_cores) {
        const int32_t iv_t1 = (int32_t)(task % 3) * 16;
        const int32_t n1 = 40 - iv_t1 < 16 ? 40 - iv_t1 : 16;
        // sync V -> MTE2 lag 1
        set_flag(PIPE_V, PIPE_MTE2, (event_t)(1 + (sync0 & 1)));
        if (sync0 > 0) wait_flag(PIPE_V, PIPE_MTE2, (event_t)(1 + ((sync0 - 1) & 1)));
        sync0++;
        // load %data[0, %t1][20, min(16, 40 - %t1)] to %data_ub
        turn_data ^= 1;
        GmData load0(gm_data + iv_t1, GmData::Shape((int64_t)n1));
        UbData tile0(n1);
        TASSIGN(tile0, ub_data[turn_data]);
        TLOAD(tile0, load0);
        // sync MTE2 -> V
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
        for (int32_t iv_t0 = 0; iv_t0 < 12; iv_t0 += 5) {
            const int32_t n0 = 12 - iv_t0 < 5 ? 12 - iv_t0 : 5;
            // sync V -> MTE2 lag 1
            set_flag(PIPE_V, PIPE_MTE2, (event_t)(3 + (sync1 & 1)));
            if (sync1 > 0) wait_flag(PIPE_V, PIPE_MTE2, (event_t)(3 + ((sync1 - 1) & 1)));
            sync1++;
            // load %indices[%t0, %t1][min(5, 12 - %t0), min(16, 40 - %t1)] to %indices_ub
            turn_indices ^= 1;
            GmIndex load1(gm_indices + iv_t0 * 40 + iv_t1, GmIndex::Shape((int64_t)n0, (int64_t)n1));
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
            // gather %data_ub[0, 0][20, min(16, 40 - %t1)], %indices_ub[0, 0][min(5, 12 - %t0), min(16, 40 - %t1)] to %output_ub[0, 0][min(5, 12 - %t0), min(16, 40 - %t1)] (d0, d1) -> (from_end(%indices_ub[d0, d1]), d1) {oob = zero, origin = [%t0, %t1], scratch = %addresses_ub, %base_ub, %border_ub}
            turn_output ^= 1;
            pipe_barrier(PIPE_V);
            UbRow row0;
            TASSIGN(row0, addresses_ub);
            UbRow row1;
            TASSIGN(row1, ub_indices[turn_indices]);
            TSHRS(row0, row1, (int32_t)31);
            pipe_barrier(PIPE_V);
            TMULS(row0, row0, (int32_t)-20);
            pipe_barrier(PIPE_V);
            TADD(row1, row1, row0);
            pipe_barrier(PIPE_V);
            TMAXS(row0, row1, (int32_t)0);
            pipe_barrier(PIPE_V);
            TMINS(row0, row0, (int32_t)19);
            pipe_barrier(PIPE_V);
            TSUB(row1, row1, row0);
            pipe_barrier(PIPE_V);
            TMINS(row1, row1, (int32_t)1);
            pipe_barrier(PIPE_V);
            TMAXS(row1, row1, (int32_t)-1);
            pipe_barrier(PIPE_V);
            TMUL(row1, row1, row1);
            pipe_barrier(PIPE_V);
            TMULS(row1, row1, (int32_t)67108864);
            TMULS(row0, row0, (int32_t)16);
            pipe_barrier(PIPE_V);
            TADD(row1, row0, row1);
            pipe_barrier(PIPE_V);
            UbRow row2;
            TASSIGN(row2, base_ub);
            TADD(row1, row1, row2);
            pipe_barrier(PIPE_V);
            TMINS(row1, row1, (int32_t)((border_ub - ub_data[turn_data]) / 2));
            pipe_barrier(PIPE_V);
            UbSource row3;
            TASSIGN(row3, ub_data[turn_data]);
            UbWords row4;
            TASSIGN(row4, ub_output[turn_output]);
            TGATHER(row4, row3, row1, row1);
            // sync V -> MTE3
            set_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
            wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
            // store %output_ub to %output[%t0, %t1][min(5, 12 - %t0), min(16, 40 - %t1)]
            GmOutput store0(gm_output + iv_t0 * 40 + iv_t1, GmOutput::Shape((int64_t)n0, (int64_t)n1));
            UbOutput tile2(n0, n1);
            TASSIGN(tile2, ub_output[turn_output]);
            TSTORE(store0, tile2);
        }
    }
    // the last flag of each sync with lag 1
    if (sync0 > 0) wait_flag(PIPE_V, PIPE_MTE2, (event_t)(1 + ((sync0 - 1) & 1)));
    if (sync1 > 0) wait_flag(PIPE_V, PIPE_MTE2, (event_t)(3 + ((sync1 - 1) & 1)));
    if (sync2 > 0) wait_flag(PIPE_MTE3, PIPE_V, (event_t)(1 + ((sync2 - 1) & 1)));
}
