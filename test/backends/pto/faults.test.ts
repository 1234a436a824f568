/** The judge objects to every fault: in a sync, a barrier, an address, a multiply, a tail, a lag. */
import { beforeAll, describe, expect, it } from "vitest";
import { emitPto } from "../../../backends/pto/index.js";
import { byteCount, meanBytes, inputOf, type Stmt, type TileFunc } from "../../../ir/index.js";
import { compile, runOn, targets } from "../../../src/index.js";
import { faultsOf } from "../../support/pto-faults.js";
import { exampleKernels } from "../../support/pto-kernels.js";
import { cppCompiler, ptoJob, runPto, type PtoJob, type PtoVerdict } from "../../support/pto.js";

/** One core runs every task, so that it comes back to each copy of each buffer. */
const kernels = Object.entries(exampleKernels).map(([name, { func, schedule }]) => ({
  name,
  kernel: compile(func, { ...schedule, cores: 1, profile: "head", target: targets.ascendA2 }),
}));

/** Each sync in turn waits for the run before the latest one instead. */
function turnedLags(tile: TileFunc): readonly TileFunc[] {
  const turned = (body: readonly Stmt[], count: { left: number }): readonly Stmt[] =>
    body.map((stmt): Stmt => {
      if (stmt.op === "for") return { ...stmt, body: turned(stmt.body, count) };
      return stmt.op === "sync" && stmt.lag === 0 && count.left-- === 0 ? { ...stmt, lag: 1 } : stmt;
    });
  const found: TileFunc[] = [];
  for (let k = 0; ; k++) {
    const body = turned(tile.body, { left: k });
    if (JSON.stringify(body) === JSON.stringify(tile.body)) return found;
    found.push({ ...tile, body });
  }
}

/**
 * What another order in the same kernel covers, so that nothing goes wrong without it.
 *
 * A wait for the data, when the indices behind it are waited for on the same pipes. The lag 1 of a load outside a serial loop,
 * when the loads inside wait too. In row-fetch, MTE3 reaches S and MTE2 through the wait before TEXPANDS and those behind the
 * rows. MGATHER waits for MTE3 before, and MTE3 for it behind. A
 * barrier in front of a strip that touches nothing of what came before, and in front of the last look at what was seen, which waits for
 * V. A turn of indices that are read on the pipe that
 * loads them, or by S with waits on both sides.
 */
const covered: Readonly<Record<string, readonly string[]>> = {
  "a sync dropped": [
    "flat-zero: set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);",
    "flat-error: set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);",
    "flat-tuples: set_flag(PIPE_MTE2, PIPE_S, EVENT_ID1);",
    "row-copy: set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);",
    "row-fetch: set_flag(PIPE_MTE3, PIPE_S, EVENT_ID7);",
    "mgather: set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID1);",
    "scalar: set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);",
  ],
  "a sync with lag 1 dropped": [
    "flat-zero: set_flag(PIPE_V, PIPE_MTE2, (event_t)(1 + (sync0 & 1)));",
    "row-copy: set_flag(PIPE_V, PIPE_MTE2, (event_t)(1 + (sync0 & 1)));",
    "row-fetch: set_flag(PIPE_MTE3, PIPE_MTE2, (event_t)(1 + (sync0 & 1)));",
    "mgather: set_flag(PIPE_MTE3, PIPE_MTE2, (event_t)(1 + (sync0 & 1)));",
    "scalar: set_flag(PIPE_V, PIPE_MTE2, (event_t)(1 + (sync0 & 1)));",
  ],
  "a pipe barrier dropped": [
    "flat: pipe_barrier(PIPE_V);",
    "flat-zero: pipe_barrier(PIPE_V);",
    "flat-error: pipe_barrier(PIPE_V);",
    "flat-error: pipe_barrier(PIPE_V);",
    "flat-strips: pipe_barrier(PIPE_V);",
    "flat-strips: pipe_barrier(PIPE_V);",
    "flat-strips: pipe_barrier(PIPE_V);",
    "flat-tuples: pipe_barrier(PIPE_V);",
    "flat-tuples: pipe_barrier(PIPE_V);",
    "flat-bytes: pipe_barrier(PIPE_V);",
    "flat-bytes: pipe_barrier(PIPE_V);",
    "flat-indices: pipe_barrier(PIPE_V);",
  ],
  "a lag turned": [
    "flat-zero: sync 0",
    "flat-error: sync 1",
    "flat-tuples: sync 0",
    "row-copy: sync 0",
    "mgather: sync 0",
    "scalar: sync 0",
  ],
  "a turn dropped": [
    "row-fetch: turn_indices ^= 1;",
    "mgather: turn_indices ^= 1;",
    "mgather: turn_output ^= 1;",
  ],
};

interface Trial {
  readonly kernel: string;
  readonly kind: string;
  readonly line: string;
  readonly job: PtoJob;
}

