// tilec emit pto: @gather for ascend-a2, 2 cores, 134400 of 196608 B of UB
// blocks: 2
#include <cstdint>
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr uint32_t tilec_kernel_gather_cores = 2;

extern "C" __global__ AICORE void tilec_kernel_gather(__gm__ int32_t* gm_data, __gm__ int32_t* gm_indices, __gm__ int32_t* gm_output)
{
    constexpr uint64_t ub_data[2] = {0, 19200};
    constexpr uint64_t ub_indices[2] = {38400, 57600};
    constexpr uint64_t ub_output[2] = {76800, 96000};
    constexpr uint64_t base_ub = 115200; // where the place of each word begins in the data tile
    using UbData = Tile<TileType::Vec, int32_t, 300, 16, BLayout::RowMajor, 300, DYNAMIC>;
    using UbIndex = Tile<TileType::Vec, int32_t, 300, 16, BLayout::RowMajor, 300, DYNAMIC>;
    using UbRow = Tile<TileType::Vec, int32_t, 1, 4800, BLayout::RowMajor, 1, 4800>;
    using UbRow2 = Tile<TileType::Vec, int32_t, 1, 8, BLayout::RowMajor, 1, 8>;
    using UbRow3 = Tile<TileType::Vec, int32_t, 1, 16, BLayout::RowMajor, 1, 16>;
    using UbRow4 = Tile<TileType::Vec, int32_t, 1, 32, BLayout::RowMajor, 1, 32>;
    using UbRow5 = Tile<TileType::Vec, int32_t, 1, 64, BLayout::RowMajor, 1, 64>;
    using UbRow6 = Tile<TileType::Vec, int32_t, 1, 128, BLayout::RowMajor, 1, 128>;
    using UbRow7 = Tile<TileType::Vec, int32_t, 1, 256, BLayout::RowMajor, 1, 256>;
    using UbRow8 = Tile<TileType::Vec, int32_t, 1, 512, BLayout::RowMajor, 1, 512>;
    using UbRow9 = Tile<TileType::Vec, int32_t, 1, 1024, BLayout::RowMajor, 1, 1024>;
    using UbRow10 = Tile<TileType::Vec, int32_t, 1, 2048, BLayout::RowMajor, 1, 2048>;
    using UbRow11 = Tile<TileType::Vec, int32_t, 1, 704, BLayout::RowMajor, 1, 704>;
    using UbSource = Tile<TileType::Vec, int32_t, 1, 4800, BLayout::RowMajor, 1, 4800>;
    using UbWords = Tile<TileType::Vec, int32_t, 1, 4800, BLayout::RowMajor, 1, 4800>;
    using UbOutput = Tile<TileType::Vec, int32_t, 300, 16, BLayout::RowMajor, 300, DYNAMIC>;
    using GmData = GlobalTensor<int32_t, Shape<1, 1, 1, 300, DYNAMIC>, Stride<1, 1, 1, 40, 1>, Layout::ND>;
    using GmIndex = GlobalTensor<int32_t, Shape<1, 1, 1, 300, DYNAMIC>, Stride<1, 1, 1, 40, 1>, Layout::ND>;
    using GmOutput = GlobalTensor<int32_t, Shape<1, 1, 1, 300, DYNAMIC>, Stride<1, 1, 1, 40, 1>, Layout::ND>;

    set_mask_norm();
    set_vector_mask(-1, -1);
    UbRow2 row4;
    TASSIGN(row4, base_ub);
    row4.SetValue(0, 0);
    row4.SetValue(1, 1);
    row4.SetValue(2, 2);
    row4.SetValue(3, 3);
    row4.SetValue(4, 4);
    row4.SetValue(5, 5);
    row4.SetValue(6, 6);
    row4.SetValue(7, 7);
    set_flag(PIPE_S, PIPE_V, EVENT_ID1);
    wait_flag(PIPE_S, PIPE_V, EVENT_ID1);
    UbRow2 row5;
    TASSIGN(row5, base_ub + 32);
    TADDS(row5, row4, (int32_t)8);
    pipe_barrier(PIPE_V);
    UbRow3 row6;
    TASSIGN(row6, base_ub + 64);
    UbRow3 row7;
    TASSIGN(row7, base_ub);
    TADDS(row6, row7, (int32_t)0);
    pipe_barrier(PIPE_V);
    UbRow4 row8;
    TASSIGN(row8, base_ub + 128);
    UbRow4 row9;
    TASSIGN(row9, base_ub);
    TADDS(row8, row9, (int32_t)0);
    pipe_barrier(PIPE_V);
    UbRow5 row10;
    TASSIGN(row10, base_ub + 256);
    UbRow5 row11;
    TASSIGN(row11, base_ub);
    TADDS(row10, row11, (int32_t)0);
    pipe_barrier(PIPE_V);
    UbRow6 row12;
    TASSIGN(row12, base_ub + 512);
    UbRow6 row13;
    TASSIGN(row13, base_ub);
    TADDS(row12, row13, (int32_t)0);
    pipe_barrier(PIPE_V);
    UbRow7 row14;
    TASSIGN(row14, base_ub + 1024);
    UbRow7 row15;
    TASSIGN(row15, base_ub);
    TADDS(row14, row15, (int32_t)0);
    pipe_barrier(PIPE_V);
    UbRow8 row16;
    TASSIGN(row16, base_ub + 2048);
    UbRow8 row17;
    TASSIGN(row17, base_ub);
    TADDS(row16, row17, (int32_t)0);
    pipe_barrier(PIPE_V);
    UbRow9 row18;
    TASSIGN(row18, base_ub + 4096);
    UbRow9 row19;
    TASSIGN(row19, base_ub);
    TADDS(row18, row19, (int32_t)0);
    pipe_barrier(PIPE_V);
    UbRow10 row20;
    TASSIGN(row20, base_ub + 8192);
    UbRow10 row21;
    TASSIGN(row21, base_ub);
    TADDS(row20, row21, (int32_t)0);
    UbRow11 row22;
    TASSIGN(row22, base_ub + 16384);
    UbRow11 row23;
    TASSIGN(row23, base_ub);
    TADDS(row22, row23, (int32_t)0);

    uint32_t turn_data = 1, turn_indices = 1, turn_output = 1;
    uint32_t sync0 = 0, sync1 = 0; // runs of the syncs with lag 1
    for (uint32_t task = get_block_idx(); task < 3; task += tilec_kernel_gather_cores) {
        const int32_t iv_t1 = (int32_t)(task % 3) * 16;
        const int32_t n1 = 40 - iv_t1 < 16 ? 40 - iv_t1 : 16;
        // sync V -> MTE2 lag 1
        set_flag(PIPE_V, PIPE_MTE2, (event_t)(1 + (sync0 & 1)));
        if (sync0 > 0) wait_flag(PIPE_V, PIPE_MTE2, (event_t)(1 + ((sync0 - 1) & 1)));
        sync0++;
        // load %data[0, %t1][300, min(16, 40 - %t1)] to %data_ub
        turn_data ^= 1;
        GmData load0(gm_data + iv_t1, GmData::Shape((int64_t)n1));
        UbData tile0(n1);
        TASSIGN(tile0, ub_data[turn_data]);
        TLOAD(tile0, load0);
        // load %indices[0, %t1][300, min(16, 40 - %t1)] to %indices_ub
        turn_indices ^= 1;
        GmIndex load1(gm_indices + iv_t1, GmIndex::Shape((int64_t)n1));
        UbIndex tile1(n1);
        TASSIGN(tile1, ub_indices[turn_indices]);
        TLOAD(tile1, load1);
        // sync MTE3 -> V lag 1
        set_flag(PIPE_MTE3, PIPE_V, (event_t)(1 + (sync1 & 1)));
        if (sync1 > 0) wait_flag(PIPE_MTE3, PIPE_V, (event_t)(1 + ((sync1 - 1) & 1)));
        sync1++;
        // sync MTE2 -> V
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
        // gather %data_ub[0, 0][300, min(16, 40 - %t1)], %indices_ub[0, 0][300, min(16, 40 - %t1)] to %output_ub[0, 0][300, min(16, 40 - %t1)] (d0, d1) -> (%indices_ub[d0, d1], d1) {oob = clamp, origin = [0, %t1], scratch = %base_ub}
        turn_output ^= 1;
        pipe_barrier(PIPE_V);
        UbRow row0;
        TASSIGN(row0, ub_indices[turn_indices]);
        TMAXS(row0, row0, (int32_t)0);
        pipe_barrier(PIPE_V);
        TMINS(row0, row0, (int32_t)299);
        pipe_barrier(PIPE_V);
        TMULS(row0, row0, (int32_t)16);
        pipe_barrier(PIPE_V);
        UbRow row1;
        TASSIGN(row1, base_ub);
        TADD(row0, row0, row1);
        pipe_barrier(PIPE_V);
        UbSource row2;
        TASSIGN(row2, ub_data[turn_data]);
        UbWords row3;
        TASSIGN(row3, ub_output[turn_output]);
        TGATHER(row3, row2, row0, row0);
        // sync V -> MTE3
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
        // store %output_ub to %output[0, %t1][300, min(16, 40 - %t1)]
        GmOutput store0(gm_output + iv_t1, GmOutput::Shape((int64_t)n1));
        UbOutput tile2(n1);
        TASSIGN(tile2, ub_output[turn_output]);
        TSTORE(store0, tile2);
    }
    // the last flag of each sync with lag 1
    if (sync0 > 0) wait_flag(PIPE_V, PIPE_MTE2, (event_t)(1 + ((sync0 - 1) & 1)));
    if (sync1 > 0) wait_flag(PIPE_MTE3, PIPE_V, (event_t)(1 + ((sync1 - 1) & 1)));
}
