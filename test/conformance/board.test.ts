/**
 * PyPTO's own operator tests, which it runs on boards (scripts/board-tests.js): each tile is legal under the profiles of PyPTO's pages and
 * of its code, and the outputs are the oracle's.
 */
import { describe, expect, it } from "vitest";
import { reference } from "../../backends/reference/index.js";
import { elementCount, findOp, meanBytes, type Profile } from "../../ir/index.js";
import { runOn, targets, tryCompile, type Kernel } from "../../src/index.js";
import { parseType } from "../../src/cli/flag-values.js";
import {
  boardProgram,
  boardTargets,
  boardTests,
  writeRefusal,
  type BoardTest,
  type WriteTest,
} from "../docs/pypto-tests-page.js";
import { oracle } from "../oracle/gather.js";
import { fastOutput } from "../support/fast.js";
import { testRunner } from "../support/gpu.js";
import { tried } from "../support/runs.js";
import { operandOf } from "../support/operands.js";
import { once } from "../../src/formats/once.js";

const { gathers, writes } = boardTests;

/** The tests that a profile does not take, each with the code and the source. No more than five, and the list may not grow. */
const exceptions: Readonly<
  Record<string, { readonly profiles: readonly Profile[]; readonly code: string; readonly source: string }>
> = {
  GatherElement_test_42: {
    profiles: ["pages"],
    code: "TC104",
    source: "pypto-gather.md constraint 5 at 883e7df: no uint8",
  },
  GatherElement_test_43: {
    profiles: ["pages"],
    code: "TC104",
    source: "pypto-gather.md constraint 5 at 883e7df: no uint8",
  },
  GatherElement_test_44: {
    profiles: ["pages"],
    code: "TC104",
    source: "pypto-gather.md constraint 5 at 883e7df: no uint8",
  },
  Gather_test_37: {
    profiles: ["pages", "head"],
    code: "TC104",
    source:
      "pypto-index_select.md constraint 1 and CheckGatherParamsInvalid of indexing.cpp, at 883e7df: indices are int32 or int64",
  },
};

const profiles = ["pages", "head"] as const;

const compiled = (test: BoardTest, profile: Profile, target = targets.ascendA2): Kernel | string => {
  const { tile, view } = test;
  let func;
  try {
    func = boardProgram(test);
  } catch (thrown) {
    return String(thrown);
  }
  const result = tryCompile(func, { profile, tile, view, target });
  return result.ok
    ? result.kernel
    : result.diagnostics.map(({ code, message }) => `${code} ${message}`).join("; ");
};

describe("PyPTO's tests that run on boards", () => {
  it("are gathers of both operators, and writes that are listed", () => {
    expect(gathers.length).toBeGreaterThan(70);
    expect(new Set(gathers.map(({ op }) => op)).size).toBe(2);
    expect(writes).toHaveLength(111);
  });

  it("have tiles that pages and head take on every Ascend target, but for the exceptions", () => {
    for (const test of gathers)
      for (const profile of profiles)
        for (const target of boardTargets) {
          const excepted = exceptions[test.id];
          const found = compiled(test, profile, target);
          const said = typeof found === "string" ? found : "legal";
          if (excepted?.profiles.includes(profile) === true) expect(said, test.id).toContain(excepted.code);
          else expect(said, `${test.id} under ${profile} on ${target.name}`).toBe("legal");
        }
  });

  it("have five exceptions at most, each of a test", () => {
    expect(Object.keys(exceptions).length).toBeLessThanOrEqual(5);
    for (const id of Object.keys(exceptions)) expect(gathers.map((test) => test.id)).toContain(id);
  });
});

