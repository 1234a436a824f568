"""A stand-in for PyPTO's front end: it runs a program's loops on nested lists and counts what each assemble writes."""

import struct


class Tensor:
    def __init__(self, values, dtype=None):
        self.values = values
        self.dtype = dtype
        self.writes = {}

    @classmethod
    def __class_getitem__(cls, described):
        shape, dtype = described
        assert all(isinstance(extent, int) and extent > 0 for extent in shape)
        return (shape, dtype)

    @property
    def shape(self):
        shape, values = [], self.values
        while isinstance(values, list):
            shape.append(len(values))
            values = values[0] if values else None
        return shape

    def at(self, point):
        value = self.values
        for k in point:
            value = value[k]
        return value

    def put(self, point, value):
        place = self.values
        for k in point[:-1]:
            place = place[k]
        assert 0 <= point[-1] < len(place), f"{point} lies outside"
        place[point[-1]] = value
        self.writes[tuple(point)] = self.writes.get(tuple(point), 0) + 1

    def __setitem__(self, key, value):
        assert key == slice(None)
        if value is self:
            return
        assemble(value, [0] * len(value.shape), self)


def points(shape):
    if not shape:
        yield []
        return
    for k in range(shape[0]):
        for rest in points(shape[1:]):
            yield [k, *rest]


def filled(shape, value):
    if not shape:
        return value([])
    return [filled(shape[1:], lambda rest, k=k: value([k, *rest])) for k in range(shape[0])]


class Frontend:
    @staticmethod
    def jit(function):
        return function


frontend = Frontend()
tile_shapes = []
types = "BOOL INT8 UINT8 INT16 UINT16 FP16 BF16 INT32 UINT32 FP32 INT64 UINT64 DOUBLE".split()
for name in types:
    globals()[f"DT_{name}"] = name


def set_vec_tile_shapes(*args):
    assert 1 <= len(args) <= 4 and all(isinstance(entry, int) and entry > 0 for entry in args)
    tile_shapes.append(list(args))


def loop(start, stop, step, /, *, name, idx_name):
    assert isinstance(name, str) and idx_name.isidentifier()
    return range(start, stop, step)


def view(tensor, shape, offsets, *, valid_shape=None):
    declared, shape = shape, valid_shape or shape
    assert len(declared) == len(shape) == len(offsets) == len(tensor.shape)
    assert all(0 < s <= d for s, d in zip(shape, declared)), "more is valid than a view has"
    assert all(o + s <= e for o, s, e in zip(offsets, shape, tensor.shape)), "a view past its tensor"
    part = lambda point: tensor.at([o + k for o, k in zip(offsets, point)])
    return Tensor(filled(shape, part), tensor.dtype)


def gather(tensor, dim, index):
    picked = lambda point: tensor.at([*point[:dim], index.at(point), *point[dim + 1 :]])
    return Tensor(filled(index.shape, picked), tensor.dtype)


def index_select(tensor, dim, index):
    rank = len(index.shape)
    shape = [*tensor.shape[:dim], *index.shape, *tensor.shape[dim + 1 :]]
    picked = lambda point: [*point[:dim], index.at(point[dim : dim + rank]), *point[dim + rank :]]
    return Tensor(filled(shape, lambda point: tensor.at(picked(point))), tensor.dtype)


def written(tensor, put):
    """What a copy of a tensor is after put; put gets the copy."""
    copy = Tensor(filled(tensor.shape, tensor.at), tensor.dtype)
    put(copy)
    return copy


