// A judge of PTO-ISA kernels: the instructions that tilec emits, with the semantics docs/pto.md states, run one after another
// on a CPU, and stricter than the machine: what the machine would let pass, or do wrong without a word, fails with a reason.
//
// Unified buffer: every byte knows whether it holds a value, who wrote it and who read it. A tile must lie inside one of the
// buffers that the host registered. Pipes: every pipe has a vector clock; set_flag publishes it, wait_flag joins it, and two
// pipes that touch a byte need an order between them. Vector instructions that depend on each other need a barrier.
//
// Floats: what the documents leave open is a switch of the machine. Subnormals of f32 are kept or flushed, results that are tiny before or
// after rounding; a result past the range is an infinity or the largest number; a NaN has any payload. Casts that PTO-ISA leaves
// undefined fail.
#pragma once
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#define __global__
#define __gm__
#define AICORE

enum pipe_t { PIPE_S, PIPE_V, PIPE_MTE2, PIPE_MTE3 };
enum event_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };

// Kernels are compiled as they stand, which is quick; what runs for each byte is worth the time.
#ifndef __clang__
#pragma GCC push_options
#pragma GCC optimize("O2")
#endif

namespace shim {

constexpr int pipes = 4;
inline const char* const pipe_names[pipes] = {"S", "V", "MTE2", "MTE3"};

[[noreturn]] inline void fail(const char* format, ...)
{
    char text[512];
    va_list rest;
    va_start(rest, format);
    vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    throw std::runtime_error(text);
}

struct Clock {
    uint32_t at[pipes] = {};
    void join(const Clock& other)
    {
        for (int p = 0; p < pipes; p++)
            if (other.at[p] > at[p]) at[p] = other.at[p];
    }
};

struct Byte {
    bool defined;
    int8_t writer; // -1: none
    uint32_t written;
    uint32_t read[pipes];
};

struct Buffer {
    std::string name;
    uint64_t address, bytes;
};

// When a byte of the output was stored last, in barriers of MTE3 from 1 on, by which block, and by which of its stores. 0: never.
struct Stored {
    uint32_t time = 0, block = 0, issued = 0;
};

struct Tensor {
    std::vector<uint8_t> bytes;
    bool output;
    std::vector<Stored> stored;
};

struct Flag {
    bool set = false;
    Clock clock;
};

// One core, and the global memory that all cores share.
struct Machine {
    uint64_t ub_bytes = 0;
    uint32_t gather_bytes = 0; // a bit for each size in bytes that TGATHER takes
    uint32_t dma_rows = 4095;
    uint32_t writes = 0; // 0: each byte of the output once, 1: a copy and elements, again too, 2: elements in place
    uint32_t stores = 1; // barriers of MTE3 so far, and one
    bool a5 = false; // MGATHER as the 950's header has it
    bool flush = false; // f32 subnormals, of operands and of results
    bool before = false; // results that are tiny before they are rounded
    bool largest = false; // in place of an infinity past the range
    std::vector<Buffer> buffers;
    std::vector<Tensor> tensors;
    uint32_t block = 0;
    std::vector<uint8_t> ub;
    std::vector<Byte> bytes;
    Clock clocks[pipes];
    uint32_t issued[pipes] = {};
    uint32_t noise = 1;
    Flag flags[pipes][pipes][8];

    void begin(uint32_t number)
    {
        block = number;
        uint64_t peak = 0;
        for (const Buffer& b : buffers) peak = b.address + b.bytes > peak ? b.address + b.bytes : peak;
        ub.assign(peak, 0);
        scramble(0, peak);
        bytes.assign(peak, Byte{false, -1, 0, {}});
        for (int p = 0; p < pipes; p++) {
            clocks[p] = Clock();
            issued[p] = 0;
            for (auto& to : flags[p])
                for (Flag& flag : to) flag.set = false;
        }
    }

    void end()
    {
        for (int a = 0; a < pipes; a++)
            for (int b = 0; b < pipes; b++)
                for (int id = 0; id < 8; id++)
                    if (flags[a][b][id].set)
                        fail("flag %s -> %s id %d is left set", pipe_names[a], pipe_names[b], id);
    }

    // Whether a pipe knows that another one has come so far. All but V finish each instruction before the next.
    bool knows(int pipe, int other, uint32_t time) const
    {
        return (pipe == other && pipe != PIPE_V) || clocks[pipe].at[other] >= time;
    }

    void touch(int pipe, uint64_t address, uint64_t count, bool write, const char* what, bool define = true)
    {
        const uint32_t now = issued[pipe];
        for (uint64_t k = address; k < address + count; k++) {
            Byte& byte = bytes[k];
            if (byte.writer >= 0 && byte.written != 0 && !(byte.writer == pipe && byte.written == now) &&
                !knows(pipe, byte.writer, byte.written))
                race(pipe, byte.writer, k, what, "wrote");
            if (write) {
                for (int p = 0; p < pipes; p++)
                    if (byte.read[p] != 0 && !(p == pipe && byte.read[p] == now) && !knows(pipe, p, byte.read[p]))
                        race(pipe, p, k, what, "read");
                byte.writer = (int8_t)pipe;
                byte.written = now;
                byte.defined = define;
            } else {
                if (define && !byte.defined)
                    fail("%s reads byte %llu of UB, which holds no value", what, (unsigned long long)k);
                byte.read[pipe] = now;
            }
        }
    }

