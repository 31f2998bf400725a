//===- Group.h - Several processes that train together -------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_MODEL_TORCH_GROUP_H
#define CWM_LIB_MODEL_TORCH_GROUP_H

#include <ATen/ATen.h>

#include <memory>
#include <string>
#include <vector>

namespace cwm::torch_component {

/// The processes of one training run, over torch's own gloo backend. Without a
/// group, or in one of a single process, every operation is the identity.
class Group {
public:
  /// Meets the others in the file `store`.
  Group(const std::string &store, const std::string &address, int rank,
        int size, int timeoutSeconds);
  ~Group();
  Group(const Group &) = delete;
  Group &operator=(const Group &) = delete;

  int getRank() const { return rank; }
  int getSize() const { return size; }
  /// Replaces `tensor` by its sum over all processes.
  void sum(at::Tensor &tensor);

  /// The group of this process; null when it works alone.
  static std::unique_ptr<Group> &getCurrent();

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
  int rank, size;
};

} // namespace cwm::torch_component

#endif // CWM_LIB_MODEL_TORCH_GROUP_H
