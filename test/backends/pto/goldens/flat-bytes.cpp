// tilec emit pto: @gather_elements for ascend-a2, 2 cores, 9472 of 196608 B of UB
// blocks: 2
#include <cstdint>
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr uint32_t tilec_kernel_gather_elements_cores = 2;

extern "C" __global__ AICORE void tilec_kernel_gather_elements(__gm__ int8_t* gm_data, __gm__ int32_t* gm_indices, __gm__ int8_t* gm_output)
{
    constexpr uint64_t ub_data[2] = {0, 640};
    constexpr uint64_t ub_indices[2] = {1280, 1664};
    constexpr uint64_t ub_output[2] = {2048, 2432};
    constexpr uint64_t addresses_ub = 2816; // index values, then addresses in the data tile
    constexpr uint64_t pattern_ub = 4352; // which index value each word of the output takes
    constexpr uint64_t base_ub = 5888; // where the place of each word begins in the data tile
    constexpr uint64_t widened_ub = 7424; // the data tile as 2-byte words, then those of a strip of the output
    using UbData = Tile<TileType::Vec, int8_t, 20, 32, BLayout::RowMajor, 20, 8>;
    using UbIndex = Tile<TileType::Vec, int32_t, 12, 8, BLayout::RowMajor, 12, 8>;
    using UbBytes = Tile<TileType::Vec, uint8_t, 1, 640, BLayout::RowMajor, 1, 640>;
    using UbBytes2 = Tile<TileType::Vec, uint8_t, 1, 384, BLayout::RowMajor, 1, 384>;
    using UbHalves = Tile<TileType::Vec, half, 1, 640, BLayout::RowMajor, 1, 640>;
    using UbHalves2 = Tile<TileType::Vec, half, 1, 384, BLayout::RowMajor, 1, 384>;
    using UbRow = Tile<TileType::Vec, int32_t, 1, 96, BLayout::RowMajor, 1, 96>;
    using UbRow2 = Tile<TileType::Vec, int32_t, 1, 384, BLayout::RowMajor, 1, 384>;
    using UbRow3 = Tile<TileType::Vec, int32_t, 1, 8, BLayout::RowMajor, 1, 8>;
    using UbRow4 = Tile<TileType::Vec, int32_t, 1, 16, BLayout::RowMajor, 1, 16>;
    using UbRow5 = Tile<TileType::Vec, int32_t, 1, 32, BLayout::RowMajor, 1, 32>;
    using UbRow6 = Tile<TileType::Vec, int32_t, 1, 64, BLayout::RowMajor, 1, 64>;
    using UbRow7 = Tile<TileType::Vec, int32_t, 1, 128, BLayout::RowMajor, 1, 128>;
    using UbSource = Tile<TileType::Vec, int16_t, 1, 640, BLayout::RowMajor, 1, 640>;
    using UbWords = Tile<TileType::Vec, int16_t, 1, 384, BLayout::RowMajor, 1, 384>;
    using UbOutput = Tile<TileType::Vec, int8_t, 12, 32, BLayout::RowMajor, 12, 8>;
    using GmData = GlobalTensor<int8_t, Shape<1, 1, 1, 20, 8>, Stride<1, 1, 1, 40, 1>, Layout::ND>;
    using GmIndex = GlobalTensor<int32_t, Shape<1, 1, 1, 12, 8>, Stride<1, 1, 1, 40, 1>, Layout::ND>;
    using GmOutput = GlobalTensor<int8_t, Shape<1, 1, 1, 12, 8>, Stride<1, 1, 1, 40, 1>, Layout::ND>;

    set_mask_norm();
    set_vector_mask(-1, -1);
    UbRow3 row11;
    TASSIGN(row11, pattern_ub);
    row11.SetValue(0, 0);
    row11.SetValue(1, 1);
    row11.SetValue(2, 2);
    row11.SetValue(3, 3);
    row11.SetValue(4, 4);
    row11.SetValue(5, 5);
    row11.SetValue(6, 6);
    row11.SetValue(7, 7);
    UbRow3 row12;
    TASSIGN(row12, base_ub);
    row12.SetValue(0, 0);
    row12.SetValue(1, 1);
    row12.SetValue(2, 2);
    row12.SetValue(3, 3);
    row12.SetValue(4, 4);
    row12.SetValue(5, 5);
    row12.SetValue(6, 6);
    row12.SetValue(7, 7);
    set_flag(PIPE_S, PIPE_V, EVENT_ID1);
    wait_flag(PIPE_S, PIPE_V, EVENT_ID1);
    UbRow3 row13;
    TASSIGN(row13, pattern_ub + 32);
    TADDS(row13, row11, (int32_t)8);
    pipe_barrier(PIPE_V);
    UbRow4 row14;
    TASSIGN(row14, pattern_ub + 64);
    UbRow4 row15;
    TASSIGN(row15, pattern_ub);
    TADDS(row14, row15, (int32_t)16);
    pipe_barrier(PIPE_V);
    UbRow5 row16;
    TASSIGN(row16, pattern_ub);
    TMINS(row16, row16, (int32_t)7);
    pipe_barrier(PIPE_V);
    UbRow5 row17;
    TASSIGN(row17, pattern_ub + 128);
    TADDS(row17, row16, (int32_t)8);
    pipe_barrier(PIPE_V);
    UbRow6 row18;
    TASSIGN(row18, pattern_ub + 256);
    UbRow6 row19;
    TASSIGN(row19, pattern_ub);
    TADDS(row18, row19, (int32_t)16);
    pipe_barrier(PIPE_V);
    UbRow7 row20;
    TASSIGN(row20, pattern_ub + 512);
    UbRow7 row21;
    TASSIGN(row21, pattern_ub);
    TADDS(row20, row21, (int32_t)32);
    UbRow7 row22;
    TASSIGN(row22, pattern_ub + 1024);
    TADDS(row22, row21, (int32_t)64);
    UbRow3 row23;
    TASSIGN(row23, base_ub + 32);
    TADDS(row23, row12, (int32_t)8);
    pipe_barrier(PIPE_V);
    UbRow4 row24;
    TASSIGN(row24, base_ub + 64);
    UbRow4 row25;
    TASSIGN(row25, base_ub);
    TADDS(row24, row25, (int32_t)16);
    pipe_barrier(PIPE_V);
    UbRow5 row26;
    TASSIGN(row26, base_ub + 128);
    UbRow5 row27;
    TASSIGN(row27, base_ub);
    TADDS(row26, row27, (int32_t)0);
    pipe_barrier(PIPE_V);
    UbRow6 row28;
    TASSIGN(row28, base_ub + 256);
    UbRow6 row29;
    TASSIGN(row29, base_ub);
    TADDS(row28, row29, (int32_t)0);
    pipe_barrier(PIPE_V);
    UbRow7 row30;
    TASSIGN(row30, base_ub + 512);
    UbRow7 row31;
    TASSIGN(row31, base_ub);
    TADDS(row30, row31, (int32_t)0);
    UbRow7 row32;
    TASSIGN(row32, base_ub + 1024);
    TADDS(row32, row31, (int32_t)0);

    uint32_t turn_data = 1, turn_indices = 1, turn_output = 1;
    uint32_t sync0 = 0, sync1 = 0; // runs of the syncs with lag 1
    for (uint32_t task = get_block_idx(); task < 5; task += tilec_kernel_gather_elements_cores) {
        const int32_t iv_t1 = (int32_t)(task % 5) * 8;
        // sync V -> MTE2 lag 1
        set_flag(PIPE_V, PIPE_MTE2, (event_t)(1 + (sync0 & 1)));
        if (sync0 > 0) wait_flag(PIPE_V, PIPE_MTE2, (event_t)(1 + ((sync0 - 1) & 1)));
        sync0++;
        // load %data[0, %t1][20, 8] to %data_ub
        turn_data ^= 1;
        GmData load0(gm_data + iv_t1);
        UbData tile0;
        TASSIGN(tile0, ub_data[turn_data]);
        TLOAD(tile0, load0);
        // load %indices[0, %t1][12, 8] to %indices_ub
        turn_indices ^= 1;
        GmIndex load1(gm_indices + iv_t1);
        UbIndex tile1;
        TASSIGN(tile1, ub_indices[turn_indices]);
        TLOAD(tile1, load1);
        // sync MTE3 -> V lag 1
        set_flag(PIPE_MTE3, PIPE_V, (event_t)(1 + (sync1 & 1)));
        if (sync1 > 0) wait_flag(PIPE_MTE3, PIPE_V, (event_t)(1 + ((sync1 - 1) & 1)));
        sync1++;
        // sync MTE2 -> V
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
        // gather %data_ub[0, 0][20, 8], %indices_ub[0, 0][12, 8] to %output_ub[0, 0][12, 8] (d0, d1) -> (from_end(%indices_ub[d0, d1]), d1) {oob = clamp, origin = [0, %t1], scratch = %addresses_ub, %pattern_ub, %base_ub, %widened_ub}
        turn_output ^= 1;
        UbBytes row0;
        TASSIGN(row0, ub_data[turn_data]);
        UbHalves row1;
        TASSIGN(row1, widened_ub);
        pipe_barrier(PIPE_V);
        TCVT(row1, row0, RoundMode::CAST_NONE);
        pipe_barrier(PIPE_V);
        UbRow row2;
        TASSIGN(row2, ub_output[turn_output]);
        UbRow row3;
        TASSIGN(row3, ub_indices[turn_indices]);
        TSHRS(row2, row3, (int32_t)31);
        pipe_barrier(PIPE_V);
        TMULS(row2, row2, (int32_t)-20);
        pipe_barrier(PIPE_V);
        TADD(row3, row3, row2);
        pipe_barrier(PIPE_V);
        TMAXS(row3, row3, (int32_t)0);
        pipe_barrier(PIPE_V);
        TMINS(row3, row3, (int32_t)19);
        pipe_barrier(PIPE_V);
        TMULS(row3, row3, (int32_t)32);
        pipe_barrier(PIPE_V);
        UbRow2 row4;
        TASSIGN(row4, pattern_ub);
        UbRow2 row5;
        TASSIGN(row5, addresses_ub);
        TGATHER(row5, row3, row4, row4);
        pipe_barrier(PIPE_V);
        UbRow2 row6;
        TASSIGN(row6, base_ub);
        TADD(row5, row5, row6);
        pipe_barrier(PIPE_V);
        UbSource row7;
        TASSIGN(row7, widened_ub);
        UbWords row8;
        TASSIGN(row8, widened_ub + 1280);
        TGATHER(row8, row7, row5, row5);
        UbHalves2 row9;
        TASSIGN(row9, widened_ub + 1280);
        UbBytes2 row10;
        TASSIGN(row10, ub_output[turn_output]);
        pipe_barrier(PIPE_V);
        TCVT(row10, row9, RoundMode::CAST_TRUNC, SaturationMode::ON);
        // sync V -> MTE3
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
        // store %output_ub to %output[0, %t1][12, 8]
        GmOutput store0(gm_output + iv_t1);
        UbOutput tile2;
        TASSIGN(tile2, ub_output[turn_output]);
        TSTORE(store0, tile2);
    }
    // the last flag of each sync with lag 1
    if (sync0 > 0) wait_flag(PIPE_V, PIPE_MTE2, (event_t)(1 + ((sync0 - 1) & 1)));
    if (sync1 > 0) wait_flag(PIPE_MTE3, PIPE_V, (event_t)(1 + ((sync1 - 1) & 1)));
}
