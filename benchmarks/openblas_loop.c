// A loop of cblas_sgemm calls, so that Python's call overhead is not counted
// against OpenBLAS in the batch benchmark.
#include <stdint.h>

typedef void (*sgemm_fn)(int order, int transA, int transB, int m, int n, int k,
                         float alpha, const float *a, int lda, const float *b,
                         int ldb, float beta, float *c, int ldc);

void loop_sgemm(sgemm_fn sgemm, int batch, int m, int n, int k, const float *a,
                const float *b, float *c) {
  for (int i = 0; i < batch; ++i)
    sgemm(/*row major*/ 101, /*no transpose*/ 111, 111, m, n, k, 1.0f,
          a + (int64_t)i * m * k, k, b + (int64_t)i * k * n, n, 0.0f,
          c + (int64_t)i * m * n, n);
}