    [[noreturn]] void race(int pipe, int other, uint64_t address, const char* what, const char* did)
    {
        if (pipe == other)
            fail("%s needs a barrier: V %s byte %llu before", what, did, (unsigned long long)address);
        fail("%s on %s and %s, which %s byte %llu of UB, have no order", what, pipe_names[pipe], pipe_names[other],
             did, (unsigned long long)address);
    }

    void set(int a, int b, int id)
    {
        named(a, b, id);
        Flag& flag = flags[a][b][id];
        if (flag.set) fail("flag %s -> %s id %d is set twice", pipe_names[a], pipe_names[b], id);
        flag.set = true;
        flag.clock = clocks[a];
        flag.clock.at[a] = issued[a];
    }

    void wait(int a, int b, int id)
    {
        named(a, b, id);
        Flag& flag = flags[a][b][id];
        if (!flag.set) fail("flag %s -> %s id %d is waited for and was not set", pipe_names[a], pipe_names[b], id);
        flag.set = false;
        clocks[b].join(flag.clock);
    }

    void named(int a, int b, int id)
    {
        if (a == b) fail("a flag between %s and itself", pipe_names[a]);
        if (id < 1 || id > 7) fail("event id %d: the library uses 0, and there are 8", id);
    }

    bool defined(uint64_t address, uint64_t count) const
    {
        for (uint64_t k = address; k < address + count; k++)
            if (!bytes[k].defined) return false;
        return true;
    }

    // Bytes that hold no value hold anything.
    void scramble(uint64_t address, uint64_t count)
    {
        for (uint64_t k = address; k < address + count; k++) ub[k] = (uint8_t)(draw() >> 24);
    }

    uint32_t draw() { return noise = noise * 1664525 + 1013904223; }

    // What a library instruction does between pipes by itself.
    void hand(int a, int b)
    {
        Clock all = clocks[a];
        all.at[a] = issued[a];
        clocks[b].join(all);
    }

    const Buffer& buffer_at(uint64_t address)
    {
        for (const Buffer& b : buffers)
            if (address >= b.address && address < b.address + b.bytes) return b;
        fail("UB address %llu is in no buffer", (unsigned long long)address);
    }

    // The tensor that a pointer lies in, and the byte it names there.
    Tensor& tensor_at(const void* pointer, int64_t& offset)
    {
        for (Tensor& t : tensors) {
            const uint8_t* start = t.bytes.data();
            const uint8_t* own = (const uint8_t*)pointer;
            if (own >= start && own <= start + t.bytes.size()) {
                offset = own - start;
                return t;
            }
        }
        fail("a pointer outside every tensor");
    }
};

inline Machine machine;

struct TileRef {
    int64_t declared_columns = -1; // valid ones, where they are part of the type
    const char* word;
    uint32_t size; // bytes of a word
    uint32_t rows, columns, valid_rows, valid_columns;
    uint64_t address = UINT64_MAX;

    uint64_t row(uint32_t r) const { return address + (uint64_t)r * columns * size; }
    uint64_t bytes() const { return (uint64_t)rows * columns * size; }

    void shape(int64_t r, int64_t c)
    {
        if (r < 0 || r > rows || c < 0 || c > columns)
            fail("valid %lld x %lld of a tile of %u x %u", (long long)r, (long long)c, rows, columns);
        valid_rows = (uint32_t)r;
        valid_columns = (uint32_t)c;
    }

    void assign(uint64_t to)
    {
        if (to % 32 != 0) fail("TASSIGN to %llu, which is no multiple of 32", (unsigned long long)to);
        const Buffer& buffer = machine.buffer_at(to);
        if (to + bytes() > buffer.address + buffer.bytes)
            fail("a tile of %llu B at %llu reaches past %s", (unsigned long long)bytes(), (unsigned long long)to,
                 buffer.name.c_str());
        if (to + bytes() > machine.ub_bytes) fail("a tile reaches past the %llu B of UB", (unsigned long long)machine.ub_bytes);
        address = to;
    }

    void assigned(const char* what) const
    {
        if (address == UINT64_MAX) fail("%s of a tile without an address", what);
    }

    void get(uint32_t k, void* value) const
    {
        place(k, "GetValue");
        machine.issued[PIPE_S]++;
        machine.touch(PIPE_S, address + (uint64_t)k * size, size, false, "GetValue");
        memcpy(value, &machine.ub[address + (uint64_t)k * size], size);
    }

    void put(uint32_t k, const void* value) const
    {
        place(k, "SetValue");
        machine.issued[PIPE_S]++;
        machine.touch(PIPE_S, address + (uint64_t)k * size, size, true, "SetValue");
        memcpy(&machine.ub[address + (uint64_t)k * size], value, size);
    }

    void place(uint32_t k, const char* what) const
    {
        assigned(what);
        if (k >= rows * columns) fail("%s of word %u of a tile of %u", what, k, rows * columns);
    }

    void touch(int pipe, bool write, const char* what) const
    {
        for (uint32_t r = 0; r < valid_rows; r++)
            machine.touch(pipe, row(r), (uint64_t)valid_columns * size, write, what);
    }

