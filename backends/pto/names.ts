/** Which of the program's names are identifiers of a kernel: neither C++ nor PTO-ISA nor the kernel itself uses them. */
import type { TileFunc } from "../../ir/func.js";
import { flatten } from "../../ir/tile.js";
import { InternalError } from "../../ir/types.js";
import { identifiersOf, type Names } from "../names.js";

/** Keywords and alternative tokens (ISO C++20, 5.11 and 5.5), and names that headers put into the global namespace. */
const language =
  "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class co_await " +
  "co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default delete do " +
  "double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace " +
  "new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires return " +
  "short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef " +
  "typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq main std pto half bfloat16_t " +
  "abs div exit free index malloc printf signal time y0 y1 yn j0 j1 jn";
/** What kernels declare, but for what `numbered` covers. */
const kernel =
  "status task bad inside table row from word c r t n get_block_idx set_flag wait_flag " +
  "pipe_barrier set_mask_norm set_vector_mask AICORE Tile TileType BLayout GlobalTensor Shape Stride Layout Coalesce " +
  "GatherOOB DYNAMIC event_t RoundMode SaturationMode narrow_ub widened_ub addresses_ub pattern_ub base_ub seen_ub border_ub " +
  "turned_ub turn picks slot start until own next low high";
const reserved: ReadonlySet<string> = new Set(`${language} ${kernel}`.split(" "));
const numbered =
  /^(?:(?:tile|load|store|row|sync|given|reached|d|i|m|n|s)\d+(?:_\d+)?|(?:Ub|Gm)[A-Z]\w*|T[A-Z]+|MGATHER|PIPE_\w+|EVENT_\w+)$/;

const usable = (name: string): boolean =>
  /^[A-Za-z][A-Za-z0-9_]*$/.test(name) && !reserved.has(name) && !numbered.test(name);

export interface PtoNames extends Names {
  /** Which copy of a UB buffer is in turn. */
  readonly turn: (buffer: string) => string;
  /** The kernel. Nothing else is called so, nor `…` with one of `helperEnds` behind it. */
  readonly entryPoint: string;
}

/** Behind the kernel's name: its constant, and the functions that it calls. */
const helperEnds = ["_cores", "_index", "_index2", "_index3", "_floor"];

/** Every name that is made is apart from all that the program has; a prefix makes it so where it is not. */
export function namesOf(func: TileFunc): PtoNames {
  const names = identifiersOf(func, usable);
  const all = flatten(func.body);
  const buffers = all.flatMap((stmt) => (stmt.op === "alloc" ? [stmt.buffer.name] : []));
  const taken = new Set([
    ...[...func.operands.map(({ name }) => name), ...buffers].map(names.buffer),
    ...all.flatMap((stmt) => (stmt.op === "for" ? [names.iv(stmt.iv)] : [])),
  ]);
  const turns = new Map<string, string>();
  for (const buffer of buffers) {
    let free = `${names.buffer(buffer).replace(/_ub$/, "")}_turn`;
    while (taken.has(free)) free = `x_${free}`;
    taken.add(free);
    turns.set(buffer, free);
  }
  let entryPoint = func.name;
  while (!usable(entryPoint) || ["", ...helperEnds].some((end) => taken.has(`${entryPoint}${end}`)))
    entryPoint = `k_${entryPoint}`;
  return {
    ...names,
    entryPoint,
    turn(buffer) {
      const found = turns.get(buffer);
      if (found === undefined) throw new InternalError(`%${buffer} is no buffer of @${func.name}`);
      return found;
    },
  };
}
