/* The plain loops in C, as a process that runs one when told: `run` prints nanoseconds, `copy N` those of a copy of as many
   bytes as the output has on N threads, `dump FILE` writes the output.
   Arguments: op, element bytes, index bytes, outer, extent, inner, n (indices along the axis), extent 2, data, indices. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file) exit(2);
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  void *memory = aligned_alloc(64, (*size + 63) / 64 * 64);
  if (fread(memory, 1, *size, file) != *size) exit(2);
  fclose(file);
  return memory;
}

#define ROWS(I)                                                                               \
  static int rows_##I(const char *restrict data, const I *restrict index, char *restrict out, \
                      int64_t outer, int64_t extent, int64_t row, int64_t n) {                \
    for (int64_t o = 0; o < outer; o++)                                                       \
      for (int64_t j = 0; j < n; j++) {                                                       \
        int64_t i = index[j];                                                                 \
        if (i < 0) i += extent;                                                               \
        if ((uint64_t)i >= (uint64_t)extent) return 1;                                        \
        memcpy(out + (o * n + j) * row, data + (o * extent + i) * row, (size_t)row);          \
      }                                                                                       \
    return 0;                                                                                 \
  }
ROWS(int32_t)

#define ELEMENTS(T, I)                                                                         \
  static int elements_##T##_##I(const T *restrict data, const I *restrict index, T *restrict out, \
                                int64_t outer, int64_t extent, int64_t inner, int64_t n) {     \
    for (int64_t o = 0; o < outer; o++)                                                        \
      for (int64_t j = 0; j < n; j++)                                                          \
        for (int64_t k = 0; k < inner; k++) {                                                  \
          int64_t at = (o * n + j) * inner + k;                                                \
          int64_t i = index[at];                                                               \
          if (i < 0) i += extent;                                                              \
          if ((uint64_t)i >= (uint64_t)extent) return 1;                                       \
          out[at] = data[(o * extent + i) * inner + k];                                        \
        }                                                                                      \
    return 0;                                                                                  \
  }
ELEMENTS(uint32_t, int32_t)
ELEMENTS(uint16_t, int32_t)
ELEMENTS(uint8_t, int32_t)
ELEMENTS(uint32_t, int64_t)

static int tuples(const char *restrict data, const int32_t *restrict index, char *restrict out, int64_t extent,
                  int64_t columns, int64_t row, int64_t n) {
  for (int64_t j = 0; j < n; j++) {
    int64_t a = index[2 * j], b = index[2 * j + 1];
    if (a < 0) a += extent;
    if (b < 0) b += columns;
    if ((uint64_t)a >= (uint64_t)extent || (uint64_t)b >= (uint64_t)columns) return 1;
    memcpy(out + j * row, data + (a * columns + b) * row, (size_t)row);
  }
  return 0;
}

struct part {
  char *to;
  const char *from;
  size_t size;
};

static void *copy_part(void *argument) {
  struct part *part = argument;
  memcpy(part->to, part->from, part->size);
  return NULL;
}

/* The first part on the calling thread, whole cache lines each. */
static void copy(char *to, const char *from, size_t size, int threads) {
  enum { most = 64 };
  pthread_t others[most];
  struct part parts[most];
  if (threads > most) exit(2);
  size_t each = (size / (size_t)threads + 63) / 64 * 64, start = 0;
  for (int k = 0; k < threads; k++) {
    size_t bytes = size - start < each ? size - start : each;
    parts[k] = (struct part){to + start, from + start, bytes};
    start += bytes;
    if (k > 0 && pthread_create(&others[k], NULL, copy_part, &parts[k])) exit(2);
  }
  copy_part(&parts[0]);
  for (int k = 1; k < threads; k++) pthread_join(others[k], NULL);
}

int main(int argc, char **argv) {
  if (argc != 11) return 2;
  const char *op = argv[1];
  int size = atoi(argv[2]), wide = atoi(argv[3]) == 8;
  int64_t outer = atoll(argv[4]), extent = atoll(argv[5]), inner = atoll(argv[6]), n = atoll(argv[7]);
  int64_t columns = atoll(argv[8]);
  size_t data_size, index_size;
  void *data = read_file(argv[9], &data_size), *index = read_file(argv[10], &index_size);
  size_t out_size = (size_t)(outer * n * inner * size);
  void *out = aligned_alloc(64, (out_size + 63) / 64 * 64);
  char *source = aligned_alloc(64, (out_size + 63) / 64 * 64);
  memset(source, 1, out_size);
  char line[4096];
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = 0;
    if (strncmp(line, "dump ", 5) == 0) {
      FILE *file = fopen(line + 5, "wb");
      if (!file || fwrite(out, 1, out_size, file) != out_size) return 2;
      fclose(file);
      puts("0");
    } else {
      struct timespec a, b;
      int failed;
      clock_gettime(CLOCK_MONOTONIC, &a);
      if (strncmp(line, "copy ", 5) == 0) copy(out, source, out_size, atoi(line + 5)), failed = 0;
      else if (strcmp(op, "gather") == 0) failed = rows_int32_t(data, index, out, outer, extent, inner * size, n);
      else if (strcmp(op, "gather_nd") == 0) failed = tuples(data, index, out, extent, columns, inner * size, n);
      else if (wide) failed = elements_uint32_t_int64_t(data, index, out, outer, extent, inner, n);
      else if (size == 4) failed = elements_uint32_t_int32_t(data, index, out, outer, extent, inner, n);
      else if (size == 2) failed = elements_uint16_t_int32_t(data, index, out, outer, extent, inner, n);
      else failed = elements_uint8_t_int32_t(data, index, out, outer, extent, inner, n);
      clock_gettime(CLOCK_MONOTONIC, &b);
      if (failed) return 1;
      printf("%lld\n", (long long)(b.tv_sec - a.tv_sec) * 1000000000LL + (b.tv_nsec - a.tv_nsec));
    }
    fflush(stdout);
  }
  return 0;
}
