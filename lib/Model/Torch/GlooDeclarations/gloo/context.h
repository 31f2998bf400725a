//===- gloo/context.h - Declared, never used -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_GLOO_CONTEXT_H
#define CWM_GLOO_CONTEXT_H

#include <chrono>

namespace gloo {
class Context {
public:
  void setTimeout(std::chrono::milliseconds timeout);
};
} // namespace gloo

#endif // CWM_GLOO_CONTEXT_H
