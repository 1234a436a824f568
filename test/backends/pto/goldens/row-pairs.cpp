// tilec emit pto: @gather for ascend-a2, 2 cores, 2048 of 196608 B of UB
// blocks: 2
#include <cstdint>
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr uint32_t tilec_kernel_gather_cores = 2;

extern "C" __global__ AICORE void tilec_kernel_gather(__gm__ int16_t* gm_data, __gm__ int64_t* gm_indices, __gm__ int16_t* gm_output)
{
    constexpr uint64_t ub_indices[2] = {0, 192};
    constexpr uint64_t ub_output[2] = {384, 1056};
    constexpr uint64_t narrow_ub = 1728; // index values of other sizes, as 32-bit ones
    constexpr uint64_t addresses_ub = 1824; // index values, then addresses in the data tile
    constexpr uint64_t turned_ub = 1920; // pairs of rows of which the second comes first
    using UbIndex = Tile<TileType::Vec, int64_t, 1, 24, BLayout::RowMajor, 1, DYNAMIC>;
    using UbWide = Tile<TileType::Vec, int64_t, 1, 24, BLayout::RowMajor, 1, 21>;
    using UbNarrow = Tile<TileType::Vec, int32_t, 1, 24, BLayout::RowMajor, 1, 21>;
    using UbRow = Tile<TileType::Vec, int32_t, 1, 24, BLayout::RowMajor, 1, 21>;
    using UbRow2 = Tile<TileType::Vec, int16_t, 1, 16, BLayout::RowMajor, 1, DYNAMIC>;
    using UbPair = Tile<TileType::Vec, int16_t, 2, 16, BLayout::RowMajor, 2, DYNAMIC>;
    using UbZeros = Tile<TileType::Vec, int32_t, 1, 8, BLayout::RowMajor, 1, 8>;
    using UbOutput = Tile<TileType::Vec, int16_t, 21, 16, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
    using GmIndex = GlobalTensor<int64_t, Shape<1, 1, 1, 1, DYNAMIC>, Stride<1, 1, 1, 1, 1>, Layout::ND>;
    using GmData = GlobalTensor<int16_t, Shape<1, 1, 1, 2, DYNAMIC>, Stride<1, 1, 1, DYNAMIC, 1>, Layout::ND>;
    using GmData2 = GlobalTensor<int16_t, Shape<1, 1, 1, 1, DYNAMIC>, Stride<1, 1, 1, 1, 1>, Layout::ND>;
    using GmOutput = GlobalTensor<int16_t, Shape<1, 1, 1, DYNAMIC, DYNAMIC>, Stride<1, 1, 1, 20, 1>, Layout::ND>;

    set_mask_norm();
    set_vector_mask(-1, -1);

    uint32_t turn_indices = 1, turn_output = 1;
    uint32_t sync0 = 0; // runs of the syncs with lag 1
    for (uint32_t task = get_block_idx(); task < 6; task += tilec_kernel_gather_cores) {
        const int32_t iv_t1 = (int32_t)(task / 3 % 2) * 16;
        const int32_t n1 = 20 - iv_t1 < 16 ? 20 - iv_t1 : 16;
        const int32_t iv_t0 = (int32_t)(task % 3) * 21;
        const int32_t n0 = 50 - iv_t0 < 21 ? 50 - iv_t0 : 21;
        // load %indices[%t0][min(21, 50 - %t0)] to %indices_ub
        turn_indices ^= 1;
        GmIndex load0(gm_indices + iv_t0, GmIndex::Shape((int64_t)n0));
        UbIndex tile0(n0);
        TASSIGN(tile0, ub_indices[turn_indices]);
        TLOAD(tile0, load0);
        // sync MTE3 -> MTE2 lag 1
        set_flag(PIPE_MTE3, PIPE_MTE2, (event_t)(1 + (sync0 & 1)));
        if (sync0 > 0) wait_flag(PIPE_MTE3, PIPE_MTE2, (event_t)(1 + ((sync0 - 1) & 1)));
        sync0++;
        // gather %data[0, %t1][40, min(16, 20 - %t1)], %indices_ub[0][min(21, 50 - %t0)] to %output_ub[0, 0][min(21, 50 - %t0), min(16, 20 - %t1)] (d0, d1) -> (from_end(%indices_ub[d0]), d1) {oob = zero, origin = [%t0], scratch = %narrow_ub, %addresses_ub, %turned_ub}
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID7);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID7);
        turn_output ^= 1;
        pipe_barrier(PIPE_V);
        UbWide row0;
        TASSIGN(row0, ub_indices[turn_indices]);
        UbNarrow row1;
        TASSIGN(row1, narrow_ub);
        TCVT(row1, row0, RoundMode::CAST_NONE, SaturationMode::ON);
        pipe_barrier(PIPE_V);
        UbRow row2;
        TASSIGN(row2, addresses_ub);
        UbRow row3;
        TASSIGN(row3, narrow_ub);
        TSHRS(row2, row3, (int32_t)31);
        pipe_barrier(PIPE_V);
        TMULS(row2, row2, (int32_t)-40);
        pipe_barrier(PIPE_V);
        TADD(row3, row3, row2);
        pipe_barrier(PIPE_V);
        TMAXS(row2, row3, (int32_t)0);
        pipe_barrier(PIPE_V);
        TMINS(row2, row2, (int32_t)39);
        pipe_barrier(PIPE_V);
        TSUB(row3, row3, row2);
        pipe_barrier(PIPE_V);
        TMINS(row3, row3, (int32_t)1);
        pipe_barrier(PIPE_V);
        TMAXS(row3, row3, (int32_t)-1);
        pipe_barrier(PIPE_V);
        TMUL(row3, row3, row3);
        pipe_barrier(PIPE_V);
        TMULS(row3, row3, (int32_t)-1073741824);
        pipe_barrier(PIPE_V);
        TADD(row3, row2, row3);
        set_flag(PIPE_V, PIPE_S, EVENT_ID7);
        wait_flag(PIPE_V, PIPE_S, EVENT_ID7);
        uint64_t turn = 0; // the half of what is turned that V does not work at
        for (int32_t start = 0; start < n0; start += 2) {
            const int32_t until = start + 2 < n0 ? start + 2 : n0;
            int32_t picks[2];
            for (int32_t slot = start; slot < until; slot += 2) {
                const int32_t own = row3.GetValue(slot);
                const int32_t next = slot + 1 < until ? row3.GetValue(slot + 1) : own;
                picks[slot - start] = own;
                picks[slot - start + 1] = next;
                const int32_t low = own < next ? own : next, high = own < next ? next : own;
                if (0 <= low && low < high) {
                    GmData load1(gm_data + iv_t1 + (int64_t)low * 20, GmData::Shape((int64_t)(n1)), Stride<1, 1, 1, DYNAMIC, 1>((int64_t)(high - low) * 20));
                    UbPair row4(n1);
                    TASSIGN(row4, own < next ? ub_output[turn_output] + slot * 32 : turned_ub + turn + (slot - start) * 32);
                    TLOAD(row4, load1);
                }
                else if (0 <= high) {
                    GmData2 load2(gm_data + iv_t1 + (int64_t)high * 20, GmData2::Shape((int64_t)(n1)));
                    UbRow2 row5(n1);
                    TASSIGN(row5, ub_output[turn_output] + (own == high ? slot : slot + 1) * 32);
                    TLOAD(row5, load2);
                }
            }
            // V has done the batch before
            if (start > 0) wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID7);
            set_flag(PIPE_MTE2, PIPE_V, EVENT_ID7);
            wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID7);
            for (int32_t slot = start; slot < until; slot += 2) {
                const int32_t own = picks[slot - start], next = picks[slot - start + 1];
                if (own < 0) {
                    UbZeros row6;
                    TASSIGN(row6, ub_output[turn_output] + slot * 32);
                    TEXPANDS(row6, (int32_t)0);
                }
                if (next < 0 && slot + 1 < until) {
                    UbZeros row7;
                    TASSIGN(row7, ub_output[turn_output] + (slot + 1) * 32);
                    TEXPANDS(row7, (int32_t)0);
                }
                if (0 <= next && next < own) {
                    UbRow2 row8(n1);
                    TASSIGN(row8, ub_output[turn_output] + slot * 32);
                    UbRow2 row9(n1);
                    TASSIGN(row9, turned_ub + turn + (slot - start) * 32 + 32);
                    TMOV(row8, row9);
                    UbRow2 row10(n1);
                    TASSIGN(row10, ub_output[turn_output] + (slot + 1) * 32);
                    UbRow2 row11(n1);
                    TASSIGN(row11, turned_ub + turn + (slot - start) * 32);
                    TMOV(row10, row11);
                }
                if (0 <= own && own == next && slot + 1 < until) {
                    UbRow2 row12(n1);
                    TASSIGN(row12, ub_output[turn_output] + (slot + 1) * 32);
                    UbRow2 row13(n1);
                    TASSIGN(row13, ub_output[turn_output] + slot * 32);
                    TMOV(row12, row13);
                }
            }
            set_flag(PIPE_V, PIPE_MTE2, EVENT_ID7);
            turn = 64 - turn;
        }
        wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID7);
        set_flag(PIPE_S, PIPE_MTE2, EVENT_ID7);
        wait_flag(PIPE_S, PIPE_MTE2, EVENT_ID7);
        // sync MTE2 -> MTE3
        set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID1);
        wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID1);
        // store %output_ub to %output[%t0, %t1][min(21, 50 - %t0), min(16, 20 - %t1)]
        GmOutput store0(gm_output + iv_t0 * 20 + iv_t1, GmOutput::Shape((int64_t)n0, (int64_t)n1));
        UbOutput tile1(n0, n1);
        TASSIGN(tile1, ub_output[turn_output]);
        TSTORE(store0, tile1);
    }
    // the last flag of each sync with lag 1
    if (sync0 > 0) wait_flag(PIPE_MTE3, PIPE_MTE2, (event_t)(1 + ((sync0 - 1) & 1)));
}
