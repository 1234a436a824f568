// tilec emit pto: @gather for ascend-a2, 2 cores, 2176 of 196608 B of UB
// blocks: 2
#include <cstdint>
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr uint32_t tilec_kernel_gather_cores = 2;

extern "C" __global__ AICORE void tilec_kernel_gather(__gm__ int32_t* gm_data, __gm__ int32_t* gm_indices, __gm__ int32_t* gm_output, __gm__ int32_t* status)
{
    constexpr uint64_t ub_data = 0;
    constexpr uint64_t ub_indices = 1024;
    constexpr uint64_t ub_output = 1088;
    constexpr uint64_t addresses_ub = 1344; // index values, then addresses in the data tile
    constexpr uint64_t pattern_ub = 1600; // which index value each word of the output takes
    constexpr uint64_t base_ub = 1856; // where the place of each word begins in the data tile
    constexpr uint64_t seen_ub = 2112; // marks of index values outside
    using UbData = Tile<TileType::Vec, int32_t, 4, 64, BLayout::RowMajor, DYNAMIC, 64>;
    using UbIndex = Tile<TileType::Vec, int32_t, 1, 16, BLayout::RowMajor, 1, DYNAMIC>;
    using UbRow = Tile<TileType::Vec, int32_t, 1, 16, BLayout::RowMajor, 1, 16>;
    using UbRow2 = Tile<TileType::Vec, int32_t, 1, 64, BLayout::RowMajor, 1, 64>;
    using UbRow3 = Tile<TileType::Vec, int32_t, 1, 8, BLayout::RowMajor, 1, 8>;
    using UbRow4 = Tile<TileType::Vec, int32_t, 1, 32, BLayout::RowMajor, 1, 32>;
    using UbSeen = Tile<TileType::Vec, int32_t, 1, 16, BLayout::RowMajor, 1, DYNAMIC>;
    using UbSource = Tile<TileType::Vec, int32_t, 1, 256, BLayout::RowMajor, 1, 256>;
    using UbWords = Tile<TileType::Vec, int32_t, 1, 64, BLayout::RowMajor, 1, 64>;
    using UbOutput = Tile<TileType::Vec, int32_t, 4, 16, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
    using GmData = GlobalTensor<int32_t, Shape<1, 1, 1, DYNAMIC, 64>, Stride<1, 1, 1, 64, 1>, Layout::ND>;
    using GmIndex = GlobalTensor<int32_t, Shape<1, 1, 1, 1, DYNAMIC>, Stride<1, 1, 1, 1, 1>, Layout::ND>;
    using GmOutput = GlobalTensor<int32_t, Shape<1, 1, 1, DYNAMIC, DYNAMIC>, Stride<1, 1, 1, 40, 1>, Layout::ND>;

    set_mask_norm();
    set_vector_mask(-1, -1);
    UbRow3 row9;
    TASSIGN(row9, pattern_ub);
    row9.SetValue(0, 0);
    row9.SetValue(1, 1);
    row9.SetValue(2, 2);
    row9.SetValue(3, 3);
    row9.SetValue(4, 4);
    row9.SetValue(5, 5);
    row9.SetValue(6, 6);
    row9.SetValue(7, 7);
    UbRow3 row10;
    TASSIGN(row10, base_ub);
    row10.SetValue(0, 0);
    row10.SetValue(1, 0);
    row10.SetValue(2, 0);
    row10.SetValue(3, 0);
    row10.SetValue(4, 0);
    row10.SetValue(5, 0);
    row10.SetValue(6, 0);
    row10.SetValue(7, 0);
    set_flag(PIPE_S, PIPE_V, EVENT_ID1);
    wait_flag(PIPE_S, PIPE_V, EVENT_ID1);
    UbRow3 row11;
    TASSIGN(row11, pattern_ub + 32);
    TADDS(row11, row9, (int32_t)8);
    pipe_barrier(PIPE_V);
    UbRow row12;
    TASSIGN(row12, pattern_ub + 64);
    UbRow row13;
    TASSIGN(row13, pattern_ub);
    TADDS(row12, row13, (int32_t)0);
    pipe_barrier(PIPE_V);
    UbRow4 row14;
    TASSIGN(row14, pattern_ub + 128);
    UbRow4 row15;
    TASSIGN(row15, pattern_ub);
    TADDS(row14, row15, (int32_t)0);
    UbRow3 row16;
    TASSIGN(row16, base_ub + 32);
    TADDS(row16, row10, (int32_t)0);
    pipe_barrier(PIPE_V);
    UbRow row17;
    TASSIGN(row17, base_ub + 64);
    UbRow row18;
    TASSIGN(row18, base_ub);
    TADDS(row17, row18, (int32_t)64);
    pipe_barrier(PIPE_V);
    UbRow4 row19;
    TASSIGN(row19, base_ub + 128);
    UbRow4 row20;
    TASSIGN(row20, base_ub);
    TADDS(row19, row20, (int32_t)128);
    UbRow row21;
    TASSIGN(row21, seen_ub);
    TEXPANDS(row21, (int32_t)0);

    bool bad = false;
    for (uint32_t task = get_block_idx(); task < 3; task += tilec_kernel_gather_cores) {
        const int32_t iv_t0 = (int32_t)(task % 3) * 4;
        const int32_t n0 = 10 - iv_t0 < 4 ? 10 - iv_t0 : 4;
        // sync V -> MTE2
        set_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
        wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
        // load %data[%t0, 0][min(4, 10 - %t0), 64] to %data_ub
        GmData load0(gm_data + iv_t0 * 64, GmData::Shape((int64_t)n0));
        UbData tile0(n0);
        TASSIGN(tile0, ub_data);
        TLOAD(tile0, load0);
        // sync MTE2 -> V
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
        for (int32_t iv_t1 = 0; iv_t1 < 40; iv_t1 += 16) {
            const int32_t n1 = 40 - iv_t1 < 16 ? 40 - iv_t1 : 16;
            // sync V -> MTE2
            set_flag(PIPE_V, PIPE_MTE2, EVENT_ID2);
            wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID2);
            // load %indices[%t1][min(16, 40 - %t1)] to %indices_ub
            GmIndex load1(gm_indices + iv_t1, GmIndex::Shape((int64_t)n1));
            UbIndex tile1(n1);
            TASSIGN(tile1, ub_indices);
            TLOAD(tile1, load1);
            // sync MTE3 -> V
            set_flag(PIPE_MTE3, PIPE_V, EVENT_ID1);
            wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID1);
            // sync MTE2 -> V
            set_flag(PIPE_MTE2, PIPE_V, EVENT_ID2);
            wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID2);
            // gather %data_ub[0, 0][min(4, 10 - %t0), 64], %indices_ub[0][min(16, 40 - %t1)] to %output_ub[0, 0][min(4, 10 - %t0), min(16, 40 - %t1)] (d0, d1) -> (d0, from_end(%indices_ub[d1])) {oob = error, origin = [%t1], scratch = %addresses_ub, %pattern_ub, %base_ub, %seen_ub}
            pipe_barrier(PIPE_V);
            UbRow row0;
            TASSIGN(row0, ub_output);
            UbRow row1;
            TASSIGN(row1, ub_indices);
            TSHRS(row0, row1, (int32_t)31);
            pipe_barrier(PIPE_V);
            TMULS(row0, row0, (int32_t)-64);
            pipe_barrier(PIPE_V);
            TADD(row1, row1, row0);
            pipe_barrier(PIPE_V);
            TMAXS(row0, row1, (int32_t)0);
            pipe_barrier(PIPE_V);
            TMINS(row0, row0, (int32_t)63);
            pipe_barrier(PIPE_V);
            TSUB(row1, row1, row0);
            pipe_barrier(PIPE_V);
            UbSeen row3(n1);
            TASSIGN(row3, seen_ub);
            UbSeen row2(n1);
            TASSIGN(row2, ub_indices);
            TOR(row3, row3, row2);
            UbRow2 row4;
            TASSIGN(row4, pattern_ub);
            UbRow2 row5;
            TASSIGN(row5, addresses_ub);
            TGATHER(row5, row0, row4, row4);
            pipe_barrier(PIPE_V);
            UbRow2 row6;
            TASSIGN(row6, base_ub);
            TADD(row5, row5, row6);
            pipe_barrier(PIPE_V);
            UbSource row7;
            TASSIGN(row7, ub_data);
            UbWords row8;
            TASSIGN(row8, ub_output);
            TGATHER(row8, row7, row5, row5);
            // sync V -> MTE3
            set_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
            wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
            // store %output_ub to %output[%t0, %t1][min(4, 10 - %t0), min(16, 40 - %t1)]
            GmOutput store0(gm_output + iv_t0 * 40 + iv_t1, GmOutput::Shape((int64_t)n0, (int64_t)n1));
            UbOutput tile2(n0, n1);
            TASSIGN(tile2, ub_output);
            TSTORE(store0, tile2);
        }
    }
    pipe_barrier(PIPE_V);
    UbRow3 row22;
    TASSIGN(row22, seen_ub);
    UbRow3 row23;
    TASSIGN(row23, seen_ub + 32);
    TOR(row22, row22, row23);
    set_flag(PIPE_V, PIPE_S, EVENT_ID7);
    wait_flag(PIPE_V, PIPE_S, EVENT_ID7);
    for (int32_t c = 0; c < 8; c++) bad = bad || row22.GetValue(c) != 0;
    if (bad) status[get_block_idx()] = 1;
}
