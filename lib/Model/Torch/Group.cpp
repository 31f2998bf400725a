//===- Group.cpp - Several processes that train together ------ -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The wheel has torch's gloo backend and its header, but not the headers of
// gloo, which that header includes. It uses gloo's types behind pointers only,
// and so do we: the folder GlooDeclarations declares them, and nothing of
// gloo's layout is assumed.
//
//===----------------------------------------------------------------------===//

#include "Group.h"

#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

namespace cwm::torch_component {

struct Group::Impl {
  c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo;
};

Group::Group(const std::string &store, const std::string &address, int rank,
             int size, int timeoutSeconds)
    : impl(std::make_unique<Impl>()), rank(rank), size(size) {
  const std::chrono::seconds timeout(timeoutSeconds);
  auto file = c10::make_intrusive<c10d::FileStore>(store, size);
  file->setTimeout(timeout);
  auto options = c10d::ProcessGroupGloo::Options::create(timeout);
  options->devices.push_back(
      c10d::ProcessGroupGloo::createDeviceForHostname(address));
  // One operation is in flight at a time.
  options->threads = 1;
  impl->gloo =
      c10::make_intrusive<c10d::ProcessGroupGloo>(file, rank, size, options);
}

Group::~Group() = default;

void Group::sum(at::Tensor &tensor) {
  std::vector<at::Tensor> tensors = {tensor};
  impl->gloo->allreduce(tensors)->wait();
}

std::unique_ptr<Group> &Group::getCurrent() {
  static std::unique_ptr<Group> current;
  return current;
}

} // namespace cwm::torch_component
