# tilec emit pypto: @gather_in_ub for ascend-a2
# schedule: tile = [8, 24], view = [24, 24], profile = strict, residency = gm, order = [1, 0], buffers = 1, cores = 48, budget_rule = full, ub_bytes = 196608
# residency: rows are fetched from global memory (hicann/pypto docs/zh/api/operation/pypto-index_select.md rules 3 and 5)
# ub-budget: 32 + 32 + 512 = 576 B <= 196608 B (target ascend-a2: hicann/pypto simulation_platform/platform_config/A2A3.ini)
# indices are 0 to 63: PyPTO checks none, and counts none from the end
import pypto


@pypto.frontend.jit
def gather_in_ub(
    param: pypto.Tensor[[64, 24], pypto.DT_BF16],
    indices: pypto.Tensor[[1, 40], pypto.DT_INT32],
    block_table: pypto.Tensor[[1, 8], pypto.DT_INT32],
    output: pypto.Tensor[[40, 24], pypto.DT_BF16],
):
    pypto.set_vec_tile_shapes(8, 24)
    for v0 in pypto.loop(0, 40, 24, name="view_0", idx_name="v0"):
        n0 = pypto.min(24, 40 - v0)
        param_view = pypto.view(param, [64, 24], [0, 0])
        indices_view = pypto.view(indices, [1, 24], [0, v0], valid_shape=[1, n0])
        block_table_view = pypto.view(block_table, [1, 8], [0, 0])
        output_view = pypto.experimental.gather_in_ub(param_view, indices_view, block_table_view, 8, -2)
        pypto.assemble(output_view, [v0, 0], output)
