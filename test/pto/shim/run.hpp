// Runs kernels on the judge: jobs from one file, verdicts and outputs to another. All numbers are 64-bit, little-endian.
#pragma once
#include <fstream>
#include <pto/pto-inst.hpp>

namespace run {

using Entry = void (*)(void** params);

// `check` looks at index values before `main` writes in place; null where there is none.
struct Kernel {
    Entry main, check;
};

struct Reader {
    std::vector<char> bytes;
    size_t at = 0;
    uint64_t number()
    {
        uint64_t value;
        memcpy(&value, &bytes.at(at), 8);
        at += 8;
        return value;
    }
    std::string text(size_t length)
    {
        std::string value(&bytes.at(at), length);
        at += length;
        return value;
    }
};

inline void write_number(std::ofstream& out, uint64_t value) { out.write((const char*)&value, 8); }

// A job: kernel, blocks, bytes of UB, sizes of TGATHER, rows of a DMA, whether it is the 950, three switches of floats,
// what is written (0: each byte of the last tensor once, 1: a copy, elements again, 2: the first tensor in place), buffers, tensors, status.
inline std::string judge(Reader& in, const Kernel* kernels, std::vector<uint8_t>& output, uint64_t& status)
{
    shim::Machine& machine = shim::machine;
    const uint64_t kernel = in.number(), blocks = in.number();
    machine.ub_bytes = in.number();
    machine.gather_bytes = (uint32_t)in.number();
    machine.dma_rows = (uint32_t)in.number();
    machine.a5 = in.number() != 0;
    machine.flush = in.number() != 0;
    machine.before = in.number() != 0;
    machine.largest = in.number() != 0;
    machine.writes = (uint32_t)in.number();
    machine.buffers.clear();
    for (uint64_t count = in.number(); count > 0; count--) {
        const uint64_t length = in.number();
        const std::string name = in.text(length);
        const uint64_t address = in.number();
        machine.buffers.push_back({name, address, in.number()});
    }
    machine.tensors.clear();
    const uint64_t tensors = in.number();
    for (uint64_t count = tensors; count > 0; count--) {
        const uint64_t length = in.number();
        const std::string bytes = length == 0 ? "" : in.text(length);
        const bool written = count == (machine.writes == 2 ? tensors : 1);
        machine.tensors.push_back({std::vector<uint8_t>(bytes.begin(), bytes.end()), written, std::vector<shim::Stored>(written ? length : 0)});
    }
    std::vector<int32_t> words(blocks + 1, 0);
    std::vector<void*> params;
    for (shim::Tensor& tensor : machine.tensors) params.push_back(tensor.bytes.data());
    params.push_back(words.data());
    shim::Tensor& out = machine.writes == 2 ? machine.tensors.front() : machine.tensors.back();
    std::string fault;
    status = 0;
    const auto run = [&](Entry entry) {
        for (uint64_t block = 0; block < blocks; block++) {
            machine.begin((uint32_t)block);
            entry(params.data());
            machine.end();
        }
        for (int32_t word : words) status |= (uint64_t)(word != 0);
    };
    try {
        if (kernels[kernel].check != nullptr) run(kernels[kernel].check);
        if (kernels[kernel].check != nullptr)
            for (const shim::Stored& byte : out.stored)
                if (byte.time != 0) shim::fail("a check stores");
        if (status == 0) run(kernels[kernel].main);
        for (size_t k = 0; k < out.stored.size() && machine.writes != 2; k++)
            if (out.stored[k].time == 0) shim::fail("byte %llu of the output is never stored", (unsigned long long)k);
    } catch (const std::exception& thrown) {
        fault = thrown.what();
    }
    output = out.bytes;
    return fault;
}

inline int main(int count, char** args, const Kernel* kernels)
{
    if (count != 3) return 2;
    std::ifstream file(args[1], std::ios::binary);
    Reader in;
    in.bytes.assign(std::istreambuf_iterator<char>(file), {});
    std::ofstream out(args[2], std::ios::binary);
    for (uint64_t jobs = in.number(); jobs > 0; jobs--) {
        std::vector<uint8_t> output;
        uint64_t status = 0;
        const std::string fault = judge(in, kernels, output, status);
        write_number(out, fault.size());
        out.write(fault.data(), (std::streamsize)fault.size());
        write_number(out, status);
        write_number(out, output.size());
        out.write((const char*)output.data(), (std::streamsize)output.size());
    }
    return 0;
}

} // namespace run
