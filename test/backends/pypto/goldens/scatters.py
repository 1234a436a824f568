# tilec emit pypto: @scatter_update for ascend-a2
# schedule: tile = [2, 32], view = [10, 32], profile = strict, residency = gm, order = [0, 1], buffers = 1, cores = 48, budget_rule = full, ub_bytes = 196608
# residency: points are written to global memory as they come (docs/tiling-rules.md: scatters)
# point-order: points of dim 0 are taken in order (docs/tiling-rules.md: scatters)
# full-store-view: view[1] = 32 >= 32, the whole row (hicann/pypto docs/zh/api/operation/pypto-scatter_update.md at 883e7df (2026-08-22) (profile strict))
# full-store-tile: tile[1] = 32 = 32, the whole row (hicann/pypto docs/zh/api/operation/pypto-scatter_update.md at 883e7df (2026-08-22); hicann/pypto framework/src/interface/operation/vector/indexing.cpp at 883e7df (2026-08-22): FC1000 (profile strict))
# ub-budget: 384 (index) + 128 (src) = 512 B <= 196608 B (target ascend-a2: hicann/pypto simulation_platform/platform_config/A2A3.ini)
# slots are below 64: PyPTO skips negative ones, and checks no other
# bits are those of the program where no two points write one element: PyPTO states no order (pypto-scatter_update.md)
import pypto


