//===- Ranker.cpp - G: from inputs to scores --------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/Ranker.h"

#include "cwm/Model/Features.h"
#include "cwm/Support/ReadFile.h"

using namespace llvm;

namespace cwm {

Expected<Ranker> Ranker::load(const ModelDirectory &directory) {
  Expected<std::string> file = directory.getFile(ModelDirectory::rankerFile);
  if (!file)
    return file.takeError();
  auto fail = [&](const Twine &what) {
    return createStringError("cannot use model '" + directory.getPath() +
                             "': " + what);
  };
  const ModelConfig &config = directory.getConfig();
  if (config.featureVersion != featureVersion)
    return fail("its ranker was trained on features of version " +
                Twine(config.featureVersion) + ", this build has version " +
                Twine(featureVersion));
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readOwnFile(*file);
  if (!buffer)
    return fail(toString(buffer.takeError()));
  Expected<Booster> booster = Booster::load((*buffer)->getBuffer());
  if (!booster)
    return fail("ranker.ubj: " + toString(booster.takeError()));
  const auto dim = static_cast<size_t>(config.dim);
  const size_t expected = config.ranker->getNumColumns(dim);
  if (booster->getNumColumns() != expected)
    return fail("ranker.ubj was trained on " + Twine(booster->getNumColumns()) +
                " columns, config.json says " + Twine(expected));
  return Ranker(*config.ranker, dim, std::move(*booster));
}

bool isTargetOf(StringRef modelTarget, StringRef targetKey) {
  return targetKey.consume_front(modelTarget) &&
         (targetKey.empty() || targetKey.front() == ':');
}

} // namespace cwm
