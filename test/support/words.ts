/** The words of the languages that tilec emits, as their specifications list them: no identifier of a program may be one. */

const listed = (...texts: readonly string[]): readonly string[] => texts.join(" ").split(" ");

/** W3C WGSL: keywords and reserved words (15), predeclared types, enumerants and built-in functions (16 and 17), built-in values. */
const wgsl = listed(
  "alias break case const const_assert continue continuing default diagnostic discard else enable false fn for if let",
  "loop override requires return struct switch true var while",
  "NULL Self abstract active alignas alignof as asm asm_fragment async attribute auto await become cast catch class co_await",
  "co_return co_yield coherent column_major common compile compile_fragment concept const_cast consteval constexpr constinit",
  "crate debugger decltype delete demote demote_to_helper do dynamic_cast enum explicit export extends extern external",
  "fallthrough filter final finally friend from fxgroup get goto groupshared highp impl implements import inline instanceof",
  "interface layout lowp macro macro_rules match mediump meta mod module move mut mutable namespace new nil noexcept noinline",
  "nointerpolation non_coherent noncoherent noperspective null nullptr of operator package packoffset partition pass patch",
  "pixelfragment precise precision premerge priv protected pub public readonly ref regardless register reinterpret_cast require",
  "resource restrict self set shared sizeof smooth snorm static static_assert static_cast std subroutine super target template",
  "this thread_local throw trait try type typedef typeid typename typeof union unless unorm unsafe unsized use using varying",
  "virtual volatile wgsl where with writeonly yield",
  "bool f16 f32 i32 u32 array atomic ptr sampler sampler_comparison vec2 vec3 vec4 vec2i vec3i vec4i vec2u vec3u vec4u vec2f vec3f",
  "vec4f vec2h vec3h vec4h mat2x2 mat2x3 mat2x4 mat3x2 mat3x3 mat3x4 mat4x2 mat4x3 mat4x4 mat2x2f mat3x3f mat4x4f mat2x2h",
  "texture_1d texture_2d texture_2d_array texture_3d texture_cube texture_cube_array texture_multisampled_2d texture_external",
  "texture_depth_2d texture_depth_cube texture_storage_1d texture_storage_2d texture_storage_3d",
  "read write read_write function private workgroup uniform storage rgba8unorm rgba8snorm rgba8uint rgba16float r32uint rg32float",
  "bitcast all any select arrayLength abs acos acosh asin asinh atan atanh atan2 ceil clamp cos cosh countLeadingZeros",
  "countOneBits countTrailingZeros cross degrees determinant distance dot dot4U8Packed dot4I8Packed exp exp2 extractBits",
  "faceForward firstLeadingBit firstTrailingBit floor fma fract frexp insertBits inverseSqrt ldexp length log log2 max min mix",
  "modf normalize pow quantizeToF16 radians reflect refract reverseBits round saturate sign sin sinh smoothstep sqrt step tan",
  "tanh transpose trunc dpdx dpdy fwidth textureDimensions textureLoad textureStore textureSample atomicLoad atomicStore",
  "atomicAdd atomicSub atomicMax atomicMin atomicAnd atomicOr atomicXor atomicExchange atomicCompareExchangeWeak",
  "pack4x8snorm pack4x8unorm pack4xI8 pack4xU8 pack2x16float unpack4x8snorm unpack4x8unorm unpack4xI8 unpack4xU8 unpack2x16float",
  "storageBarrier textureBarrier workgroupBarrier workgroupUniformLoad subgroupAdd subgroupBallot quadBroadcast",
  "vertex_index instance_index position front_facing frag_depth sample_index sample_mask local_invocation_id",
  "local_invocation_index global_invocation_id workgroup_id num_workgroups subgroup_size align binding builtin compute group id",
  "interpolate invariant location must_use size vertex fragment workgroup_size main",
);

/** ISO C++20: keywords and alternative tokens (5.11, 5.5), and names that its headers put into the global namespace. */
const cpp = listed(
  "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class co_await",
  "co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default delete do double",
  "dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept",
  "not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires return short signed sizeof",
  "static static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename union",
  "unsigned using virtual void volatile wchar_t while xor xor_eq final override import module",
  "main std int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t ptrdiff_t intptr_t INT32_MAX UINT64_C NULL",
  "EOF errno assert offsetof linux unix abs div exit free index malloc printf signal time read write close y0 y1 yn j0 j1 jn",
);

/** ECMAScript 2024: reserved words (12.7.2), and the members that every object and every function has. */
const javascript = [
  ...listed(
    "await break case catch class const continue debugger default delete do else enum export extends false finally for function",
    "if import in instanceof new null return super switch this throw true try typeof var void while with yield let static",
    "implements interface package private protected public async of get set arguments eval undefined NaN Infinity",
  ),
  ...[Object.prototype, Function.prototype, Array.prototype, globalThis].flatMap((owner) =>
    Object.getOwnPropertyNames(owner),
  ),
];

/** The Python language reference: keywords (2.3.1), soft keywords (2.3.2), and names of PyPTO's programs. */
const python = listed(
  "False None True and as assert async await break class continue def del elif else except finally for from global if import in",
  "is lambda nonlocal not or pass raise return try while with yield match case type _ pypto min print len",
);

/** Words of the text form, and of reports and options. */
const own = listed(
  "func dim tensor gm ub target schedule load gather store sync for to step parallel serial alloc row buffers at origin scratch",
  "into part of oob fill paired let yield error clamp zero wrap unchecked from_end div mod min in but most r d0 d1 t0 v0 lag",
  "data indices output status sizes inputs outputs tile view profile residency order cores scratch sum terms value gathered",
  "data_ub indices_ub output_ub expected units key name role type bytes",
);

/** The words of each language, those that are names of the text form. */
export const languageWords: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries({ wgsl, cpp, javascript, python, own }).map(([language, words]) => [
    language,
    [...new Set(words)].filter((word) => /^\w+$/.test(word)),
  ]),
);

/** Returns the identifiers of a text, without those of its comments. */
export const identifiersIn = (text: string): readonly string[] => [
  ...new Set(text.replaceAll(/\/\/.*|^\s*(?:#|;;).*/gm, "").match(/[A-Za-z_]\w*/g)),
];
