// tilec emit pto: @gather_nd for ascend-a2, 2 cores, 6912 of 196608 B of UB
// blocks: 1
#include <cstdint>
#include <pto/pto-inst.hpp>
using namespace pto;

extern "C" __global__ AICORE void tilec_kernel_gather_nd(__gm__ int32_t* gm_data, __gm__ int64_t* gm_indices, __gm__ int32_t* gm_output, __gm__ int32_t* status)
{
    constexpr uint64_t ub_data = 0;
    constexpr uint64_t ub_indices[2] = {1920, 3456};
    constexpr uint64_t ub_output[2] = {4992, 5184};
    constexpr uint64_t narrow_ub = 5376; // index values of other sizes, as 32-bit ones
    constexpr uint64_t addresses_ub = 6144; // index values, then addresses in the data tile
    constexpr uint64_t pattern_ub = 6528; // which index value each word of the output takes
    constexpr uint64_t seen_ub = 6720; // marks of index values outside
    using UbData = Tile<TileType::Vec, int32_t, 30, 16, BLayout::RowMajor, 30, 9>;
    using UbIndex = Tile<TileType::Vec, int64_t, 48, 4, BLayout::RowMajor, DYNAMIC, 2>;
    using UbWide = Tile<TileType::Vec, int64_t, 1, 192, BLayout::RowMajor, 1, 192>;
    using UbNarrow = Tile<TileType::Vec, int32_t, 1, 192, BLayout::RowMajor, 1, 192>;
    using UbRow = Tile<TileType::Vec, int32_t, 1, 48, BLayout::RowMajor, 1, 48>;
    using UbRow2 = Tile<TileType::Vec, int32_t, 1, 192, BLayout::RowMajor, 1, 192>;
    using UbRow3 = Tile<TileType::Vec, int32_t, 1, 8, BLayout::RowMajor, 1, 8>;
    using UbRow4 = Tile<TileType::Vec, int32_t, 1, 16, BLayout::RowMajor, 1, 16>;
    using UbRow5 = Tile<TileType::Vec, int32_t, 1, 24, BLayout::RowMajor, 1, 24>;
    using UbSeen = Tile<TileType::Vec, int32_t, 1, 48, BLayout::RowMajor, 1, DYNAMIC>;
    using UbSource = Tile<TileType::Vec, int32_t, 1, 480, BLayout::RowMajor, 1, 480>;
    using UbWords = Tile<TileType::Vec, int32_t, 1, 48, BLayout::RowMajor, 1, 48>;
    using UbOutput = Tile<TileType::Vec, int32_t, 1, 48, BLayout::RowMajor, 1, DYNAMIC>;
    using GmData = GlobalTensor<int32_t, Shape<1, 1, 1, 30, 9>, Stride<1, 1, 1, 9, 1>, Layout::ND>;
    using GmIndex = GlobalTensor<int64_t, Shape<1, 1, 1, DYNAMIC, 2>, Stride<1, 1, 1, 2, 1>, Layout::ND>;
    using GmOutput = GlobalTensor<int32_t, Shape<1, 1, 1, 1, DYNAMIC>, Stride<1, 1, 1, 1, 1>, Layout::ND>;

    set_mask_norm();
    set_vector_mask(-1, -1);
    if (get_block_idx() != 0) return;
    UbRow3 row13;
    TASSIGN(row13, pattern_ub);
    row13.SetValue(0, 0);
    row13.SetValue(1, 4);
    row13.SetValue(2, 8);
    row13.SetValue(3, 12);
    row13.SetValue(4, 16);
    row13.SetValue(5, 20);
    row13.SetValue(6, 24);
    row13.SetValue(7, 28);
    set_flag(PIPE_S, PIPE_V, EVENT_ID1);
    wait_flag(PIPE_S, PIPE_V, EVENT_ID1);
    UbRow3 row14;
    TASSIGN(row14, pattern_ub + 32);
    TADDS(row14, row13, (int32_t)32);
    pipe_barrier(PIPE_V);
    UbRow4 row15;
    TASSIGN(row15, pattern_ub + 64);
    UbRow4 row16;
    TASSIGN(row16, pattern_ub);
    TADDS(row15, row16, (int32_t)64);
    UbRow4 row17;
    TASSIGN(row17, pattern_ub + 128);
    TADDS(row17, row16, (int32_t)128);
    UbRow row18;
    TASSIGN(row18, seen_ub);
    TEXPANDS(row18, (int32_t)0);

    uint32_t turn_indices = 1, turn_output = 1;
    uint32_t sync0 = 0, sync1 = 0; // runs of the syncs with lag 1
    bool bad = false;
    // load %data[0, 0][30, 9] to %data_ub
    GmData load0(gm_data);
    UbData tile0;
    TASSIGN(tile0, ub_data);
    TLOAD(tile0, load0);
    // sync MTE2 -> S
    set_flag(PIPE_MTE2, PIPE_S, EVENT_ID1);
    wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID1);
    for (int32_t iv_t0 = 0; iv_t0 < 100; iv_t0 += 48) {
        const int32_t n0 = 100 - iv_t0 < 48 ? 100 - iv_t0 : 48;
        // sync S -> MTE2 lag 1
        set_flag(PIPE_S, PIPE_MTE2, (event_t)(1 + (sync0 & 1)));
        if (sync0 > 0) wait_flag(PIPE_S, PIPE_MTE2, (event_t)(1 + ((sync0 - 1) & 1)));
        sync0++;
        // load %indices[%t0, 0][min(48, 100 - %t0), 2] to %indices_ub
        turn_indices ^= 1;
        GmIndex load1(gm_indices + iv_t0 * 2, GmIndex::Shape((int64_t)n0));
        UbIndex tile1(n0);
        TASSIGN(tile1, ub_indices[turn_indices]);
        TLOAD(tile1, load1);
        // sync MTE3 -> S lag 1
        set_flag(PIPE_MTE3, PIPE_S, (event_t)(1 + (sync1 & 1)));
        if (sync1 > 0) wait_flag(PIPE_MTE3, PIPE_S, (event_t)(1 + ((sync1 - 1) & 1)));
        sync1++;
        // sync MTE2 -> S
        set_flag(PIPE_MTE2, PIPE_S, EVENT_ID2);
        wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID2);
        // gather %data_ub[0, 0][30, 9], %indices_ub[0, 0][min(48, 100 - %t0), 2] to %output_ub[0][min(48, 100 - %t0)] (d0) -> (from_end(%indices_ub[d0, 0]), from_end(%indices_ub[d0, 1])) {oob = error, origin = [%t0, 0], scratch = %narrow_ub, %addresses_ub, %pattern_ub, %seen_ub}
        set_flag(PIPE_S, PIPE_V, EVENT_ID7);
        wait_flag(PIPE_S, PIPE_V, EVENT_ID7);
        turn_output ^= 1;
        pipe_barrier(PIPE_V);
        UbWide row0;
        TASSIGN(row0, ub_indices[turn_indices]);
        UbNarrow row1;
        TASSIGN(row1, narrow_ub);
        TCVT(row1, row0, RoundMode::CAST_NONE, SaturationMode::ON);
        pipe_barrier(PIPE_V);
        UbRow row2;
        TASSIGN(row2, pattern_ub);
        UbRow row3;
        TASSIGN(row3, addresses_ub);
        UbRow2 row4;
        TASSIGN(row4, narrow_ub);
        TGATHER(row3, row4, row2, row2);
        pipe_barrier(PIPE_V);
        UbRow row5;
        TASSIGN(row5, ub_output[turn_output]);
        TSHRS(row5, row3, (int32_t)31);
        pipe_barrier(PIPE_V);
        TMULS(row5, row5, (int32_t)-30);
        pipe_barrier(PIPE_V);
        TADD(row3, row3, row5);
        pipe_barrier(PIPE_V);
        TMAXS(row5, row3, (int32_t)0);
        pipe_barrier(PIPE_V);
        TMINS(row5, row5, (int32_t)29);
        pipe_barrier(PIPE_V);
        TSUB(row3, row3, row5);
        pipe_barrier(PIPE_V);
        UbSeen row7(n0);
        TASSIGN(row7, seen_ub);
        UbSeen row6(n0);
        TASSIGN(row6, addresses_ub);
        TOR(row7, row7, row6);
        pipe_barrier(PIPE_V);
        TMULS(row3, row5, (int32_t)16);
        TADDS(row2, row2, (int32_t)1);
        pipe_barrier(PIPE_V);
        UbRow row8;
        TASSIGN(row8, addresses_ub + 192);
        TGATHER(row8, row4, row2, row2);
        pipe_barrier(PIPE_V);
        TSHRS(row5, row8, (int32_t)31);
        pipe_barrier(PIPE_V);
        TMULS(row5, row5, (int32_t)-9);
        pipe_barrier(PIPE_V);
        TADD(row8, row8, row5);
        pipe_barrier(PIPE_V);
        TMAXS(row5, row8, (int32_t)0);
        pipe_barrier(PIPE_V);
        TMINS(row5, row5, (int32_t)8);
        pipe_barrier(PIPE_V);
        TSUB(row8, row8, row5);
        pipe_barrier(PIPE_V);
        UbSeen row10(n0);
        TASSIGN(row10, seen_ub);
        UbSeen row9(n0);
        TASSIGN(row9, addresses_ub + 192);
        TOR(row10, row10, row9);
        TADD(row3, row3, row5);
        TADDS(row2, row2, (int32_t)-1);
        pipe_barrier(PIPE_V);
        UbSource row11;
        TASSIGN(row11, ub_data);
        UbWords row12;
        TASSIGN(row12, ub_output[turn_output]);
        TGATHER(row12, row11, row3, row3);
        set_flag(PIPE_V, PIPE_S, EVENT_ID7);
        wait_flag(PIPE_V, PIPE_S, EVENT_ID7);
        // sync S -> MTE3
        set_flag(PIPE_S, PIPE_MTE3, EVENT_ID1);
        wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID1);
        // store %output_ub to %output[%t0][min(48, 100 - %t0)]
        GmOutput store0(gm_output + iv_t0, GmOutput::Shape((int64_t)n0));
        UbOutput tile2(n0);
        TASSIGN(tile2, ub_output[turn_output]);
        TSTORE(store0, tile2);
    }
    // the last flag of each sync with lag 1
    if (sync0 > 0) wait_flag(PIPE_S, PIPE_MTE2, (event_t)(1 + ((sync0 - 1) & 1)));
    if (sync1 > 0) wait_flag(PIPE_MTE3, PIPE_S, (event_t)(1 + ((sync1 - 1) & 1)));
    pipe_barrier(PIPE_V);
    UbRow5 row19;
    TASSIGN(row19, seen_ub);
    UbRow5 row20;
    TASSIGN(row20, seen_ub + 96);
    TOR(row19, row19, row20);
    pipe_barrier(PIPE_V);
    UbRow3 row21;
    TASSIGN(row21, seen_ub);
    UbRow3 row22;
    TASSIGN(row22, seen_ub + 64);
    TOR(row21, row21, row22);
    pipe_barrier(PIPE_V);
    UbRow3 row23;
    TASSIGN(row23, seen_ub + 32);
    TOR(row21, row21, row23);
    set_flag(PIPE_V, PIPE_S, EVENT_ID7);
    wait_flag(PIPE_V, PIPE_S, EVENT_ID7);
    for (int32_t c = 0; c < 8; c++) bad = bad || row21.GetValue(c) != 0;
    if (bad) status[get_block_idx()] = 1;
}
