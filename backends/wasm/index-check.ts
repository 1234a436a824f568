/**
 * The check of a turn's index values by vectors. Unsigned, a negative value is above every limit, and so is
 * one whose high word is not 0.
 */
import { at, InternalError, invariant } from "../../ir/types.js";
import { range } from "../plan/runs.js";
import type { LocalId } from "./code.js";
import { vectorBytes, wordBytes, type ComparedVector } from "./compared.js";
import type { WasmContext } from "./context.js";
import type { CpuGather } from "./gather-plan.js";
import { firstIndex, type Pointers, type Shift } from "./pointers.js";
import type { RuleBounds } from "./resolve.js";

/** Vectors that are compared with the same limits. */
interface Compared {
  /** The highest values in range. */
  readonly limits: LocalId;
  /** Local that holds the numbers that negative values count from; absent if no value counts from the end. */
  readonly ends?: LocalId;
  readonly vectors: readonly ComparedVector[];
}

/**
 * Emitter of vector comparisons that check the index values of an unrolled step (several elements or rows per
 * iteration).
 */
export class IndexCheck {
  private readonly compared: readonly Compared[];
  /** Locals that hold the values of each vector after negative values were counted from the end. */
  private readonly counted = new Map<ComparedVector, LocalId>();

  /**
   * Emits vectors with the largest index values in range. `counts`: true to first count negative values from
   * the end, if the policy does so.
   */
  constructor(
    private readonly context: WasmContext,
    private readonly plan: CpuGather,
    vectors: readonly ComparedVector[],
    counts: boolean,
  ) {
    const alike = new Map<string, ComparedVector[]>();
    for (const vector of vectors) {
      const key = vector.words.join();
      alike.set(key, [...(alike.get(key) ?? []), vector]);
    }
    this.compared = [...alike.values()].map((group): Compared => {
      const { words } = at(group, 0);
      const limits = this.vector("limits", words, ({ extent }) => {
        context.code.amount(extent, "i32", -1);
      });
      if (!counts) return { limits, vectors: group };
      for (const vector of group) this.counted.set(vector, context.code.local("counted", "v128"));
      if (!words.some((word) => word !== "high" && this.boundsOf(word).wrapNegativeBy !== undefined))
        return { limits, vectors: group };
      const ends = this.vector("ends", words, ({ wrapNegativeBy }) => {
        context.code.amount(wrapNegativeBy ?? { kind: "const", value: 0 });
      });
      return { limits, ends, vectors: group };
    });
  }

  private boundsOf(index: number): RuleBounds {
    const { rule } = at(this.plan.indexSteps, index);
    invariant(rule !== undefined, "what is checked has a rule");
    return this.context.bounds(rule);
  }

  /** Returns a vector of a number for each word, 0 for high ones. */
  private vector(name: string, words: ComparedVector["words"], push: (bounds: RuleBounds) => void): LocalId {
    const { code } = this.context;
    const local = code.local(name, "v128");
    const pushWord = (word: number | "high"): void => {
      if (word === "high") code.const(0);
      else push(this.boundsOf(word));
    };
    pushWord(at(words, 0));
    code.op("i32x4.splat");
    for (const lane of range(1, words.length)) {
      const word = at(words, lane);
      if (word === words[0]) continue;
      pushWord(word);
      code.op("i32x4.replace_lane", lane);
    }
    code.set(local);
    return local;
  }

  /** Pushes whether the values of a turn all name an element. */
  emit({ index }: Pointers, shift: Shift): void {
    const { code } = this.context;
    this.compared.forEach(({ ends, limits, vectors }, n) => {
      vectors.forEach((vector, k) => {
        const { offset, walk, words } = vector;
        code.get(at(index, walk).local).op("v128.load", at(shift, firstIndex + walk) + offset);
        const counted = this.counted.get(vector);
        if (counted !== undefined) {
          if (ends !== undefined) this.count(counted, ends, words.includes("high"));
          code.op("local.tee", counted);
        }
        if (k > 0) code.op("i32x4.max_u");
      });
      code.get(limits).op("i32x4.le_u");
      if (n > 0) code.op("v128.and");
    });
    code.op("i32x4.bitmask").const(0xf).op("i32.eq");
  }

  /** Adds what they count from to the negative values of the vector on top. */
  private count(local: LocalId, ends: LocalId, isWide: boolean): void {
    const { code } = this.context;
    const [lanes, sign] = isWide ? (["i64x2", 63] as const) : (["i32x4", 31] as const);
    code.op("local.tee", local).get(local).const(sign).op(`${lanes}.shr_s`);
    code.get(ends).op("v128.and").op(`${lanes}.add`);
  }

  /** Pushes the value that lies so many bytes from a walk's pointer, counted from the end; in range. */
  value(walk: number, offset: number): void {
    for (const [vector, local] of this.counted) {
      const within = offset - vector.offset;
      if (vector.walk !== walk || within < 0 || within >= vectorBytes) continue;
      this.context.code.get(local).op("i32x4.extract_lane", within / wordBytes);
      return;
    }
    throw new InternalError("a value that no vector holds");
  }
}
