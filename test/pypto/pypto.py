"""A stand-in for PyPTO's front end: it runs a program's loops on nested lists and counts what each assemble writes."""


class Tensor:
    def __init__(self, values):
        self.values = values
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
    shape = valid_shape or shape
    assert len(shape) == len(offsets) == len(tensor.shape)
    assert all(o + s <= e for o, s, e in zip(offsets, shape, tensor.shape)), "a view past its tensor"
    return Tensor(filled(shape, lambda point: tensor.at([o + k for o, k in zip(offsets, point)])))


def gather(tensor, dim, index):
    return Tensor(
        filled(index.shape, lambda point: tensor.at([*point[:dim], index.at(point), *point[dim + 1 :]]))
    )


def index_select(tensor, dim, index):
    rank = len(index.shape)
    shape = [*tensor.shape[:dim], *index.shape, *tensor.shape[dim + 1 :]]
    picked = lambda point: [*point[:dim], index.at(point[dim : dim + rank]), *point[dim + rank :]]
    return Tensor(filled(shape, lambda point: tensor.at(picked(point))))


class Experimental:
    @staticmethod
    def gather_in_ub(param, indices, block_table, block_size, axis):
        assert axis == -2 and indices.shape[0] == 1 and block_table.shape[0] == 1

        def row(token):
            return block_table.at([0, token // block_size]) * block_size + token % block_size

        shape = [indices.shape[1], param.shape[1]]
        return Tensor(filled(shape, lambda point: param.at([row(indices.at([0, point[0]])), point[1]])))


experimental = Experimental()


def assemble(tensor, offsets, out):
    for point in points(tensor.shape):
        out.put([o + k for o, k in zip(offsets, point)], tensor.at(point))


min = min
