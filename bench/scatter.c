/* The plain loops of scatters in C, as a process (process.h): `set` writes rows where 64-bit indices name them and skips others, `add`
   adds rows of f32.
   Arguments: row bytes, rows of the updates, rows of the output, base, indices, updates. */
#include "process.h"

struct work {
  char *out;
  const int64_t *index;
  const char *updates;
  int64_t row, extent;
};

static int set(const struct work *w, int64_t from, int64_t to) {
  for (int64_t k = from; k < to; k++) {
    int64_t at = w->index[k];
    if ((uint64_t)at < (uint64_t)w->extent) memcpy(w->out + at * w->row, w->updates + k * w->row, (size_t)w->row);
  }
  return 0;
}

static int add(const struct work *w, int64_t from, int64_t to) {
  const int64_t elements = w->row / 4;
  for (int64_t k = from; k < to; k++) {
    int64_t at = w->index[k];
    if ((uint64_t)at >= (uint64_t)w->extent) return 1;
    float *out = (float *)(w->out + at * w->row);
    const float *update = (const float *)(w->updates + k * w->row);
    for (int64_t c = 0; c < elements; c++) out[c] += update[c];
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 7) return 2;
  struct work w = {.row = atoll(argv[1]), .extent = atoll(argv[3])};
  int64_t rows = atoll(argv[2]);
  size_t out_size, index_size, updates_size;
  w.out = read_file(argv[4], &out_size), w.index = read_file(argv[5], &index_size);
  w.updates = read_file(argv[6], &updates_size);
  const struct loop loops[] = {{"set", set, rows}, {"add", add, rows}};
  return serve(loops, 2, &w, w.out, out_size);
}
