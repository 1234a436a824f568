# tilec emit pypto: @values for ascend-a2
# schedule: tile = [2, 12, 5], view = [4, 24], profile = strict, residency = gm, order = [1, 0], buffers = 2, cores = 48, budget_rule = full, ub_bytes = 196608
# residency: rows are fetched from global memory (hicann/pypto docs/zh/api/operation/pypto-index_select.md at 883e7df (2026-08-22), rules 3 and 5)
# reduced: tile[r] = 5 = all reduction elements: one chunk (docs/values.md: terms)
# ub-budget: 64 (s) + 128 (i) + 128 (output) + 32 (gathered q) + 64 (gathered s) + 64 (value 1) + 64 (value 2) + 64 (sum) = 608 B <= 196608 B (target ascend-a2: hicann/pypto simulation_platform/platform_config/A2A3.ini)
# bits are those of the program where each element that index values name is
#   of s: finite, 0 or at least 2^-126, below 2^6
# indices are 0 to 29: PyPTO checks none, and counts none from the end
import pypto


@pypto.frontend.jit
def tilec_kernel_values(
    gm_q: pypto.Tensor[[30, 24], pypto.DT_INT8],
    gm_s: pypto.Tensor[[8], pypto.DT_FP32],
    gm_i: pypto.Tensor[[8, 5], pypto.DT_INT32],
    gm_y: pypto.Tensor[[8, 24], pypto.DT_FP16],
):
    pypto.set_vec_tile_shapes(2, 12)
    for v0 in pypto.loop(0, 8, 4, name="view_0", idx_name="v0"):
        view_q = pypto.view(gm_q, [30, 24], [0, 0])
        view_s = pypto.view(gm_s, [4], [v0])
        view_i = pypto.view(gm_i, [4, 5], [v0, 0])
        pypto.set_vec_tile_shapes(2, 5, 12)
        x0 = pypto.index_select(view_q, 0, view_i)
        x1 = pypto.cast(x0, pypto.DT_FP16)
        x2 = pypto.cast(x1, pypto.DT_FP32)
        x3 = pypto.sum(x2, 1)
        pypto.set_vec_tile_shapes(2, 12)
        x4 = pypto.reshape(view_s, [4, 1])
        x5 = pypto.mul(x3, x4)
        x6 = pypto.cast(x5, pypto.DT_FP16, pypto.CastMode.CAST_RINT)
        view_y = x6
        pypto.assemble(view_y, [v0, 0], gm_y)
