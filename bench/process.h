/* The process around loops in C. It reads requests from stdin: `run N` prints the nanoseconds of the loop `run` on N threads, `dump FILE`
   writes the output. Rows of the output are dealt to the threads. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void *memory_of(size_t size) {
  return aligned_alloc(64, (size + 63) / 64 * 64);
}

static void *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file) exit(2);
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  void *memory = memory_of(*size);
  if (fread(memory, 1, *size, file) != *size) exit(2);
  fclose(file);
  return memory;
}

/* What a loop is run on: each program's own. */
struct work;

/* Output rows [from, to); 1: an index is out of range. */
typedef int part_fn(const struct work *w, int64_t from, int64_t to);

struct part {
  part_fn *run;
  const struct work *work;
  int64_t from, to;
  int failed;
};

static void *run_part(void *argument) {
  struct part *part = argument;
  part->failed = part->run(part->work, part->from, part->to);
  return NULL;
}

/* Rows dealt evenly to the threads, the first part on the calling one. */
static int run_all(part_fn *run, const struct work *work, int64_t rows_in_all, int threads) {
  enum { most = 64 };
  pthread_t others[most];
  struct part parts[most];
  if (threads < 1 || threads > most) exit(2);
  int64_t start = 0;
  for (int k = 0; k < threads; k++) {
    int64_t end = rows_in_all * (k + 1) / threads;
    parts[k] = (struct part){run, work, start, end, 0};
    start = end;
    if (k > 0 && pthread_create(&others[k], NULL, run_part, &parts[k])) exit(2);
  }
  run_part(&parts[0]);
  int failed = parts[0].failed;
  for (int k = 1; k < threads; k++) {
    pthread_join(others[k], NULL);
    failed |= parts[k].failed;
  }
  return failed;
}

/* A loop, the word that asks for it, and how many rows it goes over. */
struct loop {
  const char *name;
  part_fn *run;
  int64_t rows;
};

/* Answers lines until there are none; the exit status. */
static int serve(const struct loop *loops, int count, const struct work *work, const void *out, size_t out_size) {
  char line[4096];
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = 0;
    if (strncmp(line, "dump ", 5) == 0) {
      FILE *file = fopen(line + 5, "wb");
      if (!file || fwrite(out, 1, out_size, file) != out_size) return 2;
      fclose(file);
      puts("0");
    } else {
      char what[16];
      int threads = 1, k = 0;
      if (sscanf(line, "%15s %d", what, &threads) < 1) return 2;
      while (k < count && strcmp(what, loops[k].name) != 0) k++;
      if (k == count || !loops[k].run) return 2;
      struct timespec a, b;
      clock_gettime(CLOCK_MONOTONIC, &a);
      int failed = run_all(loops[k].run, work, loops[k].rows, threads);
      clock_gettime(CLOCK_MONOTONIC, &b);
      if (failed) return 1;
      printf("%lld\n", (long long)(b.tv_sec - a.tv_sec) * 1000000000LL + (b.tv_nsec - a.tv_nsec));
    }
    fflush(stdout);
  }
  return 0;
}