/** Writes that PyPTO's code takes and `head` does not, each with the code and the reason. */
const writeExceptions: Readonly<Record<string, { readonly code: string; readonly reason: string }>> = {
  "pypto.scatter f32[128,16384] 128,128": {
    code: "TC401",
    reason: "element source; its tiles take more than UB",
  },
  "pypto.scatter f32[16,1,16384] 1,1,16384": {
    code: "TC402",
    reason: "element source; its tiles take more than UB",
  },
  "pypto.scatter f32[2,1,1024,2048] 2,1,64,128": {
    code: "TC401",
    reason: "element source; its tiles take more than UB",
  },
  "pypto.scatter f32[128,512] 128,128": {
    code: "TC401",
    reason: "element source; its tiles take more than UB",
  },
  "pypto.scatter_update f32[1,1,1,64] 1,1,1,64": {
    code: "TC103",
    reason: "pypto-scatter_update.md: src is as long as index",
  },
  "pypto.scatter_update f32[10,8] 2,8": {
    code: "TC103",
    reason: "pypto-scatter_update.md: src is as long as index",
  },
  "pypto.index_add_ i32[10,10] 10,16": { code: "TC105", reason: "alpha 1.2 is no i32" },
  "pypto.index_add_ub i32[10,10] 10,16": { code: "TC105", reason: "alpha 1.2 is no i32" },
  "pypto.index_add_ub i8[10,10] 10,16": { code: "TC104", reason: "pypto-index_add_ub.md: no int8" },
};

describe("PyPTO's tests of writes", () => {
  it("have tiles that head takes on every Ascend target, but for one in ten", () => {
    const refused = new Set<string>();
    let judged = 0;
    for (const test of writes) {
      // The operator is none of tilec's yet.
      if (findOp(test.op) === undefined) continue;
      judged++;
      const excepted = writeExceptions[`${test.op} ${test.inputs[0]} ${test.tile.join()}`];
      for (const target of boardTargets) {
        const refusal = writeRefusal(test, "head", target);
        if (refusal === undefined) continue;
        expect([test.id, refusal.message, refusal.code]).toEqual([test.id, refusal.message, excepted?.code]);
        if (excepted?.reason.startsWith("element source") !== true) refused.add(`${test.op} ${test.id}`);
      }
    }
    expect(judged).toBeGreaterThan(80);
    expect(refused.size).toBeLessThanOrEqual(judged / 10);
  });

  it("are refused by strict where a tile is shorter than input or index along the dim, with the page", () => {
    for (const test of writes.filter(({ op }) => op === "pypto.index_add_ub" || op === "pypto.scatter")) {
      const refusal = writeRefusal(test, "strict", targets.ascendA2);
      const [data, indices, source] = test.inputs.map((type) => parseType(type, "input").shape);
      const dim = Number(test.attrs["dim"]);
      const k = dim < 0 ? dim + data!.length : dim;
      const points = (test.op === "pypto.scatter" ? indices! : source!)[k]!;
      const isShort = test.tile[k]! < Math.max(data![k]!, points);
      if (refusal !== undefined && refusal.code !== "TC301") continue;
      expect([test.id, refusal?.code === "TC301"]).toEqual([test.id, isShort]);
      if (isShort)
        expect(refusal?.notes?.join()).toContain(`pypto-${test.op.slice("pypto.".length)}.md at 883e7df`);
    }
  });

  it("have tiles of scatter_update that are multiples or divisors of the slots of a sequence, and whole rows", () => {
    for (let slots = 1; slots <= 12; slots++)
      for (let entry = 1; entry <= 24; entry++) {
        const test: WriteTest = {
          ...{ id: "", op: "pypto.scatter_update", attrs: {}, view: [24 * slots, 8] },
          inputs: ["f32[512,8]", `i64[24,${slots}]`, `f32[${24 * slots},8]`],
          tile: [entry, 8],
        };
        const isTaken = entry % slots === 0 || slots % entry === 0;
        expect(writeRefusal(test, "strict", targets.ascendA2)?.code).toBe(isTaken ? undefined : "TC302");
        const cut = writeRefusal({ ...test, tile: [slots, 4] }, "strict", targets.ascendA2);
        expect(cut?.code).toBe("TC301");
      }
  });

  it("have views of scatter_update of whole sequences and rows, and tiles that count as they are typed", () => {
    const judged = (slots: number, tile: readonly number[], view: readonly number[]) =>
      (["strict", "pages", "head"] as const).map((profile) => {
        const inputs = ["f32[512,8]", `i64[6,${slots}]`, `f32[${6 * slots},8]`] as const;
        const test: WriteTest = { id: "", op: "pypto.scatter_update", attrs: {}, inputs, view, tile };
        return writeRefusal(test, profile, targets.ascendA2)?.code;
      });
    const each = <T>(code: T): readonly T[] => [code, code, code];
    for (const slots of [1, 2, 3, 4])
      for (let view = 1; view <= 6 * slots; view++)
        expect(judged(slots, [slots, 8], [view, 8])).toEqual(each(view % slots === 0 ? undefined : "TC303"));
    expect(judged(2, [2, 8], [4, 7])).toEqual(each("TC301"));
    expect(judged(2, [2, 8], [4, 9])).toEqual(each(undefined));
    // 3 is cut to the view's 2, and typed it is neither a multiple nor a divisor of 2.
    expect(judged(2, [3, 8], [2, 8])).toEqual(each("TC302"));
    expect(judged(2, [4, 8], [2, 8])).toEqual(each(undefined));
  });
});

