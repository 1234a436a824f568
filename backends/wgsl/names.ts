/** Which of the program's names are WGSL identifiers: neither WGSL nor the kernel itself uses them. */
import type { TileFunc } from "../../ir/func.js";
import { identifiersOf, type Names } from "../names.js";

/** Keywords, reserved words and the predeclared names that kernels use (W3C WGSL, sections 15 and 17). */
const language =
  "alias break case const const_assert continue continuing default diagnostic discard else enable false fn for if let " +
  "loop override requires return struct switch true var while array atomic bool f16 f32 i32 mat2x2 ptr sampler " +
  "texture_1d u32 vec2 vec3 vec4 vec2u vec3u vec4u NULL Self abstract active alignas alignof as asm asm_fragment async " +
  "attribute auto await become cast catch class co_await co_return co_yield coherent column_major common compile " +
  "compile_fragment concept const_cast consteval constexpr constinit crate debugger decltype delete demote " +
  "demote_to_helper do dynamic_cast enum explicit export extends extern external fallthrough filter final finally " +
  "friend from fxgroup get goto groupshared highp impl implements import inline instanceof interface layout lowp " +
  "macro macro_rules match mediump meta mod module move mut mutable namespace new nil noexcept noinline nointerpolation " +
  "non_coherent noncoherent noperspective null nullptr of operator package packoffset partition pass patch " +
  "pixelfragment precise precision premerge priv protected pub public readonly ref regardless register " +
  "reinterpret_cast require resource restrict self set shared sizeof smooth snorm static static_assert static_cast std " +
  "subroutine super target template this thread_local throw trait try type typedef typeid typename typeof union unless " +
  "unorm unsafe unsized use using varying virtual volatile wgsl where with writeonly yield " +
  "any atomicAnd atomicMin atomicOr max min select workgroupBarrier private storage workgroup";
/** What kernels declare, but for what `numbered` covers. */
const kernel =
  "status lane lane_index group task main bad element first word flat slot source row packed mask to rows end fetch pack words half e a b " +
  "low high again wrapped tail bit r negative position place begin unit four start k d run shift alive written value all term terms sum " +
  "sizes Sizes add_i128 negated_i128 product_of times_i128 remainder_i128 quotient_i128 is_negative is_below wrapped_i128";
/** The functions of values. */
const isHelper = (name: string): boolean => name === "pack" || /^(?:f32|f16|bf16|f8\w*)_/.test(name);
const reserved: ReadonlySet<string> = new Set(`${language} ${kernel}`.split(" "));
const numbered =
  /^(?:resolve_|wrap_|raw_at|in_at|start|value|d|c|at|none|i128_)\d+(?:_\d+|_turn|_unit|_run|_start|_stop)?$|^(?:unit|k)_turn$/;

const usable = (name: string): boolean =>
  /^[A-Za-z][A-Za-z0-9_]*$/.test(name) && !reserved.has(name) && !numbered.test(name) && !isHelper(name);

/** A number that sizes tell, as a member of its struct. */
export const memberName = (name: string): string => (usable(name) ? name : `x_${name}`);
/** The same where it is read. */
export const sizeName = (name: string): string => `sizes.${memberName(name)}`;

export const namesOf = (func: TileFunc): Names => identifiersOf(func, usable);
