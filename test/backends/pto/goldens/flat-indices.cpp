// tilec emit pto: @take_along_axis for ascend-a2, 2 cores, 7200 of 196608 B of UB
// blocks: 2
#include <cstdint>
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr uint32_t tilec_kernel_take_along_axis_cores = 2;

extern "C" __global__ AICORE void tilec_kernel_take_along_axis(__gm__ int32_t* gm_data, __gm__ int16_t* gm_indices, __gm__ int32_t* gm_output)
{
    constexpr uint64_t ub_data[2] = {0, 1280};
    constexpr uint64_t ub_indices[2] = {2560, 2944};
    constexpr uint64_t ub_output[2] = {3328, 4096};
    constexpr uint64_t narrow_ub = 4864; // index values of other sizes, as 32-bit ones
    constexpr uint64_t base_ub = 6400; // where the place of each word begins in the data tile
    constexpr uint64_t border_ub = 7168; // a block of zeros, for index values outside
    using UbData = Tile<TileType::Vec, int32_t, 20, 16, BLayout::RowMajor, 20, DYNAMIC>;
    using UbIndex = Tile<TileType::Vec, int16_t, 12, 16, BLayout::RowMajor, 12, DYNAMIC>;
    using UbShort = Tile<TileType::Vec, int16_t, 1, 192, BLayout::RowMajor, 1, 192>;
    using UbFloats = Tile<TileType::Vec, float, 1, 192, BLayout::RowMajor, 1, 192>;
    using UbRow = Tile<TileType::Vec, int32_t, 1, 192, BLayout::RowMajor, 1, 192>;
    using UbRow2 = Tile<TileType::Vec, int32_t, 1, 8, BLayout::RowMajor, 1, 8>;
    using UbRow3 = Tile<TileType::Vec, int32_t, 1, 16, BLayout::RowMajor, 1, 16>;
    using UbRow4 = Tile<TileType::Vec, int32_t, 1, 32, BLayout::RowMajor, 1, 32>;
    using UbRow5 = Tile<TileType::Vec, int32_t, 1, 64, BLayout::RowMajor, 1, 64>;
    using UbSource = Tile<TileType::Vec, int32_t, 1, 320, BLayout::RowMajor, 1, 320>;
    using UbWords = Tile<TileType::Vec, int32_t, 1, 192, BLayout::RowMajor, 1, 192>;
    using UbOutput = Tile<TileType::Vec, int32_t, 12, 16, BLayout::RowMajor, 12, DYNAMIC>;
    using GmData = GlobalTensor<int32_t, Shape<1, 1, 1, 20, DYNAMIC>, Stride<1, 1, 1, 40, 1>, Layout::ND>;
    using GmIndex = GlobalTensor<int16_t, Shape<1, 1, 1, 12, DYNAMIC>, Stride<1, 1, 1, 40, 1>, Layout::ND>;
    using GmOutput = GlobalTensor<int32_t, Shape<1, 1, 1, 12, DYNAMIC>, Stride<1, 1, 1, 40, 1>, Layout::ND>;

    set_mask_norm();
    set_vector_mask(-1, -1);
    UbRow2 row8;
    TASSIGN(row8, base_ub);
    row8.SetValue(0, 0);
    row8.SetValue(1, 1);
    row8.SetValue(2, 2);
    row8.SetValue(3, 3);
    row8.SetValue(4, 4);
    row8.SetValue(5, 5);
    row8.SetValue(6, 6);
    row8.SetValue(7, 7);
    set_flag(PIPE_S, PIPE_V, EVENT_ID1);
    wait_flag(PIPE_S, PIPE_V, EVENT_ID1);
    UbRow2 row9;
    TASSIGN(row9, base_ub + 32);
    TADDS(row9, row8, (int32_t)8);
    pipe_barrier(PIPE_V);
    UbRow3 row10;
    TASSIGN(row10, base_ub + 64);
    UbRow3 row11;
    TASSIGN(row11, base_ub);
    TADDS(row10, row11, (int32_t)0);
    pipe_barrier(PIPE_V);
    UbRow4 row12;
    TASSIGN(row12, base_ub + 128);
    UbRow4 row13;
    TASSIGN(row13, base_ub);
    TADDS(row12, row13, (int32_t)0);
    pipe_barrier(PIPE_V);
    UbRow5 row14;
    TASSIGN(row14, base_ub + 256);
    UbRow5 row15;
    TASSIGN(row15, base_ub);
    TADDS(row14, row15, (int32_t)0);
    UbRow5 row16;
    TASSIGN(row16, base_ub + 512);
    TADDS(row16, row15, (int32_t)0);
    UbRow2 row17;
    TASSIGN(row17, border_ub);
    TEXPANDS(row17, (int32_t)0);

    uint32_t turn_data = 1, turn_indices = 1, turn_output = 1;
    uint32_t sync0 = 0, sync1 = 0; // runs of the syncs with lag 1
    for (uint32_t task = get_block_idx(); task < 3; task += tilec_kernel_take_along_axis_cores) {
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
        // load %indices[0, %t1][12, min(16, 40 - %t1)] to %indices_ub
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
        // gather %data_ub[0, 0][20, min(16, 40 - %t1)], %indices_ub[0, 0][12, min(16, 40 - %t1)] to %output_ub[0, 0][12, min(16, 40 - %t1)] (d0, d1) -> (from_end(%indices_ub[d0, d1]), d1) {oob = zero, origin = [0, %t1], scratch = %narrow_ub, %base_ub, %border_ub}
        turn_output ^= 1;
        pipe_barrier(PIPE_V);
        UbShort row0;
        TASSIGN(row0, ub_indices[turn_indices]);
        UbFloats row1;
        TASSIGN(row1, narrow_ub + 768);
        UbRow row2;
        TASSIGN(row2, narrow_ub);
        TCVT(row1, row0, RoundMode::CAST_NONE);
        pipe_barrier(PIPE_V);
        TCVT(row2, row1, RoundMode::CAST_TRUNC);
        pipe_barrier(PIPE_V);
        UbRow row3;
        TASSIGN(row3, narrow_ub + 768);
        TEXPANDS(row3, (int32_t)65535);
        pipe_barrier(PIPE_V);
        TAND(row2, row2, row3);
        pipe_barrier(PIPE_V);
        UbRow row4;
        TASSIGN(row4, ub_output[turn_output]);
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
        TMULS(row2, row2, (int32_t)67108864);
        TMULS(row4, row4, (int32_t)16);
        pipe_barrier(PIPE_V);
        TADD(row2, row4, row2);
        pipe_barrier(PIPE_V);
        UbRow row5;
        TASSIGN(row5, base_ub);
        TADD(row2, row2, row5);
        pipe_barrier(PIPE_V);
        TMINS(row2, row2, (int32_t)((border_ub - ub_data[turn_data]) / 4));
        pipe_barrier(PIPE_V);
        UbSource row6;
        TASSIGN(row6, ub_data[turn_data]);
        UbWords row7;
        TASSIGN(row7, ub_output[turn_output]);
        TGATHER(row7, row6, row2, row2);
        // sync V -> MTE3
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
        // store %output_ub to %output[0, %t1][12, min(16, 40 - %t1)]
        GmOutput store0(gm_output + iv_t1, GmOutput::Shape((int64_t)n1));
        UbOutput tile2(n1);
        TASSIGN(tile2, ub_output[turn_output]);
        TSTORE(store0, tile2);
    }
    // the last flag of each sync with lag 1
    if (sync0 > 0) wait_flag(PIPE_V, PIPE_MTE2, (event_t)(1 + ((sync0 - 1) & 1)));
    if (sync1 > 0) wait_flag(PIPE_MTE3, PIPE_V, (event_t)(1 + ((sync1 - 1) & 1)));
}