    bool overlaps(const TileRef& other) const
    {
        return address < other.address + other.bytes() && other.address < address + bytes();
    }
};

struct GmRef {
    int64_t declared_columns; // -1: given when it is made
    uint32_t size;
    const uint8_t* pointer;
    int64_t extents[5], strides[5];
};

inline void same_valid(const char* what, const TileRef& a, const TileRef& b)
{
    if (a.valid_rows != b.valid_rows || a.valid_columns != b.valid_columns)
        fail("%s of valid %u x %u and %u x %u", what, a.valid_rows, a.valid_columns, b.valid_rows, b.valid_columns);
}

inline void same_word(const char* what, const TileRef& a, const TileRef& b)
{
    if (strcmp(a.word, b.word) != 0) fail("%s of %s and %s", what, a.word, b.word);
}

inline void transfer(const char* what, const TileRef& tile, const GmRef& gm, bool load)
{
    tile.assigned(what);
    const int pipe = load ? PIPE_MTE2 : PIPE_MTE3;
    machine.issued[pipe]++;
    if (gm.size != tile.size) fail("%s between words of %u B and %u B", what, gm.size, tile.size);
    const int64_t* s = gm.extents;
    if (s[0] * s[1] * s[2] * s[3] != tile.valid_rows || s[4] != tile.valid_columns)
        fail("%s of %lld x %lld x %lld x %lld x %lld and a tile of valid %u x %u", what, (long long)s[0], (long long)s[1],
             (long long)s[2], (long long)s[3], (long long)s[4], tile.valid_rows, tile.valid_columns);
    if (tile.rows > machine.dma_rows || s[3] > machine.dma_rows)
        fail("%s of %u rows, and %u are the most", what, tile.rows, machine.dma_rows);
    // A DMA goes on behind what it moved last.
    for (int d = 0; d < 4; d++)
        if (s[d] > 1 && (gm.strides[d] < s[4] || gm.strides[d] >= (int64_t)1 << 31))
            fail("%s of rows %lld words apart", what, (long long)gm.strides[d]);
    if (gm.strides[4] != 1) fail("%s with stride %lld of its innermost dim", what, (long long)gm.strides[4]);
    int64_t start = 0;
    Tensor& tensor = machine.tensor_at(gm.pointer, start);
    if (load ? tensor.output && machine.writes == 0 : !tensor.output)
        fail("%s of %s", what, load ? "the output" : "an input");
    const int64_t count = s[4] * tile.size;
    uint32_t row = 0;
    // What a load does not fill is gone: the machine pads it, its CPU simulator zeroes it.
    if (load)
        for (uint32_t r = 0; r < tile.rows; r++) {
            machine.touch(pipe, tile.row(r), (uint64_t)tile.columns * tile.size, true, what, false);
            machine.scramble(tile.row(r), (uint64_t)tile.columns * tile.size);
        }
    for (int64_t i0 = 0; i0 < s[0]; i0++)
        for (int64_t i1 = 0; i1 < s[1]; i1++)
            for (int64_t i2 = 0; i2 < s[2]; i2++)
                for (int64_t i3 = 0; i3 < s[3]; i3++, row++) {
                    const int64_t* t = gm.strides;
                    const int64_t at = start + (i0 * t[0] + i1 * t[1] + i2 * t[2] + i3 * t[3]) * tile.size;
                    if (at < 0 || at + count > (int64_t)tensor.bytes.size())
                        fail("%s of bytes %lld to %lld of a tensor of %llu", what, (long long)at, (long long)(at + count),
                             (unsigned long long)tensor.bytes.size());
                    machine.touch(pipe, tile.row(row), count, load, what);
                    // What a block stored is there for its loads once they wait for the store.
                    for (int64_t k = at; load && tensor.output && k < at + count; k++) {
                        const Stored& before = tensor.stored[k];
                        if (before.time == 0 && machine.writes != 2)
                            fail("byte %lld of the output is loaded and was never stored", (long long)k);
                        if (before.time != 0 && before.block != machine.block)
                            fail("byte %lld of the output is loaded, and another block stores it", (long long)k);
                        if (before.time != 0 && !machine.knows(PIPE_MTE2, PIPE_MTE3, before.issued))
                            fail("byte %lld of the output is loaded and stored with no order", (long long)k);
                    }
                    if (load) {
                        memcpy(&machine.ub[tile.row(row)], &tensor.bytes[at], count);
                        continue;
                    }
                    for (int64_t k = at; k < at + count; k++) {
                        Stored& before = tensor.stored[k];
                        if (before.time != 0 && (machine.writes == 0 || before.block != machine.block))
                            fail("byte %lld of the output is stored twice", (long long)k);
                        if (before.time == machine.stores)
                            fail("byte %lld of the output is stored twice with no barrier of MTE3 between", (long long)k);
                        before = {machine.stores, machine.block, machine.issued[PIPE_MTE3]};
                    }
                    memcpy(&tensor.bytes[at], &machine.ub[tile.row(row)], count);
                }
}

inline int32_t& i32_at(uint64_t address) { return *(int32_t*)&machine.ub[address]; }

template <typename T> inline T read_at(uint64_t address)
{
    T value;
    memcpy(&value, &machine.ub[address], sizeof value);
    return value;
}
template <typename T> inline void write_at(uint64_t address, T value) { memcpy(&machine.ub[address], &value, sizeof value); }

// An instruction on tiles of one type; `b` is absent for one that takes a scalar.
template <typename T>
inline void vector(const char* what, const TileRef& dst, const TileRef& a, const TileRef* b, T value, T (*by)(T, T))
{
    machine.issued[PIPE_V]++;
    for (const TileRef* tile : {&dst, &a, b ? b : &a}) {
        tile->assigned(what);
        same_word(what, dst, *tile);
        same_valid(what, dst, *tile);
    }
    // Padding may hold anything, and then so does what comes of it.
    for (uint32_t r = 0; r < dst.valid_rows; r++)
        for (uint32_t c = 0; c < dst.valid_columns; c++) {
            const uint64_t to = dst.row(r) + c * 4, from = a.row(r) + c * 4, other = b ? b->row(r) + c * 4 : from;
            const bool defined = machine.defined(from, 4) && machine.defined(other, 4);
            machine.touch(PIPE_V, from, 4, false, what, false);
            machine.touch(PIPE_V, other, 4, false, what, false);
            machine.touch(PIPE_V, to, 4, true, what, defined);
            write_at<T>(to, by(read_at<T>(from), b ? read_at<T>(other) : value));
        }
}

constexpr double tiny = 0x1p-126;

inline float any_nan()
{
    const uint32_t bits = (machine.draw() | 0x7f800001) & (machine.draw() | 0xffbfffff);
    float value;
    memcpy(&value, &bits, 4);
    return std::isnan(value) ? value : NAN;
}

inline float taken(float value)
{
    return machine.flush && value != 0 && std::fabs(value) < tiny ? std::copysign(0.0f, value) : value;
}

// A result that was `exact`, or has all the digits of an exact one where that is tiny.
inline float given(double exact, float rounded, bool finite)
{
    if (std::isnan(rounded)) return any_nan();
    if (machine.flush && rounded != 0 && std::fabs(machine.before ? exact : (double)rounded) < tiny)
        return std::copysign(0.0f, rounded);
    if (machine.largest && finite && std::isinf(rounded)) return std::copysign(0x1.fffffep+127f, rounded);
    return rounded;
}

inline float float_add(float a, float b)
{
    a = taken(a), b = taken(b);
    return given((double)a + (double)b, a + b, std::isfinite(a) && std::isfinite(b));
}
inline float float_mul(float a, float b)
{
    a = taken(a), b = taken(b);
    return given((double)a * (double)b, a * b, std::isfinite(a) && std::isfinite(b));
}
// Of NaN and of two zeros no page says which.
inline float float_least(float a, float b) { return taken(a) < taken(b) ? taken(a) : taken(b); }
inline float float_most(float a, float b) { return taken(a) > taken(b) ? taken(a) : taken(b); }

// The number that bits of f16 stand for.
inline double half_value(uint16_t bits)
{
    const int field = bits >> 10 & 31;
    const double sign = bits >> 15 ? -1 : 1, fraction = bits & 0x3ff;
    if (field == 31) return fraction == 0 ? sign * INFINITY : NAN;
    return sign * (field == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, field - 25));
}

