//===- XGBoostAPI.h - The C functions of XGBoost that we call ---*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The wheel of xgboost-cpu ships the library without a header. Declared here,
// from the documented C API of XGBoost 3, is what cwm calls, as pointers that
// are looked up when a ranker is first used: tools that do not score do not
// pay for the library and run without it.
//
//===----------------------------------------------------------------------===//
#ifndef CWM_MODEL_XGBOOSTAPI_H
#define CWM_MODEL_XGBOOSTAPI_H

#include "llvm/Support/Error.h"

#include <cstdint>

namespace cwm {

/// XGBoost's own functions return 0 on success.
struct XGBoostAPI {
  using Matrix = void *;
  using Booster = void *;

  void (*version)(int *major, int *minor, int *patch);
  const char *(*getLastError)();
  /// `config` is JSON, e.g. {"verbosity": 0}.
  int (*setGlobalConfig)(const char *config);

  /// Row-major floats; entries equal to `missing` are absent.
  int (*matrixCreate)(const float *data, uint64_t rows, uint64_t columns,
                      float missing, Matrix *out);
  int (*matrixFree)(Matrix matrix);
  /// `field` is "label", `values` has one entry a row.
  int (*matrixSetFloats)(Matrix matrix, const char *field, const float *values,
                         uint64_t length);
  /// `field` is "qid"; `array` is a JSON array interface.
  int (*matrixSetArray)(Matrix matrix, const char *field, const char *array);

  int (*boosterCreate)(const Matrix matrices[], uint64_t count, Booster *out);
  int (*boosterFree)(Booster booster);
  int (*boosterSetParameter)(Booster booster, const char *name,
                             const char *value);
  int (*boosterUpdate)(Booster booster, int iteration, Matrix training);
  /// `array` is a JSON array interface of rows, `config` JSON. The result
  /// belongs to the booster until its next call.
  int (*boosterPredict)(Booster booster, const char *array, const char *config,
                        Matrix proxy, const uint64_t **shape,
                        uint64_t *dimensions, const float **result);
  /// `config` is {"format": "ubj"} or {"format": "json"}.
  int (*boosterSave)(Booster booster, const char *config, uint64_t *length,
                     const char **data);
  int (*boosterLoad)(Booster booster, const void *data, uint64_t length);
  int (*boosterGetNumColumns)(Booster booster, uint64_t *count);
  int (*boosterGetNumRounds)(Booster booster, int *count);
  /// The rounds from `begin` to `end`, exclusive.
  int (*boosterSlice)(Booster booster, int begin, int end, int step,
                      Booster *out);

  /// Loads the library on the first call: from `CWM_XGBOOST_LIBRARY` in the
  /// environment, else from where CMake found it. Fails when it is missing,
  /// lacks a function or is not version 3, each time with the same message.
  static llvm::Expected<const XGBoostAPI *> get();

  /// Turns a return code into an error "<what>: <XGBoost's reason>", one line
  /// without XGBoost's stack trace.
  llvm::Error check(int code, llvm::StringRef what) const;
};

} // namespace cwm

#endif // CWM_MODEL_XGBOOSTAPI_H
