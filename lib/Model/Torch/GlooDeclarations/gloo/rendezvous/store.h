//===- gloo/rendezvous/store.h - Declared only -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_GLOO_RENDEZVOUS_STORE_H
#define CWM_GLOO_RENDEZVOUS_STORE_H

#include <chrono>
#include <string>
#include <vector>

namespace gloo::rendezvous {
/// What c10d::ProcessGroupGloo::GlooStore overrides; we never make one.
class Store {
public:
  virtual ~Store() = 0;
  virtual void set(const std::string &key, const std::vector<char> &value) = 0;
  virtual std::vector<char> get(const std::string &key) = 0;
  virtual void wait(const std::vector<std::string> &keys) = 0;
  virtual void wait(const std::vector<std::string> &keys,
                    const std::chrono::milliseconds &timeout) = 0;
};
} // namespace gloo::rendezvous

#endif // CWM_GLOO_RENDEZVOUS_STORE_H
