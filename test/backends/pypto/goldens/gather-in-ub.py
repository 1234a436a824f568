# tilec emit pypto: @gather_in_ub for ascend-a2
# schedule: tile = [8, 24], view = [24, 24], profile = strict, residency = gm, order = [1, 0], buffers = 2, cores = 48, budget_rule = full, ub_bytes = 196608
# residency: rows are fetched from global memory (hicann/pypto docs/zh/api/operation/pypto-experimental-gather_in_ub.md at 883e7df (2026-08-22))
# ub-budget: 64 (indices) + 32 (block_table) + 1024 (output) = 1120 B <= 196608 B (target ascend-a2: hicann/pypto simulation_platform/platform_config/A2A3.ini)
# indices are 0 to 63: PyPTO checks none, and counts none from the end
import pypto


@pypto.frontend.jit
def tilec_kernel_gather_in_ub(
    gm_param: pypto.Tensor[[64, 24], pypto.DT_BF16],
    gm_indices: pypto.Tensor[[1, 40], pypto.DT_INT32],
    gm_block_table: pypto.Tensor[[1, 8], pypto.DT_INT32],
    gm_output: pypto.Tensor[[40, 24], pypto.DT_BF16],
):
    pypto.set_vec_tile_shapes(8, 24)
    for v0 in pypto.loop(0, 40, 24, name="view_0", idx_name="v0"):
        n0 = pypto.min(24, 40 - v0)
        view_param = pypto.view(gm_param, [64, 24], [0, 0])
        view_indices = pypto.view(gm_indices, [1, 24], [0, v0], valid_shape=[1, n0])
        view_block_table = pypto.view(gm_block_table, [1, 8], [0, 0])
        view_output = pypto.experimental.gather_in_ub(view_param, view_indices, view_block_table, 8, -2)
        pypto.assemble(view_output, [v0, 0], gm_output)
