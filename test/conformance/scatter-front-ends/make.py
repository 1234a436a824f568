"""Writes cases of numpy's scatters, of jax's and torch's that follow its indexing, and of StableHLO's: python3 make.py > cases.json.

Outputs are numpy's own (ufunc.at, put_along_axis), and of StableHLO those of the specification's loop, element by element.
"""

import itertools
import json

import numpy as np

rng = np.random.default_rng(7)
cases = []


def number(dtype, shape):
    if dtype == "f32":
        return (rng.integers(-4000, 4000, shape) / 16 * rng.choice([1, 1 + 2**-20, 2**12], shape)).astype(np.float32)
    info = np.iinfo(np.int32)
    return rng.integers(info.min, info.max, shape, dtype=np.int64).astype(np.int32)


def tensor(array, dtype):
    if dtype == "f32":
        return {"dtype": dtype, "shape": list(array.shape), "bits": [f"{v:08x}" for v in array.view(np.uint32).flatten()]}
    return {"dtype": dtype, "shape": list(array.shape), "values": [int(v) for v in array.flatten()]}


def add(op, dialect, attributes, inputs, output):
    dtype = {np.dtype("float32"): "f32", np.dtype("int32"): "i32"}
    typed = {k: tensor(v, dtype.get(v.dtype, "i64")) for k, v in inputs.items()}
    for value in typed.values():
        if value["dtype"] == "i64":
            value["values"] = [str(v) for v in value["values"]]
    cases.append(
        {
            "id": f"front-ends/{dialect}-{op}-{len(cases):03}",
            "source": "numpy",
            "op": op,
            "dialect": dialect,
            "attributes": attributes,
            "inputs": typed,
            "output": tensor(output, dtype[output.dtype]),
            "expect": "ok",
        }
    )


ufuncs = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def written(x, key, y, how):
    result = x.copy()
    if how == "set":
        # One after another, so that the last of duplicates stays.
        flat = np.arange(x.size).reshape(x.shape)[key]
        for place, value in zip(flat.flatten(), np.broadcast_to(y, flat.shape).flatten()):
            result.flat[place] = value
    else:
        ufuncs[how].at(result, key, y)
    return result


def subscript(rank):
    """A subscript with one array at least, as text and as numpy's key, of an array with such a rank."""
    shape = [int(n) for n in rng.integers(2, 6, rank)]
    common = [int(n) for n in rng.integers(1, 4, rng.integers(1, 3))]
    text, key, arrays = [], [], []
    for d in range(rank):
        kind = "array" if d == 0 and not arrays else rng.choice(["array", "slice", "integer"])
        if kind == "array":
            own = [n if rng.random() < 0.8 else 1 for n in common]
            array = rng.integers(-shape[d], shape[d], own)
            text.append(f"i{len(arrays)}")
            key.append(array)
            arrays.append(array)
        elif kind == "slice":
            lo, step = int(rng.integers(0, shape[d])), int(rng.choice([1, 2, -1]))
            text.append(f"{lo}::{step}")
            key.append(slice(lo, None, step))
        else:
            place = int(rng.integers(-shape[d], shape[d]))
            text.append(str(place))
            key.append(place)
        if rng.random() < 0.15:
            text.append("newaxis")
            key.append(None)
    if rng.random() < 0.3 and rank > 1 and text[-1] == f"i{len(arrays) - 1}" and len(arrays) > 1:
        text, key, arrays = text[:-1] + ["..."], key[:-1] + [Ellipsis], arrays[:-1]
    return shape, ", ".join(text), tuple(key), arrays


def values(x, key, dtype):
    shape = list(x[key].shape)
    return number(dtype, [n if rng.random() < 0.8 else 1 for n in shape])


for k in range(60):
    shape, text, key, arrays = subscript(int(rng.integers(1, 4)))
    dtype = ["f32", "i32"][k % 2]
    x = number(dtype, shape)
    y = values(x, key, dtype)
    named = {f"i{j}": array for j, array in enumerate(arrays)}
    if k % 6 == 5:
        add("add_at", "numpy", {"subscript": text}, {"a": x, **named, "b": y}, written(x, key, y, "add"))
        continue
    how = ["set", "add", "mul", "min", "max"][k % 6]
    mode = ["drop", "fill", "clip", "promise_in_bounds"][k % 4]
    add(f"at_{how}", "jax", {"subscript": text, "mode": mode}, {"x": x, **named, "y": y}, written(x, key, y, how))

