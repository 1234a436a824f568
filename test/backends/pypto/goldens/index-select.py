# tilec emit pypto: @index_select for ascend-a2
# schedule: tile = [5, 3, 4, 20], view = [50, 3, 4, 20], profile = strict, residency = gm, order = [0, 3, 1, 2], buffers = 2, cores = 48, budget_rule = full, ub_bytes = 196608
# residency: rows are fetched from global memory (hicann/pypto docs/zh/api/operation/pypto-index_select.md at 883e7df (2026-08-22), rules 3 and 5)
# ub-budget: 96 (indices) + 7680 (output) = 7776 B <= 196608 B (target ascend-a2: hicann/pypto simulation_platform/platform_config/A2A3.ini)
# indices are 0 to 5: PyPTO checks none, and counts none from the end
import pypto


@pypto.frontend.jit
def tilec_kernel_index_select(
    gm_data: pypto.Tensor[[50, 6, 20], pypto.DT_FP16],
    gm_indices: pypto.Tensor[[3, 4], pypto.DT_INT64],
    gm_output: pypto.Tensor[[50, 3, 4, 20], pypto.DT_FP16],
):
    pypto.set_vec_tile_shapes(5, 3, 4, 20)
    gm_output[:] = pypto.index_select(gm_data, 1, gm_indices)
