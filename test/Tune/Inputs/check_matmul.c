/* Calls kernel(a, b, c) on n x n matrices and compares with a sum in double. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void kernel(const float *a, const float *b, float *c);

int main(int argc, char **argv) {
  size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
  float *a = aligned_alloc(64, n * n * sizeof(float));
  float *b = aligned_alloc(64, n * n * sizeof(float));
  float *c = aligned_alloc(64, n * n * sizeof(float));
  unsigned state = 12345;
  for (size_t i = 0; i < n * n; ++i) {
    state = state * 1664525u + 1013904223u;
    a[i] = (float)(state >> 8) / (1 << 24) - 0.5f;
    state = state * 1664525u + 1013904223u;
    b[i] = (float)(state >> 8) / (1 << 24) - 0.5f;
    c[i] = NAN;
  }
  kernel(a, b, c);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) {
      double sum = 0, scale = 0;
      for (size_t k = 0; k < n; ++k) {
        double product = (double)a[i * n + k] * b[k * n + j];
        sum += product;
        scale += fabs(product);
      }
      /* Not `>`: a NaN must fail. */
      if (!(fabs(sum - c[i * n + j]) <= 1e-5 * scale)) {
        printf("c[%zu][%zu] = %g, expected %g\n", i, j, c[i * n + j], sum);
        return 1;
      }
    }
  printf("all %zu elements agree\n", n * n);
  return 0;
}
