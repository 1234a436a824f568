# tilec emit pypto: @values for ascend-a2
# schedule: tile = [8, 512], view = [8, 512], profile = strict, residency = gm, order = [1, 0], buffers = 1, cores = 48, budget_rule = full, ub_bytes = 196608
# residency: rows are fetched from global memory (hicann/pypto docs/zh/api/operation/pypto-index_select.md at 883e7df (2026-08-22), rules 3 and 5)
# ub-budget: 10240 (s) + 32 (pages) + 32 (tokens) + 8192 (output) + 512 (gathered q) + 2048 (gathered s) + 2048 (value 1) + 2048 (value 2) = 25152 B <= 196608 B (target ascend-a2: hicann/pypto simulation_platform/platform_config/A2A3.ini)
# bits are those of the program where each element that index values name is
#   of s: finite, 0 or at least 2^-126, below 2^120
# indices are 0 to 319: PyPTO checks none, and counts none from the end
import pypto


@pypto.frontend.jit
def tilec_kernel_values(
    gm_q: pypto.Tensor[[320, 512], pypto.DT_INT8],
    gm_s: pypto.Tensor[[320, 4], pypto.DT_FP32],
    gm_pages: pypto.Tensor[[1, 5], pypto.DT_INT32],
    gm_tokens: pypto.Tensor[[1, 24], pypto.DT_INT32],
    gm_y: pypto.Tensor[[24, 512], pypto.DT_BF16],
):
    pypto.set_vec_tile_shapes(8, 512)
    for v0 in pypto.loop(0, 24, 8, name="view_0", idx_name="v0"):
        view_q = pypto.view(gm_q, [320, 512], [0, 0])
        view_s = pypto.view(gm_s, [320, 4], [0, 0])
        view_pages = pypto.view(gm_pages, [1, 5], [0, 0])
        view_tokens = pypto.view(gm_tokens, [1, 8], [0, v0])
        x0 = pypto.experimental.gather_in_ub(view_q, view_tokens, view_pages, 64, -2)
        x1 = pypto.experimental.gather_in_ub(view_s, view_tokens, view_pages, 64, -2)
        pypto.set_vec_tile_shapes(32, 128)
        x2 = pypto.reshape(x0, [32, 128])
        x3 = pypto.reshape(x1, [32, 1])
        x4 = pypto.cast(x2, pypto.DT_FP16)
        x5 = pypto.cast(x4, pypto.DT_FP32)
        x6 = pypto.mul(x5, x3)
        x7 = pypto.cast(x6, pypto.DT_BF16, pypto.CastMode.CAST_RINT)
        pypto.set_vec_tile_shapes(8, 512)
        view_y = pypto.reshape(x7, [8, 512])
        pypto.assemble(view_y, [v0, 0], gm_y)