describe.skipIf(cppCompiler() === undefined)("a fault in a kernel", () => {
  let trials: readonly Trial[] = [];
  let verdicts: readonly PtoVerdict[] = [];
  const wanted = new Map<string, Uint8Array>();

  beforeAll(async () => {
    const all: Trial[] = [];
    for (const { name, kernel } of kernels) {
      const [data, indices] = [inputOf(kernel.tile, 0).type, inputOf(kernel.tile, 1).type];
      const bytes = Uint8Array.from({ length: byteCount(data) }, (_, k) => (k * 7 + (k >> 8) * 13) % 251);
      const below =
        name === "flat-tuples" ? Math.min(...data.shape) : data.shape[name === "flat-error" ? 1 : 0]!;
      const size = meanBytes(indices.dtype);
      const count = byteCount(indices) / size;
      const spread = kernel.access!.map.indices.some(({ outOfRange }) => outOfRange === "error") ? 0 : 3;
      const value = (k: number): number =>
        k % 5 === 0 ? -1 - ((k * 3) % (below + spread)) : (k * 37 + 11) % (below + spread);
      const values = Array.from({ length: count }, (_, k) => value(k));
      const indexBytes = Uint8Array.from({ length: count * size }, (_, k) =>
        Number(BigInt.asUintN(8, BigInt(values[Math.floor(k / size)]!) >> BigInt(8 * (k % size)))),
      );
      const inputs = { data: { type: data, bytes }, indices: { type: indices, bytes: indexBytes } };
      wanted.set(name, (await runOn("reference", kernel, inputs)).output);
      const add = (kind: string, line: string, job: PtoJob, code = job.kernel.code): void => {
        all.push({ kernel: name, kind, line, job: { ...job, kernel: { ...job.kernel, code } } });
      };
      const jobOf = (tile: TileFunc): PtoJob =>
        ptoJob({ tile, target: kernel.target }, `k${all.length}`, [bytes, indexBytes]);
      add("none", "", jobOf(kernel.tile));
      const { code } = emitPto(kernel.tile, kernel.target);
      faultsOf(code).forEach((_, k) => {
        const job = jobOf(kernel.tile);
        const fault = faultsOf(job.kernel.code)[k]!;
        add(fault.kind, fault.line, job, fault.code);
      });
      turnedLags(kernel.tile).forEach((tile, k) => {
        add("a lag turned", `sync ${k}`, jobOf(tile));
      });
    }
    trials = all;
    verdicts = await runPto(all.map(({ job }) => job));
  }, 300_000);

  /** What the judge, or the bits, say against a kernel. */
  const objection = (k: number): string => {
    const { fault, output } = verdicts[k]!;
    if (fault !== "") return fault;
    return Buffer.compare(output, wanted.get(trials[k]!.kernel)!) === 0 ? "" : "other bits";
  };

  it("is none in the kernels as they are", () => {
    const whole = trials.flatMap(({ kind }, k) => (kind === "none" ? [objection(k)] : []));
    expect(whole).toEqual(kernels.map(() => ""));
  });

  it.each([
    "a sync dropped",
    "a sync with lag 1 dropped",
    "a pipe barrier dropped",
    "a multiply dropped",
    "a tail widened",
    "a row widened",
    "an address moved by a block",
    "a lag turned",
    "a turn dropped",
    "a conversion dropped",
  ])("%s is found wherever nothing else covers it", (kind) => {
    const own = trials.flatMap((trial, k) => (trial.kind === kind ? [{ ...trial, k }] : []));
    // Two more than are covered, at least: `row-copy` alone has rows to widen, one it reads and one it writes.
    expect(own.length).toBeGreaterThanOrEqual(2 + 2 * (covered[kind]?.length ?? 0));
    const silent = own.filter(({ k }) => objection(k) === "").map(({ kernel, line }) => `${kernel}: ${line}`);
    expect(silent).toEqual(covered[kind] ?? []);
  });

  it("in the columns that rows of TMOV are declared with is found also where they lie within their buffer", async () => {
    const { kernel } = kernels.find(({ name }) => name === "row-copy")!;
    const [data, indices] = [inputOf(kernel.tile, 0).type, inputOf(kernel.tile, 1).type];
    // Row 0 has rows behind it, so that a row twice as wide reaches past no buffer.
    const inputs = [new Uint8Array(byteCount(data)), new Uint8Array(byteCount(indices))];
    const job = ptoJob(kernel, "widened", inputs);
    const code = job.kernel.code.replace(
      /(using UbDataRow = Tile<TileType::Vec, \w+, 1, )(\d+)/,
      (_, head: string, columns: string) => `${head}${2 * Number(columns)}`,
    );
    expect(code).not.toBe(job.kernel.code);
    const [whole, changed] = await runPto([
      ptoJob(kernel, "whole", inputs),
      { ...job, kernel: { ...job.kernel, code } },
    ]);
    expect(whole!.fault).toBe("");
    expect(changed!.fault).toMatch(/^TMOV of tiles of 1 x 16 and 1 x 32/);
  });
});
