/* The plain loops of gathers in C, as a process (process.h). Beside `run N`, `packed N` prints the time of the loop over packed
   columns, `copy N` that of a copy of as many bytes as the output has.
   Arguments: op, element bytes, index bytes, outer, extent, inner, n (indices along the axis), extent 2, data, indices. */
#include "process.h"

/* A row is what one index picks: `inner` elements of a gather or a tuple, none of which is cut. */
struct work {
  const char *data;
  const void *index;
  char *out;
  int64_t outer, extent, inner, n, columns;
  int size;
};

/* Rows are `outer * n`. */
static int rows(const struct work *w, int64_t from, int64_t to) {
  const int32_t *restrict index = w->index;
  const char *restrict data = w->data;
  char *restrict out = w->out;
  const int64_t extent = w->extent, n = w->n, row = w->inner * w->size;
  for (int64_t at = from, o = from / n, j = from % n; at < to; at++) {
    int64_t i = index[j];
    if (i < 0) i += extent;
    if ((uint64_t)i >= (uint64_t)extent) return 1;
    memcpy(out + at * row, data + (o * extent + i) * row, (size_t)row);
    if (++j == n) j = 0, o++;
  }
  return 0;
}

static int tuples(const struct work *w, int64_t from, int64_t to) {
  const int32_t *restrict index = w->index;
  const char *restrict data = w->data;
  char *restrict out = w->out;
  const int64_t extent = w->extent, columns = w->columns, row = w->inner * w->size;
  for (int64_t j = from; j < to; j++) {
    int64_t a = index[2 * j], b = index[2 * j + 1];
    if (a < 0) a += extent;
    if (b < 0) b += columns;
    if ((uint64_t)a >= (uint64_t)extent || (uint64_t)b >= (uint64_t)columns) return 1;
    memcpy(out + j * row, data + (a * columns + b) * row, (size_t)row);
  }
  return 0;
}

/* `packed`: a block of columns of the data at a time, copied together so that the reads stay in the first cache level. */
enum { block_bytes = 32768, scratch_bytes = 1 << 20 };

#define ELEMENTS(T, I)                                                                        \
  static int elements_##T##_##I(const struct work *w, int64_t from, int64_t to) {             \
    const T *restrict data = (const T *)w->data;                                              \
    const I *restrict index = w->index;                                                       \
    T *restrict out = (T *)w->out;                                                            \
    const int64_t extent = w->extent, inner = w->inner, n = w->n;                             \
    for (int64_t o = from / n; o * n < to; o++) {                                             \
      const int64_t last = to - o * n < n ? to - o * n : n;                                   \
      for (int64_t j = from > o * n ? from - o * n : 0; j < last; j++)                        \
        for (int64_t k = 0; k < inner; k++) {                                                 \
          int64_t at = (o * n + j) * inner + k, i = index[at];                                \
          if (i < 0) i += extent;                                                             \
          if ((uint64_t)i >= (uint64_t)extent) return 1;                                      \
          out[at] = data[(o * extent + i) * inner + k];                                       \
        }                                                                                     \
    }                                                                                         \
    return 0;                                                                                 \
  }                                                                                           \
  static int packed_##T##_##I(const struct work *w, int64_t from, int64_t to) {               \
    static __thread T slab[scratch_bytes / sizeof(T)];                                        \
    const T *restrict data = (const T *)w->data;                                              \
    const I *restrict index = w->index;                                                       \
    T *restrict out = (T *)w->out;                                                            \
    const int64_t extent = w->extent, inner = w->inner, n = w->n;                             \
    int64_t block = block_bytes / (int64_t)sizeof(T) / extent;                                \
    if (block < 64 / (int64_t)sizeof(T)) block = 64 / sizeof(T);                              \
    if (block * extent * (int64_t)sizeof(T) > scratch_bytes) return 2;                        \
    for (int64_t o = from / n; o * n < to; o++) {                                             \
      const int64_t first = from > o * n ? from - o * n : 0;                                  \
      const int64_t last = to - o * n < n ? to - o * n : n;                                   \
      for (int64_t c = 0; c < inner; c += block) {                                            \
        const int64_t width = inner - c < block ? inner - c : block;                          \
        for (int64_t e = 0; e < extent; e++)                                                  \
          memcpy(slab + e * width, data + (o * extent + e) * inner + c, width * sizeof(T));   \
        for (int64_t j = first; j < last; j++)                                                \
          for (int64_t k = 0; k < width; k++) {                                               \
            int64_t at = (o * n + j) * inner + c + k, i = index[at];                          \
            if (i < 0) i += extent;                                                           \
            if ((uint64_t)i >= (uint64_t)extent) return 1;                                    \
            out[at] = slab[i * width + k];                                                    \
          }                                                                                   \
      }                                                                                       \
    }                                                                                         \
    return 0;                                                                                 \
  }
ELEMENTS(uint32_t, int32_t)
ELEMENTS(uint16_t, int32_t)
ELEMENTS(uint8_t, int32_t)
ELEMENTS(uint32_t, int64_t)

/* A copy of as many bytes as the output has: a "row" is a cache line. */
static char *copied;
static int copy_lines(const struct work *w, int64_t from, int64_t to) {
  memcpy(w->out + from * 64, copied + from * 64, (size_t)((to - from) * 64));
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 11) return 2;
  const char *op = argv[1];
  struct work w = {.size = atoi(argv[2])};
  int wide = atoi(argv[3]) == 8;
  w.outer = atoll(argv[4]), w.extent = atoll(argv[5]), w.inner = atoll(argv[6]), w.n = atoll(argv[7]);
  w.columns = atoll(argv[8]);
  size_t data_size, index_size;
  w.data = read_file(argv[9], &data_size), w.index = read_file(argv[10], &index_size);
  size_t out_size = (size_t)(w.outer * w.n * w.inner * w.size);
  w.out = memory_of(out_size);
  copied = memory_of(out_size);
  memset(copied, 1, out_size);
  part_fn *loop, *packed = NULL;
  if (strcmp(op, "gather") == 0) loop = rows;
  else if (strcmp(op, "gather_nd") == 0) loop = tuples;
  else if (wide) loop = elements_uint32_t_int64_t, packed = packed_uint32_t_int64_t;
  else if (w.size == 4) loop = elements_uint32_t_int32_t, packed = packed_uint32_t_int32_t;
  else if (w.size == 2) loop = elements_uint16_t_int32_t, packed = packed_uint16_t_int32_t;
  else loop = elements_uint8_t_int32_t, packed = packed_uint8_t_int32_t;
  int64_t all = w.outer * w.n;
  const struct loop loops[] = {{"run", loop, all}, {"packed", packed, all}, {"copy", copy_lines, (int64_t)(out_size / 64)}};
  return serve(loops, 3, &w, w.out, out_size);
}
