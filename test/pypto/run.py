"""Parses each program with Python's own grammar, runs it on the stand-in, and prints what it wrote."""

import ast
import json
import sys

import pypto

results = []
for job in json.load(sys.stdin):
    tree = ast.parse(job["program"])
    (function,) = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    scope = {}
    exec(compile(tree, "program.py", "exec"), scope)
    pypto.tile_shapes.clear()
    types = [dtype for _, dtype in scope[function.name].__annotations__.values()]

    def held(values, dtype):
        if isinstance(values, list):
            return [held(part, dtype) for part in values]
        return float(values) if dtype in pypto.floats else values

    inputs = [pypto.Tensor(held(values, dtype), dtype) for values, dtype in zip(job["inputs"], types)]
    if job["inPlace"]:
        output = inputs[0]
        scope[function.name](*inputs)
    else:
        output = pypto.Tensor(job["output"], types[-1])
        scope[function.name](*inputs, output)
    results.append(
        {
            "tiles": pypto.tile_shapes.copy(),
            "output": output.values,
            "writes": sorted(set(output.writes.values())),
            "written": len(output.writes),
        }
    )
json.dump(results, sys.stdout)