def scatter_update(tensor, dim, index, src):
    """Into the tensor itself, slot by slot. A negative slot is skipped."""
    assert dim == -2 and len(index.shape) == 2 and tensor.dtype == src.dtype
    rows, columns = index.shape
    for b in range(rows):
        for s in range(columns):
            slot = index.at([b, s])
            if slot < 0:
                continue
            for k in range(src.shape[-1]):
                if len(tensor.shape) == 2:
                    tensor.put([slot, k], src.at([b * columns + s, k]))
                else:
                    pages, size, one, _ = tensor.shape
                    assert one == 1
                    tensor.put([slot // size, slot % size, 0, k], src.at([b, s, 0, k]))
    return tensor


def combined(dtype, reduce, element, value):
    if reduce is None:
        return value
    return result(dtype, element + value if reduce == "add" else element * value)


def scatter_(tensor, dim, index, src, *, reduce=None):
    shape = tensor.shape
    assert len(index.shape) == len(shape) <= 4 and reduce in (None, "add", "multiply")
    assert tile_shapes[-1][dim] >= max(shape[dim], index.shape[dim]), "a tile cuts the dim"
    others = [d for d in range(len(shape)) if d != dim]
    number = None if isinstance(src, Tensor) else result(tensor.dtype, src if tensor.dtype in floats else int(src))
    assert number is None or number == src, f"{src} is no {tensor.dtype}"
    assert all(index.shape[d] <= shape[d] for d in others)
    if isinstance(src, Tensor):
        assert tensor.dtype == src.dtype and all(i <= s for i, s in zip(index.shape, src.shape))
    for point in points(index.shape):
        place = [*point[:dim], index.at(point), *point[dim + 1 :]]
        value = src.at(point) if number is None else number
        tensor.put(place, combined(tensor.dtype, reduce, tensor.at(place), value))
    return tensor


def scatter(tensor, dim, index, src, *, reduce=None):
    return written(tensor, lambda copy: scatter_(copy, dim, index, src, reduce=reduce))


def index_add_(tensor, dim, index, source, *, alpha=1):
    assert len(index.shape) == 1 and index.shape[0] == source.shape[dim] and tensor.dtype == source.dtype
    for point in points(source.shape):
        place = [*point[:dim], index.at([point[dim]]), *point[dim + 1 :]]
        tensor.put(place, result(tensor.dtype, tensor.at(place) + source.at(point) * alpha))
    return tensor


def index_add(tensor, dim, index, source, *, alpha=1):
    return written(tensor, lambda copy: index_add_(copy, dim, index, source, alpha=alpha))


index_add__ub = index_add_
index_add_ub = index_add


def index_put_(tensor, indices, values, accumulate=False):
    assert isinstance(indices, tuple) and len(tensor.shape) + 1 == len(indices) + len(values.shape)
    for point in points(values.shape):
        place = [*[index.at([point[0]]) for index in indices], *point[1:]]
        reduce = "add" if accumulate else None
        tensor.put(place, combined(tensor.dtype, reduce, tensor.at(place), values.at(point)))


def as_f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def as_bf16(value):
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def as_f16(value):
    return struct.unpack("<e", struct.pack("<e", value))[0]


class CastMode:
    CAST_RINT = "RINT"
    CAST_TRUNC = "TRUNC"


class SaturationMode:
    ON = "ON"
    OFF = "OFF"


floats = {"FP32": as_f32, "FP16": as_f16, "BF16": as_bf16}
integers = {"INT8": (-(2**7), 2**7), "UINT8": (0, 2**8), "INT16": (-(2**15), 2**15), "INT32": (-(2**31), 2**31)}
# pypto-cast.md, the table of A2 and A3.
conversions = {
    "FP32": ["FP16", "BF16", "INT32", "INT16"],
    "FP16": ["FP32", "INT32", "INT16", "INT8", "UINT8"],
    "BF16": ["FP32", "INT32"],
    "INT32": ["FP32", "INT16"],
    "INT16": ["FP32", "FP16"],
    "INT8": ["FP16"],
    "UINT8": ["FP16"],
}


def mapped(tensor, dtype, of):
    return Tensor(filled(tensor.shape, lambda point: of(tensor.at(point))), dtype)


def cast(tensor, dtype, mode=None, satmode=SaturationMode.OFF):
    assert dtype in conversions[tensor.dtype], f"no conversion of {tensor.dtype} to {dtype}"
    if dtype in floats:
        assert mode in (None, CastMode.CAST_RINT)
        return mapped(tensor, dtype, lambda value: floats[dtype](float(value)))
    low, end = integers[dtype]
    if tensor.dtype in floats:
        assert mode == CastMode.CAST_TRUNC and satmode == SaturationMode.ON

        def truncated(value):
            assert low <= int(value) < end, f"{value} leaves {dtype}"
            return int(value)

        return mapped(tensor, dtype, truncated)
    assert satmode == SaturationMode.OFF
    return mapped(tensor, dtype, lambda value: (value - low) % (end - low) + low)


def result(dtype, value):
    if dtype in floats:
        return floats[dtype](value)
    low, end = integers[dtype]
    assert low <= value < end, f"{value} leaves {dtype}"
    return value


def elementwise(of):
    def operation(tensor, other):
        assert tensor.dtype in ("FP32", "INT32")
        if not isinstance(other, Tensor):
            assert isinstance(other, float) == (tensor.dtype == "FP32")
            return mapped(tensor, tensor.dtype, lambda value: result(tensor.dtype, of(value, other)))
        assert tensor.dtype == other.dtype and len(tensor.shape) == len(other.shape)
        pairs = list(zip(tensor.shape, other.shape))
        assert all(a == b or 1 in (a, b) for a, b in pairs)
        side = lambda own, point: own.at([0 if extent == 1 else k for extent, k in zip(own.shape, point)])
        shape = [a if b == 1 else b for a, b in pairs]
        each = lambda point: result(tensor.dtype, of(side(tensor, point), side(other, point)))
        return Tensor(filled(shape, each), tensor.dtype)

    return operation


mul = elementwise(lambda a, b: a * b)
add = elementwise(lambda a, b: a + b)


def sum(tensor, dim, keepdim=False):
    """Adds from the last to the first: no page states another order."""
    assert tensor.dtype in ("FP32", "INT32") and not keepdim
    size = 4
    for extent in tile_shapes[-1]:
        size *= extent
    assert len(tile_shapes[-1]) == len(tensor.shape) and size <= 65536

    def added(point):
        terms = [tensor.at([*point[:dim], k, *point[dim:]]) for k in reversed(range(tensor.shape[dim]))]
        total = terms[0]
        for term in terms[1:]:
            total = result(tensor.dtype, total + term)
        return total

    return Tensor(filled([*tensor.shape[:dim], *tensor.shape[dim + 1 :]], added), tensor.dtype)


def reshape(tensor, shape):
    values = [tensor.at(point) for point in points(tensor.shape)]
    count = 1
    for extent in shape:
        count *= extent
    assert count == len(values)
    rest = iter(values)
    return Tensor(filled(shape, lambda point: next(rest)), tensor.dtype)


class Experimental:
    @staticmethod
    def gather_in_ub(param, indices, block_table, block_size, axis):
        assert axis == -2 and indices.shape[0] == 1 and block_table.shape[0] == 1

        def row(token):
            return block_table.at([0, token // block_size]) * block_size + token % block_size

        shape = [indices.shape[1], param.shape[1]]
        picked = lambda point: param.at([row(indices.at([0, point[0]])), point[1]])
        return Tensor(filled(shape, picked), param.dtype)


experimental = Experimental()


def assemble(tensor, offsets, out):
    assert tensor.dtype == out.dtype
    for point in points(tensor.shape):
        out.put([o + k for o, k in zip(offsets, point)], tensor.at(point))


min = min