for k in range(24):
    shape = [int(n) for n in rng.integers(1, 6, rng.integers(1, 4))]
    dtype = ["f32", "i32"][k % 2]
    axis = int(rng.integers(-len(shape), len(shape)))
    x = number(dtype, shape)
    indices = [(n if n > 1 else 3) if rng.random() < 0.7 else 1 for n in shape]
    indices[axis] = int(rng.integers(1, 7))
    domain = [max(n, m) if d != axis % len(shape) else m for d, (n, m) in enumerate(zip(shape, indices))]
    i = rng.integers(-shape[axis], shape[axis], indices)
    v = number(dtype, [n if rng.random() < 0.7 else 1 for n in domain])
    y = x.copy()
    if k % 4 == 3:
        i = i.flatten() % x.size
        v = number(dtype, i.shape)
        for place, value in zip(i, v):
            y.flat[place] = value
        add("put_along_axis", "numpy", {}, {"arr": x, "indices": i, "values": v}, y)
        continue
    grid = [np.arange(n).reshape([-1 if d == e else 1 for e in range(len(shape))]) for d, n in enumerate(shape)]
    grid[axis] = i
    y = written(x, tuple(grid), v, "set")
    add("put_along_axis", "numpy", {"axis": axis}, {"arr": x, "indices": i, "values": v}, y)

for k in range(12):
    rank = int(rng.integers(1, 4))
    shape = [int(n) for n in rng.integers(1, 6, rank)]
    n = int(rng.integers(1, rank + 1))
    common = [int(m) for m in rng.integers(1, 4, rng.integers(1, 3))]
    arrays = [rng.integers(-m, m, [c if rng.random() < 0.8 else 1 for c in common]) for m in shape[:n]]
    dtype = ["f32", "i32"][k % 2]
    x = number(dtype, shape)
    v = values(x, tuple(arrays), dtype)
    named = {f"indices{j}": array for j, array in enumerate(arrays)}
    y = written(x, tuple(arrays), v, ["set", "add"][k // 2 % 2])
    add("index_put", "torch", {"accumulate": k // 2 % 2}, {"input": x, **named, "values": v}, y)


def stablehlo(x, indices, updates, window, inserted, batching, index_batching, to, vector, how):
    result = x.copy()
    outer = [d for d in range(updates.ndim) if d not in window]
    for at in itertools.product(*map(range, updates.shape)):
        place = [at[d] for d in outer]
        index = place[:vector] + [slice(None)] + place[vector:] if vector < indices.ndim else place
        start = np.atleast_1d(indices[tuple(index)])
        full = [0] * x.ndim
        for component, d in enumerate(to):
            full[d] += int(start[component])
        for d, other in zip(batching, index_batching):
            full[d] += place[other - (0 if other < vector else 1)]
        rest = [d for d in range(x.ndim) if d not in inserted and d not in batching]
        for d, w in zip(rest, window):
            full[d] += at[w]
        if all(0 <= f < n for f, n in zip(full, x.shape)):
            f = tuple(full)
            old, new = result[f], updates[at]
            result[f] = new if how == "set" else ufuncs[how](old, new)
    return result


np.seterr(all="ignore")
for k in range(40):
    rank = int(rng.integers(1, 4))
    shape = [int(n) for n in rng.integers(1, 6, rank)]
    dims = [int(d) for d in rng.permutation(rank)]
    batches = int(rng.integers(0, rank)) if k % 3 == 0 else 0
    batching = sorted(dims[:batches])
    free = [d for d in range(rank) if d not in batching]
    inserted = [d for d in free if rng.random() < 0.4]
    rest = [d for d in free if d not in inserted]
    to = [int(d) for d in rng.permutation(free)[: rng.integers(1, len(free) + 1)]]
    extra = [int(n) for n in rng.integers(1, 4, rng.integers(0 if batching else 1, 3))]
    outer = [shape[d] for d in batching] + extra
    order = [int(d) for d in rng.permutation(len(outer))]
    outer_sizes = [outer[d] for d in order]
    vector = int(rng.integers(0, len(outer) + 1))
    indices_shape = outer_sizes[:vector] + [len(to)] + outer_sizes[vector:]
    if len(to) == 1 and rng.random() < 0.4:
        vector, indices_shape = len(outer), outer_sizes
    where = [order.index(b) for b in range(len(batching))]
    index_batching = [w if w < vector else w + 1 for w in where] if len(indices_shape) > len(outer) else where
    sizes = [int(rng.integers(1, shape[d] + 1)) for d in rest]
    total = len(outer) + len(rest)
    window = sorted(int(d) for d in rng.permutation(total)[: len(rest)])
    updates_shape, w, o = [], iter(sizes), iter(outer_sizes)
    for d in range(total):
        updates_shape.append(next(w) if d in window else next(o))
    dtype = ["f32", "i32"][k % 2]
    x, u = number(dtype, shape), number(dtype, updates_shape)
    i = rng.integers(-1, max(shape) + 1, indices_shape).astype(np.int32 if k % 2 else np.int64)
    how = ["set", "add", "mul", "min", "max"][k % 5]
    attributes = {
        "updateWindowDims": window,
        "insertedWindowDims": inserted,
        "inputBatchingDims": batching,
        "scatterIndicesBatchingDims": index_batching,
        "scatterDimsToOperandDims": to,
        "indexVectorDim": vector,
        "updateComputation": how,
    }
    y = stablehlo(x, i, u, window, inserted, batching, index_batching, to, vector, how)
    add("scatter", "stablehlo", attributes, {"input": x, "scatter_indices": i, "updates": u}, y)

print('{"schema": 1, "cases": [')
print(",\n".join(json.dumps(case) for case in cases))
print("]}")