// The nearest f16, ties to even; an infinity past the range.
inline uint16_t half_of(double value)
{
    const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    if (std::isnan(value)) return (uint16_t)(0x7c01 | (machine.draw() & 0x83ff));
    const double size = std::fabs(value);
    if (size == 0) return sign;
    int exponent;
    std::frexp(size, &exponent);
    if (exponent > 17) return sign | 0x7c00;
    const int last = (exponent - 1 < -14 ? -14 : exponent - 1) - 10;
    const double units = std::nearbyint(std::ldexp(size, -last));
    // A carry goes on into the exponent.
    const int bits = ((last + 24) << 10) + (int)units;
    return sign | (uint16_t)(bits > 0x7c00 ? 0x7c00 : bits);
}

inline float bfloat_value(uint16_t bits)
{
    const uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, 4);
    return value;
}

inline uint16_t bfloat_of(float value)
{
    if (std::isnan(value)) return (uint16_t)(0x7f81 | (machine.draw() & 0x807f));
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// What a float is as a whole number that a type holds; what is outside must hold no value.
template <typename T> inline T whole_of(double value, bool defined, const char* what)
{
    const double whole = std::trunc(value), low = (double)std::numeric_limits<T>::min(), high = (double)std::numeric_limits<T>::max();
    if (whole >= low && whole <= high) return (T)whole;
    if (defined) fail("TCVT of %g to %s, which PTO-ISA leaves undefined", value, what);
    return (T)(whole < low ? low : whole > high ? high : 0);
}

enum class Saturation { unsaid, on, off };

// The pairs of types that tilec converts between, and what must be said of each.
inline void convert(const TileRef& dst, const TileRef& src, const char* mode, Saturation saturation)
{
    machine.issued[PIPE_V]++;
    dst.assigned("TCVT");
    src.assigned("TCVT");
    same_valid("TCVT", dst, src);
    const auto is = [&](const char* from, const char* to) {
        return strcmp(src.word, from) == 0 && strcmp(dst.word, to) == 0;
    };
    const bool up = is("uint8_t", "half") || is("int8_t", "half") || is("int16_t", "float") || is("half", "float") ||
                    is("bfloat16_t", "float");
    const bool nearest = is("int32_t", "float");
    const bool rounds = is("float", "half") || is("float", "bfloat16_t");
    const bool wraps = is("int32_t", "int16_t");
    const bool real = strcmp(src.word, "float") == 0 || strcmp(src.word, "half") == 0;
    const bool down = real && (is("half", "uint8_t") || is("half", "int8_t") || is("half", "int16_t") ||
                               is("half", "int32_t") || is("float", "int32_t") || is("float", "int16_t"));
    if (!up && !nearest && !rounds && !wraps && !down) fail("TCVT of %s to %s", src.word, dst.word);
    const char* wanted = up || wraps ? "CAST_NONE" : down ? "CAST_TRUNC" : "CAST_RINT";
    if (strcmp(mode, wanted) != 0) fail("TCVT of %s to %s by %s", src.word, dst.word, mode);
    // Left out, A5 saturates to the largest number, and others cut off what does not fit.
    if ((rounds || wraps) && saturation != Saturation::off) fail("TCVT of %s to %s without SaturationMode::OFF", src.word, dst.word);
    if (down && dst.size < 4 && saturation != Saturation::on) fail("TCVT of %s to %s without SaturationMode::ON", src.word, dst.word);
    if (dst.overlaps(src)) fail("TCVT into the tile that it reads");
    for (uint32_t r = 0; r < dst.valid_rows; r++)
        for (uint32_t c = 0; c < dst.valid_columns; c++) {
            const uint64_t to = dst.row(r) + c * dst.size, from = src.row(r) + c * src.size;
            const bool defined = machine.defined(from, src.size);
            machine.touch(PIPE_V, from, src.size, false, "TCVT", false);
            machine.touch(PIPE_V, to, dst.size, true, "TCVT", defined);
            if (is("uint8_t", "half")) write_at<uint16_t>(to, half_of(read_at<uint8_t>(from)));
            else if (is("int8_t", "half")) write_at<uint16_t>(to, half_of(read_at<int8_t>(from)));
            else if (is("int16_t", "float")) write_at<float>(to, read_at<int16_t>(from));
            else if (is("half", "float")) {
                const float value = (float)half_value(read_at<uint16_t>(from));
                write_at<float>(to, std::isnan(value) ? any_nan() : value);
            } else if (is("bfloat16_t", "float")) {
                const float value = taken(bfloat_value(read_at<uint16_t>(from)));
                write_at<float>(to, std::isnan(value) ? any_nan() : value);
            } else if (nearest) write_at<float>(to, (float)read_at<int32_t>(from));
            else if (is("float", "half")) write_at<uint16_t>(to, half_of(taken(read_at<float>(from))));
            else if (is("float", "bfloat16_t")) write_at<uint16_t>(to, bfloat_of(taken(read_at<float>(from))));
            else if (wraps) write_at<int16_t>(to, (int16_t)(uint16_t)read_at<int32_t>(from));
            else {
                const double value =
                    strcmp(src.word, "half") == 0 ? half_value(read_at<uint16_t>(from)) : (double)read_at<float>(from);
                if (strcmp(dst.word, "uint8_t") == 0) write_at<uint8_t>(to, whole_of<uint8_t>(value, defined, dst.word));
                else if (dst.size == 1) write_at<int8_t>(to, whole_of<int8_t>(value, defined, dst.word));
                else if (dst.size == 2) write_at<int16_t>(to, whole_of<int16_t>(value, defined, dst.word));
                else write_at<int32_t>(to, whole_of<int32_t>(value, defined, dst.word));
            }
        }
}

// 64-bit values as the nearest 32-bit ones.
inline void narrow(const TileRef& dst, const TileRef& src)
{
    machine.issued[PIPE_V]++;
    dst.assigned("TCVT");
    src.assigned("TCVT");
    if (strcmp(dst.word, "int32_t") != 0 || strcmp(src.word, "int64_t") != 0)
        fail("TCVT of %s to %s", src.word, dst.word);
    same_valid("TCVT", dst, src);
    if (dst.overlaps(src)) fail("TCVT into the tile that it reads");
    for (uint32_t r = 0; r < dst.valid_rows; r++)
        for (uint32_t c = 0; c < dst.valid_columns; c++) {
            const uint64_t to = dst.row(r) + c * 4, from = src.row(r) + c * 8;
            machine.touch(PIPE_V, from, 8, false, "TCVT", false);
            machine.touch(PIPE_V, to, 4, true, "TCVT", machine.defined(from, 8));
            const int64_t value = *(int64_t*)&machine.ub[from];
            i32_at(to) = (int32_t)(value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value);
        }
}

template <typename T> inline void expands(const TileRef& dst, T value)
{
    machine.issued[PIPE_V]++;
    dst.assigned("TEXPANDS");
    dst.touch(PIPE_V, true, "TEXPANDS");
    for (uint32_t r = 0; r < dst.valid_rows; r++)
        for (uint32_t c = 0; c < dst.valid_columns; c++) write_at<T>(dst.row(r) + (uint64_t)c * sizeof value, value);
}

// Whole blocks move; those of the padding hold what they held.
inline void mov(const TileRef& dst, const TileRef& src)
{
    machine.issued[PIPE_V]++;
    dst.assigned("TMOV");
    src.assigned("TMOV");
    same_word("TMOV", dst, src);
    same_valid("TMOV", dst, src);
    if (dst.rows != src.rows || dst.columns != src.columns)
        fail("TMOV of tiles of %u x %u and %u x %u", dst.rows, dst.columns, src.rows, src.columns);
    const uint64_t count = (uint64_t)dst.valid_columns * dst.size;
    const uint64_t blocks = (count + 31) / 32 * 32;
    for (uint32_t r = 0; r < dst.valid_rows; r++) {
        machine.touch(PIPE_V, src.row(r), count, false, "TMOV");
        machine.touch(PIPE_V, dst.row(r), blocks, true, "TMOV", false);
        machine.touch(PIPE_V, dst.row(r), count, true, "TMOV");
        memmove(&machine.ub[dst.row(r)], &machine.ub[src.row(r)], blocks);
    }
}

inline void gather(const TileRef& dst, const TileRef& src, const TileRef& index, const TileRef& tmp)
{
    machine.issued[PIPE_V]++;
    for (const TileRef* tile : {&dst, &src, &index, &tmp}) tile->assigned("TGATHER");
    same_word("TGATHER", dst, src);
    same_word("TGATHER", index, tmp);
    if (index.size != 4) fail("TGATHER by indices of %u B", index.size);
    if (!(machine.gather_bytes >> dst.size & 1)) fail("TGATHER of words of %u B", dst.size);
    same_valid("TGATHER", dst, index);
    same_valid("TGATHER", index, tmp);
    if (dst.overlaps(src) || dst.overlaps(index)) fail("TGATHER into a tile that it reads");
    // Offsets of 2-byte words are kept with the pitch of dst's rows.
    if (dst.size == 2 && index.address == tmp.address && dst.valid_rows > 1 && index.columns != dst.columns)
        fail("TGATHER keeps offsets over indices that it has not read: rows of %u and %u", index.columns, dst.columns);
    for (uint32_t r = 0; r < dst.valid_rows; r++)
        for (uint32_t c = 0; c < dst.valid_columns; c++) {
            const uint64_t picked = index.row(r) + c * 4;
            const bool known = machine.defined(picked, 4);
            machine.touch(PIPE_V, picked, 4, false, "TGATHER", false);
            const int64_t flat = i32_at(picked);
            const int64_t from = (int64_t)src.address + flat * dst.size;
            const bool inside = flat >= 0 && flat < (int64_t)src.rows * src.columns;
            if (!inside && (from < 0 || machine.buffer_at((uint64_t)from).name != "border_ub"))
                fail("TGATHER by index %lld of a tile of %u words", (long long)flat, src.rows * src.columns);
            const bool defined = known && machine.defined(from, dst.size);
            machine.touch(PIPE_V, from, dst.size, false, "TGATHER", false);
            machine.touch(PIPE_V, dst.row(r) + (uint64_t)c * dst.size, dst.size, true, "TGATHER", defined);
            memcpy(&machine.ub[dst.row(r) + (uint64_t)c * dst.size], &machine.ub[from], dst.size);
        }
    // Byte offsets of 2-byte words are made in `tmp`.
    if (dst.size == 2)
        for (uint32_t r = 0; r < dst.valid_rows; r++) {
            machine.touch(PIPE_V, tmp.row(r), 4 * (uint64_t)dst.valid_columns, true, "TGATHER", false);
            machine.scramble(tmp.row(r), 4 * (uint64_t)dst.valid_columns);
        }
}

inline void mgather(const TileRef& dst, const GmRef& table, const TileRef& index, bool zero)
{
    dst.assigned("MGATHER");
    index.assigned("MGATHER");
    if (dst.size > 4 || table.size != dst.size) fail("MGATHER of words of %u B", dst.size);
    if (strcmp(index.word, "int32_t") != 0) fail("MGATHER by %s", index.word);
    if (index.rows != 1 || index.valid_rows != 1 || index.valid_columns != dst.valid_rows)
        fail("MGATHER of %u rows by %u x %u indices", dst.valid_rows, index.valid_rows, index.valid_columns);
    const int64_t* s = table.extents;
    if (s[0] != 1 || s[1] != 1 || s[2] != 1 || s[4] != dst.valid_columns)
        fail("MGATHER of rows of %u from rows of %lld", dst.valid_columns, (long long)s[4]);
    int64_t start = 0;
    Tensor& tensor = machine.tensor_at(table.pointer, start);
    // On the 950 an instruction of V, on a table whose rows are as long as those that are fetched.
    if (machine.a5) {
        if (table.declared_columns != dst.declared_columns) fail("MGATHER of tile and table declared with other columns");
        machine.issued[PIPE_V]++;
        index.touch(PIPE_V, false, "MGATHER");
        dst.touch(PIPE_V, true, "MGATHER");
        for (uint32_t r = 0; r < dst.valid_rows; r++) {
            const uint32_t row = (uint32_t)i32_at(index.address + r * 4);
            const int64_t count = s[4] * dst.size, at = start + row * count;
            if (row >= s[3] && !zero) fail("MGATHER of row %d of %lld", (int32_t)row, (long long)s[3]);
            if (row < s[3] && at + count > (int64_t)tensor.bytes.size()) fail("MGATHER past its table");
            if (row < s[3]) memcpy(&machine.ub[dst.row(r)], &tensor.bytes[at], count);
            else memset(&machine.ub[dst.row(r)], 0, count);
        }
        return;
    }
    // It runs on S and MTE2. By itself it waits for V and MTE3 before, and has all others wait behind; for MTE2 it does not wait.
    machine.hand(PIPE_V, PIPE_S);
    machine.hand(PIPE_MTE3, PIPE_S);
    machine.issued[PIPE_S]++;
    index.touch(PIPE_S, false, "MGATHER");
    machine.hand(PIPE_S, PIPE_MTE2);
    machine.issued[PIPE_MTE2]++;
    dst.touch(PIPE_MTE2, true, "MGATHER");
    for (uint32_t r = 0; r < dst.valid_rows; r++) {
        const uint32_t row = (uint32_t)i32_at(index.address + r * 4);
        const int64_t count = s[4] * dst.size;
        if (row >= s[3]) {
            if (!zero) fail("MGATHER of row %d of %lld", (int32_t)row, (long long)s[3]);
            memset(&machine.ub[dst.row(r)], 0, count);
            continue;
        }
        const int64_t at = start + row * table.strides[3] * dst.size;
        if (at + count > (int64_t)tensor.bytes.size()) fail("MGATHER past its table");
        memcpy(&machine.ub[dst.row(r)], &tensor.bytes[at], count);
    }
    for (int pipe : {PIPE_V, PIPE_MTE3}) {
        machine.hand(PIPE_MTE2, pipe);
        machine.hand(PIPE_S, pipe);
    }
}

} // namespace shim