/** Elements of the largest output that is run here. */
const mostElements = 150_000;

/** Random bytes: a gather moves bits. */
function bytesFor(length: number, seed: number): Uint8Array {
  let state = seed;
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return state >>> 24;
  });
}

describe("their outputs", () => {
  const small = gathers.filter(
    (test) =>
      elementCount(parseType(test.output, "output").shape) <= mostElements && test.id !== "Gather_test_37",
  );

  const trial = (test: BoardTest) => {
    const kernel = compiled(test, "head");
    if (typeof kernel === "string") throw new Error(kernel);
    const [data, indices] = [operandOf(kernel.tile, "data").type, operandOf(kernel.tile, "indices").type];
    const width = meanBytes(data.dtype);
    const axis = test.axis < 0 ? test.axis + data.shape.length : test.axis;
    const bytes = bytesFor(elementCount(data.shape) * width, 7);
    const picks = [...bytesFor(elementCount(indices.shape), 11)].map((byte) =>
      BigInt(byte % data.shape[axis]!),
    );
    const wide = indices.dtype === "i64";
    const values = wide ? BigInt64Array.from(picks) : Int32Array.from(picks, Number);
    const gather = {
      op: test.op === "pypto.gather" ? ("gather_elements" as const) : ("gather" as const),
      ...{ axis, batchDims: 0, dataShape: data.shape, indexShape: indices.shape },
      ...{ fromEnd: false, policy: "error" as const },
    };
    const places = Array.from({ length: elementCount(data.shape) }, (_, k) => k);
    const { elements } = oracle(gather, places, picks);
    const want = new Uint8Array(elements.length * width);
    elements.forEach((place, k) => {
      want.set(bytes.subarray(place! * width, (place! + 1) * width), k * width);
    });
    const inputs = {
      data: { type: data, bytes },
      indices: { type: indices, bytes: new Uint8Array(values.buffer) },
    };
    return { kernel, inputs, want };
  };

  const trials = once(() => small.map((test) => ({ id: test.id, ...trial(test) })));

  it("are the oracle's on reference and sim", () => {
    expect(small.length).toBeGreaterThan(40);
    for (const { id, kernel, inputs, want } of trials()) {
      expect(reference(kernel.resolved!, inputs), id).toEqual(want);
      expect(fastOutput(kernel, inputs), id).toEqual(want);
    }
  });

  it("are the oracle's on WebGPU", async (context) => {
    const runner = await testRunner();
    if (runner === undefined) {
      context.skip();
      return;
    }
    for (const { id, kernel, inputs, want } of tried(trials())) {
      const { output } = await runOn("webgpu", kernel, inputs, { runner });
      expect(output, id).toEqual(want);
    }
  });
});
