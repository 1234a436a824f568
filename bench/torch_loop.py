"""The gathers in PyTorch, as a process with the protocol of plain.c: `run N` prints the nanoseconds of one gather on N threads into a
given output, `dump FILE` writes the output. Arguments: op, element type, index type, axis, data shape, index shape, data, indices.

torch.gather takes 64-bit indices alone and counts none from the end: the benchmark's are in range, and widened once.
"""
import sys
import time

import torch

op, dtype, index_type, axis, data_shape, index_shape, data_file, index_file = sys.argv[1:]
types = {"f32": torch.float32, "f16": torch.float16, "i8": torch.int8, "u8": torch.uint8, "i32": torch.int32, "i64": torch.int64}


def read(path, kind, shape):
    with open(path, "rb") as file:
        flat = torch.frombuffer(bytearray(file.read()), dtype=types[kind])
    return flat.reshape([int(extent) for extent in shape.split(",")])


data = read(data_file, dtype, data_shape)
indices = read(index_file, index_type, index_shape)
axis = int(axis)
if op == "gather":
    out = torch.index_select(data, axis, indices)
    gather = lambda: torch.index_select(data, axis, indices, out=out)
elif op == "gather_elements":
    wide = indices.long()
    out = torch.gather(data, axis, wide)
    gather = lambda: torch.gather(data, axis, wide, out=out)
else:
    pairs = indices.long()

    def gather():
        global out
        out = data[pairs[:, 0], pairs[:, 1]]

    gather()

for line in sys.stdin:
    what, argument = line.split()
    if what == "dump":
        with open(argument, "wb") as file:
            file.write(out.contiguous().numpy().tobytes())
        print(0, flush=True)
        continue
    torch.set_num_threads(int(argument))
    start = time.perf_counter_ns()
    gather()
    print(time.perf_counter_ns() - start, flush=True)