#ifndef __clang__
#pragma GCC pop_options
#endif

inline uint32_t get_block_idx() { return shim::machine.block; }
inline void set_mask_norm() {}
inline void set_vector_mask(int64_t, int64_t) {}
inline void set_flag(pipe_t a, pipe_t b, event_t id) { shim::machine.set(a, b, id); }
inline void wait_flag(pipe_t a, pipe_t b, event_t id) { shim::machine.wait(a, b, id); }
inline void pipe_barrier(pipe_t pipe)
{
    if (pipe == PIPE_MTE3) {
        shim::machine.stores++;
        return;
    }
    if (pipe != PIPE_V) shim::fail("pipe_barrier of %s: only V and MTE3 need one", shim::pipe_names[pipe]);
    shim::machine.clocks[PIPE_V].at[PIPE_V] = shim::machine.issued[PIPE_V];
}

namespace pto {

enum class TileType { Vec };
enum class BLayout { RowMajor };
enum class Layout { ND };
enum class Coalesce { Row, Elem };
enum class GatherOOB { Undefined, Clamp, Wrap, Zero };
enum class RoundMode { CAST_NONE, CAST_RINT, CAST_TRUNC };
struct half {
    uint16_t bits;
};
struct bfloat16_t {
    uint16_t bits;
};
enum class SaturationMode { ON, OFF };
constexpr int64_t DYNAMIC = -1;

template <typename W> constexpr const char* word_name();
template <> constexpr const char* word_name<int8_t>() { return "int8_t"; }
template <> constexpr const char* word_name<uint8_t>() { return "uint8_t"; }
template <> constexpr const char* word_name<half>() { return "half"; }
template <> constexpr const char* word_name<bfloat16_t>() { return "bfloat16_t"; }
template <> constexpr const char* word_name<float>() { return "float"; }
template <> constexpr const char* word_name<int16_t>() { return "int16_t"; }
template <> constexpr const char* word_name<int32_t>() { return "int32_t"; }
template <> constexpr const char* word_name<int64_t>() { return "int64_t"; }

template <TileType, typename W, int64_t Rows, int64_t Columns, BLayout, int64_t ValidRows, int64_t ValidColumns>
struct Tile : shim::TileRef {
    using DType = W;
    static_assert(Rows > 0 && Columns > 0, "a tile has words");
    static_assert(Columns * sizeof(W) % 32 == 0, "rows are whole blocks of 32 B");

