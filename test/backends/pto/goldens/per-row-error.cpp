// tilec emit pto: @gather for ascend-a2, 2 cores, 1536 of 196608 B of UB
// blocks: 2
#include <cstdint>
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr uint32_t gather_cores = 2;

extern "C" __global__ AICORE void gather(__gm__ int32_t* data, __gm__ int32_t* indices, __gm__ int32_t* output, __gm__ int32_t* status)
{
    constexpr uint64_t data_ub = 0;
    constexpr uint64_t indices_ub = 1024;
    constexpr uint64_t output_ub = 1088;
    constexpr uint64_t scratch_ub = 1344;
    constexpr uint64_t rows_ub = 1472; // rows of addresses beside the scratch
    using UbData = Tile<TileType::Vec, int32_t, 4, 64, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
    using UbIndex = Tile<TileType::Vec, int32_t, 1, 16, BLayout::RowMajor, 1, DYNAMIC>;
    using UbRow = Tile<TileType::Vec, int32_t, 1, 16, BLayout::RowMajor, 1, DYNAMIC>;
    using UbRow2 = Tile<TileType::Vec, int32_t, 1, 16, BLayout::RowMajor, 1, 16>;
    using UbOutputRow = Tile<TileType::Vec, int32_t, 1, 16, BLayout::RowMajor, 1, DYNAMIC>;
    using UbOutput = Tile<TileType::Vec, int32_t, 4, 16, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
    using GmData = GlobalTensor<int32_t, Shape<1, 1, 1, DYNAMIC, 64>, Stride<1, 1, 1, 64, 1>, Layout::ND>;
    using GmIndex = GlobalTensor<int32_t, Shape<1, 1, 1, 1, DYNAMIC>, Stride<1, 1, 1, 1, 1>, Layout::ND>;
    using GmOutput = GlobalTensor<int32_t, Shape<1, 1, 1, DYNAMIC, DYNAMIC>, Stride<1, 1, 1, 40, 1>, Layout::ND>;

    set_mask_norm();
    set_vector_mask(-1, -1);
    UbRow2 seen;
    TASSIGN(seen, rows_ub);
    TEXPANDS(seen, (int32_t)0);

    bool bad = false;
    for (uint32_t task = get_block_idx(); task < 3; task += gather_cores) {
        const int32_t t0 = (int32_t)(task % 3) * 4;
        const int32_t n0 = 10 - t0 < 4 ? 10 - t0 : 4;
        // sync V -> MTE2
        set_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
        wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
        // load %data[%t0, 0][min(4, 10 - %t0), 64] to %data_ub
        GmData load0(data + t0 * 64, GmData::Shape((int64_t)n0));
        UbData tile0(n0, 64);
        TASSIGN(tile0, data_ub);
        TLOAD(tile0, load0);
        // sync MTE2 -> V
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
        for (int32_t t1 = 0; t1 < 40; t1 += 16) {
            const int32_t n1 = 40 - t1 < 16 ? 40 - t1 : 16;
            // sync V -> MTE2
            set_flag(PIPE_V, PIPE_MTE2, EVENT_ID2);
            wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID2);
            // load %indices[%t1][min(16, 40 - %t1)] to %indices_ub
            GmIndex load1(indices + t1, GmIndex::Shape((int64_t)n1));
            UbIndex tile1(n1);
            TASSIGN(tile1, indices_ub);
            TLOAD(tile1, load1);
            // sync MTE3 -> V
            set_flag(PIPE_MTE3, PIPE_V, EVENT_ID1);
            wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID1);
            // sync MTE2 -> V
            set_flag(PIPE_MTE2, PIPE_V, EVENT_ID2);
            wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID2);
            // gather %data_ub[0, 0][min(4, 10 - %t0), 64], %indices_ub[0][min(16, 40 - %t1)] to %output_ub[0, 0][min(4, 10 - %t0), min(16, 40 - %t1)] (d0, d1) -> (d0, from_end(%indices_ub[d1])) {oob = error, origin = [%t1], scratch = %scratch_ub}
            for (int32_t d0 = 0; d0 < n0; d0++) {
                UbRow row0(n1);
                TASSIGN(row0, indices_ub);
                UbOutputRow row1(n1);
                TASSIGN(row1, output_ub + d0 * 64);
                UbRow row2(n1);
                TASSIGN(row2, scratch_ub);
                UbRow row3(n1);
                TASSIGN(row3, scratch_ub + 64);
                UbRow row4(n1);
                TASSIGN(row4, rows_ub);
                pipe_barrier(PIPE_V);
                TMINS(row2, row0, (int32_t)0);
                pipe_barrier(PIPE_V);
                TMAXS(row2, row2, (int32_t)-1);
                pipe_barrier(PIPE_V);
                TMULS(row2, row2, (int32_t)-64);
                pipe_barrier(PIPE_V);
                TADD(row2, row2, row0);
                pipe_barrier(PIPE_V);
                TMAXS(row3, row2, (int32_t)0);
                pipe_barrier(PIPE_V);
                TMINS(row3, row3, (int32_t)63);
                pipe_barrier(PIPE_V);
                TSUB(row2, row2, row3);
                pipe_barrier(PIPE_V);
                TMINS(row2, row2, (int32_t)1);
                pipe_barrier(PIPE_V);
                TMAXS(row2, row2, (int32_t)-1);
                pipe_barrier(PIPE_V);
                TMUL(row2, row2, row2);
                pipe_barrier(PIPE_V);
                TMAX(row4, row4, row2);
                pipe_barrier(PIPE_V);
                TADDS(row3, row3, (int32_t)(d0 * 64));
                pipe_barrier(PIPE_V);
                TGATHER(row1, tile0, row3, row3);
            }
            // sync V -> MTE3
            set_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
            wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
            // store %output_ub to %output[%t0, %t1][min(4, 10 - %t0), min(16, 40 - %t1)]
            GmOutput store0(output + t0 * 40 + t1, GmOutput::Shape((int64_t)n0, (int64_t)n1));
            UbOutput tile2(n0, n1);
            TASSIGN(tile2, output_ub);
            TSTORE(store0, tile2);
        }
    }
    set_flag(PIPE_V, PIPE_S, EVENT_ID7);
    wait_flag(PIPE_V, PIPE_S, EVENT_ID7);
    for (int32_t c = 0; c < 16; c++) bad = bad || seen.GetValue(c) != 0;
    if (bad) status[get_block_idx()] = 1;
}
