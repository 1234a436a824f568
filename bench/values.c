/* The plain loops of bench:values in C, as a process (process.h). Each multiplication and sum is rounded by itself: compile with
   -ffp-contract=off. Arguments: workload, rows of the table, columns, rows of the output, and a file of each input, as bench/values.ts lists them. */
#include "process.h"

struct work {
  const void *in[3];
  size_t size[3];
  void *out;
  int64_t table, columns, rows;
};

/* The row that an index names, -1 where it names none. */
static int64_t named(int64_t index, int64_t rows) {
  if (index < 0) index += rows;
  return (uint64_t)index < (uint64_t)rows ? index : -1;
}

/* Rows of 4-bit elements, the low half of a byte first, around 8, with a scale for each 32: data, indices, scales. */
static int embedding(const struct work *w, int64_t from, int64_t to) {
  enum { block = 32 };
  const uint8_t *restrict data = w->in[0];
  const int64_t *restrict ids = w->in[1];
  const _Float16 *restrict scales = w->in[2];
  _Float16 *restrict out = w->out;
  const int64_t columns = w->columns;
  for (int64_t k = from; k < to; k++) {
    const int64_t row = named(ids[k], w->table);
    if (row < 0) return 1;
    for (int64_t b = 0; b < columns / block; b++) {
      const float by = (float)scales[row * (columns / block) + b];
      const uint8_t *pairs = data + (row * columns + b * block) / 2;
      _Float16 *to_block = out + k * columns + b * block;
      for (int p = 0; p < block / 2; p++) {
        to_block[2 * p] = (_Float16)((float)((pairs[p] & 15) - 8) * by);
        to_block[2 * p + 1] = (_Float16)((float)((pairs[p] >> 4) - 8) * by);
      }
    }
  }
  return 0;
}

/* Rows of 8-bit elements, each with its scale: q, s, ids. */
static int cache_rows(const struct work *w, int64_t from, int64_t to) {
  const int8_t *restrict q = w->in[0];
  const float *restrict s = w->in[1];
  const int64_t *restrict ids = w->in[2];
  float *restrict out = w->out;
  const int64_t columns = w->columns;
  for (int64_t k = from; k < to; k++) {
    const int64_t row = named(ids[k], w->table);
    if (row < 0) return 1;
    const float by = s[row];
    for (int64_t c = 0; c < columns; c++) out[k * columns + c] = (float)q[row * columns + c] * by;
  }
  return 0;
}

/* The rows that a bag lists, added in their order: weight, input, offsets. */
static int bags(const struct work *w, int64_t from, int64_t to) {
  const float *restrict weight = w->in[0];
  const int64_t *restrict list = w->in[1];
  const int64_t *restrict offsets = w->in[2];
  const int64_t columns = w->columns, listed = (int64_t)(w->size[1] / sizeof *list);
  for (int64_t bag = from; bag < to; bag++) {
    float *restrict out = (float *)w->out + bag * columns;
    const int64_t end = bag + 1 < w->rows ? offsets[bag + 1] : listed;
    memset(out, 0, (size_t)columns * sizeof *out);
    for (int64_t p = offsets[bag]; p < end; p++) {
      const int64_t row = named(list[p], w->table);
      if (row < 0) return 1;
      for (int64_t c = 0; c < columns; c++) out[c] += weight[row * columns + c];
    }
  }
  return 0;
}

/* Rows of a token's experts, each by its weight, added in their order: x, inverse, weights. */
static int combine(const struct work *w, int64_t from, int64_t to) {
  const float *restrict x = w->in[0];
  const int32_t *restrict inverse = w->in[1];
  const float *restrict weights = w->in[2];
  const int64_t columns = w->columns, experts = (int64_t)(w->size[1] / sizeof *inverse) / w->rows;
  for (int64_t token = from; token < to; token++) {
    float *restrict out = (float *)w->out + token * columns;
    memset(out, 0, (size_t)columns * sizeof *out);
    for (int64_t p = token * experts; p < (token + 1) * experts; p++) {
      const int64_t row = named(inverse[p], w->table);
      if (row < 0) return 1;
      const float by = weights[p];
      for (int64_t c = 0; c < columns; c++) out[c] += x[row * columns + c] * by;
    }
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 8) return 2;
  const char workload = argv[1][0];
  struct work w = {.table = atoll(argv[2]), .columns = atoll(argv[3]), .rows = atoll(argv[4])};
  for (int k = 0; k < 3; k++) w.in[k] = read_file(argv[5 + k], &w.size[k]);
  const size_t out_size = (size_t)(w.rows * w.columns) * (workload == 'E' ? sizeof(_Float16) : sizeof(float));
  w.out = memory_of(out_size);
  part_fn *run = workload == 'E' ? embedding : workload == 'K' ? cache_rows : workload == 'B' ? bags : combine;
  const struct loop loops[] = {{"run", run, w.rows}};
  return serve(loops, 1, &w, w.out, out_size);
}