    Tile() : Tile(ValidRows, ValidColumns, 0)
    {
        static_assert(ValidRows != DYNAMIC && ValidColumns != DYNAMIC, "valid extents are missing");
    }
    explicit Tile(int64_t one) : Tile(ValidRows == DYNAMIC ? one : ValidRows, ValidColumns == DYNAMIC ? one : ValidColumns, 0)
    {
        static_assert((ValidRows == DYNAMIC) != (ValidColumns == DYNAMIC), "one valid extent is given");
    }
    Tile(int64_t rows, int64_t columns) : Tile(rows, columns, 0)
    {
        static_assert(ValidRows == DYNAMIC && ValidColumns == DYNAMIC, "both valid extents are given");
    }
    W GetValue(uint32_t k) const
    {
        W value;
        get(k, &value);
        return value;
    }
    void SetValue(uint32_t k, W value) const { put(k, &value); }

private:
    Tile(int64_t rows, int64_t columns, int)
        : TileRef{ValidColumns, word_name<W>(), (uint32_t)sizeof(W), (uint32_t)Rows, (uint32_t)Columns, 0, 0}
    {
        shape(rows, columns);
    }
};

template <int64_t... Extents> struct Shape {
    static_assert(sizeof...(Extents) == 5, "five dims");
    static constexpr int64_t declared[5] = {Extents...};
    int64_t extents[5] = {Extents...};
    template <typename... Dynamic> explicit Shape(Dynamic... given)
    {
        static_assert(sizeof...(Dynamic) == (0 + ... + (Extents == DYNAMIC ? 1 : 0)), "an extent for each DYNAMIC");
        const int64_t values[] = {(int64_t)given..., 0};
        int next = 0;
        for (int64_t& extent : extents)
            if (extent == DYNAMIC) extent = values[next++];
    }
};

template <int64_t... Steps> struct Stride {
    static_assert(sizeof...(Steps) == 5, "five dims");
    static_assert(((Steps < (int64_t)1 << 31) && ...), "the machine takes strides as int");
    int64_t steps[5] = {Steps...};
    template <typename... Dynamic> explicit Stride(Dynamic... given)
    {
        static_assert(sizeof...(Dynamic) == (0 + ... + (Steps == DYNAMIC ? 1 : 0)), "a stride for each DYNAMIC");
        const int64_t values[] = {(int64_t)given..., 0};
        int next = 0;
        for (int64_t& step : steps)
            if (step == DYNAMIC) step = values[next++];
    }
};

template <typename W, typename S, typename T, Layout> struct GlobalTensor : shim::GmRef {
    using Shape = S;
    explicit GlobalTensor(W* pointer, S shape = S(), T stride = T())
    {
        this->declared_columns = S::declared[4];
        this->size = sizeof(W);
        this->pointer = (const uint8_t*)pointer;
        for (int k = 0; k < 5; k++) {
            extents[k] = shape.extents[k];
            strides[k] = stride.steps[k];
        }
    }
};

using shim::GmRef;
using shim::TileRef;

inline void TASSIGN(TileRef& tile, uint64_t address) { tile.assign(address); }
inline void TLOAD(const TileRef& tile, const GmRef& gm) { shim::transfer("TLOAD", tile, gm, true); }
inline void TSTORE(const GmRef& gm, const TileRef& tile) { shim::transfer("TSTORE", tile, gm, false); }

// Sums and products are those of two's complement, as on the machine.
inline int32_t wrap_add(int32_t a, int32_t b) { return (int32_t)((uint32_t)a + (uint32_t)b); }
inline int32_t wrap_sub(int32_t a, int32_t b) { return (int32_t)((uint32_t)a - (uint32_t)b); }
inline int32_t wrap_mul(int32_t a, int32_t b) { return (int32_t)((uint32_t)a * (uint32_t)b); }
inline int32_t least(int32_t a, int32_t b) { return a < b ? a : b; }
inline int32_t most(int32_t a, int32_t b) { return a > b ? a : b; }

inline int32_t shifted(int32_t a, int32_t b) { return a >> b; }
inline int32_t both(int32_t a, int32_t b) { return a & b; }
inline int32_t either(int32_t a, int32_t b) { return a | b; }

inline int32_t shifted_up(int32_t a, int32_t b) { return (int32_t)((uint32_t)a << b); }

inline const char* name_of(RoundMode mode)
{
    return mode == RoundMode::CAST_NONE ? "CAST_NONE" : mode == RoundMode::CAST_RINT ? "CAST_RINT" : "CAST_TRUNC";
}

// An operation of int32_t, and one of float where there is one.
template <typename T>
inline void apply(const char* what, const TileRef& d, const TileRef& a, const TileRef* b, T value, int32_t (*whole)(int32_t, int32_t),
                  float (*real)(float, float))
{
    if constexpr (std::is_same<T, int32_t>::value) {
        if (whole == nullptr) shim::fail("%s of int32_t", what);
        shim::vector<int32_t>(what, d, a, b, value, whole);
    } else if constexpr (std::is_same<T, float>::value) {
        if (real == nullptr) shim::fail("%s of float", what);
        shim::vector<float>(what, d, a, b, value, real);
    } else shim::fail("%s of %s", what, d.word);
}

#define TILES(NAME, WHOLE, REAL) \
    template <typename D> void NAME(const D& d, const TileRef& a, const TileRef& b) { apply<typename D::DType>(#NAME, d, a, &b, {}, WHOLE, REAL); }
#define SCALAR(NAME, WHOLE, REAL) \
    template <typename D> void NAME(const D& d, const TileRef& a, typename D::DType v) { apply<typename D::DType>(#NAME, d, a, nullptr, v, WHOLE, REAL); }

SCALAR(TSHRS, shifted, nullptr)
SCALAR(TSHLS, shifted_up, nullptr)
SCALAR(TADDS, wrap_add, shim::float_add)
SCALAR(TMULS, wrap_mul, shim::float_mul)
SCALAR(TMINS, least, shim::float_least)
SCALAR(TMAXS, most, shim::float_most)
TILES(TAND, both, nullptr)
TILES(TOR, either, nullptr)
TILES(TADD, wrap_add, shim::float_add)
TILES(TSUB, wrap_sub, nullptr)
TILES(TMUL, wrap_mul, shim::float_mul)
TILES(TMIN, least, shim::float_least)
TILES(TMAX, most, shim::float_most)
#undef TILES
#undef SCALAR

inline void TCVT(const TileRef& d, const TileRef& s, RoundMode mode)
{
    if (strcmp(s.word, "int64_t") == 0) shim::fail("TCVT of %s without saturation", s.word);
    shim::convert(d, s, name_of(mode), shim::Saturation::unsaid);
}
inline void TCVT(const TileRef& d, const TileRef& s, RoundMode mode, SaturationMode saturation)
{
    const bool on = saturation == SaturationMode::ON;
    if (strcmp(s.word, "int64_t") != 0) shim::convert(d, s, name_of(mode), on ? shim::Saturation::on : shim::Saturation::off);
    else if (on) shim::narrow(d, s);
    else shim::fail("TCVT of %s without saturation", s.word);
}
template <typename D> void TEXPANDS(const D& d, typename D::DType v) { shim::expands<typename D::DType>(d, v); }
inline void TMOV(const TileRef& d, const TileRef& s) { shim::mov(d, s); }
inline void TGATHER(const TileRef& d, const TileRef& s, const TileRef& i, const TileRef& t) { shim::gather(d, s, i, t); }

template <Coalesce C, GatherOOB O> void MGATHER(const TileRef& d, const GmRef& table, const TileRef& i)
{
    static_assert(C == Coalesce::Row, "rows are gathered");
    static_assert(O == GatherOOB::Undefined || O == GatherOOB::Zero, "Clamp and Wrap take a negative index for a large one");
    shim::mgather(d, table, i, O == GatherOOB::Zero);
}

} // namespace pto
