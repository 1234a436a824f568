# tilec emit pypto: @gather for ascend-a2
# schedule: tile = [300, 8], view = [300, 24], profile = strict, residency = ub, order = [1, 0], buffers = 1, cores = 48, budget_rule = full, ub_bytes = 196608
# full-load-data: gather dim 0 is loaded whole: 300 elements, view at least 300 (hicann/pypto docs/zh/api/operation/pypto-gather.md at 2b2bb56, rule 3)
# full-load-view: view[0] = 300 >= 300 = max(input 300, index 200) (hicann/pypto docs/zh/api/operation/pypto-gather.md at 2b2bb56, rule 3 (profile strict))
# full-load-tile: tile[0] = 300 = view[0] = 300 (hicann/pypto docs/zh/api/operation/pypto-gather.md at 2b2bb56, rule 4 (profile strict))
# ub-budget: 9600 (data) + 6400 (indices) + 6400 (output) + 64 (scratch) = 22464 B <= 196608 B (target ascend-a2: hicann/pypto simulation_platform/platform_config/A2A3.ini)
# indices are 0 to 299: PyPTO checks none, and counts none from the end
import pypto


@pypto.frontend.jit
def tilec_kernel_gather(
    gm_data: pypto.Tensor[[300, 40], pypto.DT_FP32],
    gm_indices: pypto.Tensor[[200, 40], pypto.DT_INT32],
    gm_output: pypto.Tensor[[200, 40], pypto.DT_FP32],
):
    pypto.set_vec_tile_shapes(300, 8)
    for v1 in pypto.loop(0, 40, 24, name="view_1", idx_name="v1"):
        n1 = pypto.min(24, 40 - v1)
        view_data = pypto.view(gm_data, [300, 24], [0, v1], valid_shape=[300, n1])
        view_indices = pypto.view(gm_indices, [200, 24], [0, v1], valid_shape=[200, n1])
        view_output = pypto.gather(view_data, 0, view_indices)
        pypto.assemble(view_output, [0, v1], gm_output)