@pypto.frontend.jit
def tilec_kernel_scatter_update(
    gm_input: pypto.Tensor[[64, 32], pypto.DT_BF16],
    gm_index: pypto.Tensor[[12, 2], pypto.DT_INT64],
    gm_src: pypto.Tensor[[24, 32], pypto.DT_BF16],
):
    pypto.set_vec_tile_shapes(2, 32)
    for v0 in pypto.loop(0, 24, 10, name="view_0", idx_name="v0"):
        n0 = pypto.min(10, 24 - v0)
        view_index = pypto.view(gm_index, [5, 2], [v0 // 2, 0], valid_shape=[n0 // 2, 2])
        view_src = pypto.view(gm_src, [10, 32], [v0, 0], valid_shape=[n0, 32])
        gm_input[:] = pypto.scatter_update(gm_input, -2, view_index, view_src)


# tilec emit pypto: @scatter_update for ascend-a2
# schedule: tile = [6, 1, 1, 32], view = [6, 1, 1, 32], profile = strict, residency = gm, order = [0, 1, 2, 3], buffers = 1, cores = 48, budget_rule = full, ub_bytes = 196608
# residency: points are written to global memory as they come (docs/tiling-rules.md: scatters)
# point-order: points of dims 0, 1 are taken in order (docs/tiling-rules.md: scatters)
# full-store-view: view[3] = 32 >= 32, the whole row (hicann/pypto docs/zh/api/operation/pypto-scatter_update.md at 883e7df (2026-08-22) (profile strict))
# full-store-tile: tile[3] = 32 = 32, the whole row (hicann/pypto docs/zh/api/operation/pypto-scatter_update.md at 883e7df (2026-08-22); hicann/pypto framework/src/interface/operation/vector/indexing.cpp at 883e7df (2026-08-22): FC1000 (profile strict))
# ub-budget: 192 (index) + 192 (src) = 384 B <= 196608 B (target ascend-a2: hicann/pypto simulation_platform/platform_config/A2A3.ini)
# slots are below 128: PyPTO skips negative ones, and checks no other
# bits are those of the program where no two points write one element: PyPTO states no order (pypto-scatter_update.md)
import pypto


@pypto.frontend.jit
def tilec_kernel_scatter_update(
    gm_input: pypto.Tensor[[8, 16, 1, 32], pypto.DT_INT8],
    gm_index: pypto.Tensor[[6, 1], pypto.DT_INT32],
    gm_src: pypto.Tensor[[6, 1, 1, 32], pypto.DT_INT8],
):
    pypto.set_vec_tile_shapes(6, 1, 1, 32)
    gm_input[:] = pypto.scatter_update(gm_input, -2, gm_index, gm_src)


# tilec emit pypto: @scatter for ascend-a2
# schedule: tile = [20, 8], view = [20, 16], profile = strict, residency = ub, order = [0, 1], buffers = 1, cores = 48, budget_rule = full, ub_bytes = 196608
# full-store: dim 0 of output is stored whole: 20 elements (docs/tiling-rules.md: scatters)
# point-order: points of dim 0 are taken in order (docs/tiling-rules.md: scatters)
# full-store-view: view[0] = 20 >= 20 = max(input 20, index 9) (hicann/pypto docs/zh/api/operation/pypto-scatter.md at 883e7df (2026-08-22) (profile strict))
# full-store-tile: tile[0] = 20 >= 20 = max(input 20, index 9) (hicann/pypto docs/zh/api/operation/pypto-scatter.md at 883e7df (2026-08-22); hicann/pypto framework/src/interface/operation/vector/indexing.cpp at 883e7df (2026-08-22), lines 736-739 and 895-897: FC1000 (profile strict))
# ub-budget: 640 (output) + 576 (index) + 288 (src) + 640 (copy of the base) + 640 (input apart from the result) + 64 (temporary of the last index tile) = 2848 B <= 196608 B (target ascend-a2: hicann/pypto simulation_platform/platform_config/A2A3.ini)
# indices are inside the dims that they name: PyPTO checks none, and counts none from the end
# bits are those of the program where no two points write one element: PyPTO states no order (pypto-scatter.md)
import pypto


@pypto.frontend.jit
def tilec_kernel_scatter(
    gm_input: pypto.Tensor[[20, 30], pypto.DT_FP32],
    gm_index: pypto.Tensor[[9, 25], pypto.DT_INT64],
    gm_src: pypto.Tensor[[10, 25], pypto.DT_FP32],
    gm_output: pypto.Tensor[[20, 30], pypto.DT_FP32],
):
    pypto.set_vec_tile_shapes(20, 8)
    for v1 in pypto.loop(0, 25, 16, name="view_1", idx_name="v1"):
        n1 = pypto.min(16, 25 - v1)
        view_input = pypto.view(gm_input, [20, 16], [0, v1], valid_shape=[20, pypto.min(16, 30 - v1)])
        view_index = pypto.view(gm_index, [9, 16], [0, v1], valid_shape=[9, n1])
        view_src = pypto.view(gm_src, [9, 16], [0, v1], valid_shape=[9, n1])
        view_output = pypto.scatter(view_input, 0, view_index, view_src, reduce="add")
        pypto.assemble(view_output, [0, v1], gm_output)


# tilec emit pypto: @scatter_ for ascend-a2
# schedule: tile = [4, 16], view = [4, 16], profile = strict, residency = ub, order = [0, 1], buffers = 1, cores = 48, budget_rule = full, ub_bytes = 196608
# full-store: dim 1 of output is stored whole: 16 elements (docs/tiling-rules.md: scatters)
# point-order: points of dim 1 are taken in order (docs/tiling-rules.md: scatters)
# full-store-view: view[1] = 16 >= 16 = max(input 16, index 3) (hicann/pypto docs/zh/api/operation/pypto-scatter_.md at 883e7df (2026-08-22) (profile strict))
# full-store-tile: tile[1] = 16 >= 16 = max(input 16, index 3) (hicann/pypto docs/zh/api/operation/pypto-scatter_.md at 883e7df (2026-08-22); hicann/pypto framework/src/interface/operation/vector/indexing.cpp at 883e7df (2026-08-22), lines 736-739 and 895-897: FC1000 (profile strict))
# ub-budget: 256 (output) + 128 (index) + 256 (input apart from the result) + 32 (temporary of the last index tile) = 672 B <= 196608 B (target ascend-a2: hicann/pypto simulation_platform/platform_config/A2A3.ini)
# indices are inside the dims that they name: PyPTO checks none, and counts none from the end
# bits are those of the program where no two points write one element: PyPTO states no order (pypto-scatter_.md)
import pypto


@pypto.frontend.jit
def tilec_kernel_scatter(
    gm_input: pypto.Tensor[[4, 16], pypto.DT_FP32],
    gm_index: pypto.Tensor[[4, 3], pypto.DT_INT32],
):
    pypto.set_vec_tile_shapes(4, 16)
    pypto.scatter_(gm_input, 1, gm_index, 1.0)


# tilec emit pypto: @index_add_ for ascend-a2
# schedule: tile = [5, 16], view = [5, 16], profile = strict, residency = ub, order = [0, 1], buffers = 1, cores = 48, budget_rule = full, ub_bytes = 196608
# full-store: dim 0 of output is stored whole: 10 elements (docs/tiling-rules.md: scatters)
# point-order: points of dim 0 are taken in order (docs/tiling-rules.md: scatters)
# ub-budget: 320 (output) + 32 (index) + 160 (source) = 512 B <= 196608 B (target ascend-a2: hicann/pypto simulation_platform/platform_config/A2A3.ini)
# indices are inside the dims that they name: PyPTO checks none, and counts none from the end
# bits are those of the program where no two points write one element: PyPTO states no order (pypto-index_add_.md)
# PyPTO states no rounding of source * alpha: its bits may differ there
import pypto


@pypto.frontend.jit
def tilec_kernel_index_add(
    gm_input: pypto.Tensor[[10, 16], pypto.DT_FP16],
    gm_index: pypto.Tensor[[8], pypto.DT_INT32],
    gm_source: pypto.Tensor[[8, 16], pypto.DT_FP16],
):
    pypto.set_vec_tile_shapes(5, 16)
    for v0 in pypto.loop(0, 8, 5, name="view_0", idx_name="v0"):
        n0 = pypto.min(5, 8 - v0)
        view_index = pypto.view(gm_index, [5], [v0], valid_shape=[n0])
        view_source = pypto.view(gm_source, [5, 16], [v0, 0], valid_shape=[n0, 16])
        pypto.index_add_(gm_input, 0, view_index, view_source, alpha=1.5)


# tilec emit pypto: @index_put_ for ascend-a2
# schedule: tile = [2, 16], view = [2, 16], profile = strict, residency = ub, order = [0, 1], buffers = 1, cores = 48, budget_rule = full, ub_bytes = 196608
# full-store: dim 0 of output is stored whole: 9 elements (docs/tiling-rules.md: scatters)
# full-store: dim 1 of output is stored whole: 7 elements (docs/tiling-rules.md: scatters)
# point-order: the order of points cannot be seen: add of i32 (docs/tiling-rules.md: scatters)
# ub-budget: 4032 (output) + 32 (indices0) + 32 (indices1) + 128 (values) = 4224 B <= 196608 B (target ascend-a2: hicann/pypto simulation_platform/platform_config/A2A3.ini)
# indices are inside the dims that they name: PyPTO checks none, and counts none from the end
# bits are those of the program where no add leaves i32: PyPTO states no overflow
import pypto


@pypto.frontend.jit
def tilec_kernel_index_put(
    gm_input: pypto.Tensor[[9, 7, 16], pypto.DT_INT32],
    gm_indices0: pypto.Tensor[[5], pypto.DT_INT64],
    gm_indices1: pypto.Tensor[[5], pypto.DT_INT64],
    gm_values: pypto.Tensor[[5, 16], pypto.DT_INT32],
):
    pypto.set_vec_tile_shapes(2, 16)
    for v0 in pypto.loop(0, 5, 2, name="view_0", idx_name="v0"):
        n0 = pypto.min(2, 5 - v0)
        view_indices0 = pypto.view(gm_indices0, [2], [v0], valid_shape=[n0])
        view_indices1 = pypto.view(gm_indices1, [2], [v0], valid_shape=[n0])
        view_values = pypto.view(gm_values, [2, 16], [v0, 0], valid_shape=[n0, 16])
        pypto.index_put_(gm_input, (view_indices0, view_indices1), view_values, True)
