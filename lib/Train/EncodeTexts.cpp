//===- EncodeTexts.cpp - Latent states of a dataset, with a store --*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncodeTexts.h"

#include "cwm/Trajectory/StateText.h"

#include "llvm/Support/FormatVariadic.h"

#include <chrono>

using namespace llvm;

namespace cwm {

namespace {
/// Ends visitStateTexts early.
class StoppedError : public ErrorInfo<StoppedError> {
public:
  static char ID;
  void log(raw_ostream &os) const override { os << "stopped"; }
  std::error_code convertToErrorCode() const override {
    return inconvertibleErrorCode();
  }
};
char StoppedError::ID = 0;

/// Says how far encoding is.
class Meter {
public:
  Meter(size_t total, function_ref<void(const Twine &)> progress)
      : total(total), progress(progress) {}
  void update(size_t done, size_t encoded, size_t bytes) {
    const auto now = Clock::now();
    if (now - last < std::chrono::seconds(10))
      return;
    last = now;
    const double seconds = std::chrono::duration<double>(now - start).count();
    progress(formatv("encoded {0} of {1} texts ({2} in this run, {3:f1} kB/s)",
                     done, total, encoded,
                     static_cast<double>(bytes) / 1000 / seconds)
                 .str());
  }

private:
  using Clock = std::chrono::steady_clock;
  size_t total;
  function_ref<void(const Twine &)> progress;
  Clock::time_point start = Clock::now(), last = start;
};
} // namespace

Expected<bool> encodeTexts(const Dataset &dataset, const ModelDirectory &model,
                           LatentStore &store, const ProcessOptions &processes,
                           const StopFlag &stop,
                           function_ref<void(const Twine &)> progress) {
  Expected<const TorchLibrary *> library = TorchLibrary::get();
  if (!library)
    return library.takeError();
  Expected<std::unique_ptr<Encoder>> encoder = loadEncoder(model);
  if (!encoder)
    return encoder.takeError();
  auto sum = [&](MutableArrayRef<double> values) {
    return (*library)->check(
        (**library)->sumOverGroup(values.data(),
                                  static_cast<int64_t>(values.size())),
        "cannot reach the other processes");
  };
  std::vector<std::string> hashes, actionHashes;
  for (const std::string &action : dataset.getActions())
    actionHashes.push_back(hashText(action));
  hashes = actionHashes;
  for (size_t state = 0; state < dataset.getNumStates(); ++state)
    hashes.push_back(dataset.getStateHash(state).str());

  Meter meter(hashes.size(), progress);
  size_t bytes = 0;
  LatentFiller *current = nullptr;
  auto goesOn = [&]() -> Expected<bool> {
    meter.update(current->getNumTexts(), current->getNumEncoded(), bytes);
    double stops[] = {stop.flag ? 1.0 : 0.0};
    if (Error error = sum(stops))
      return std::move(error);
    return stops[0] == 0;
  };
  LatentFiller::Options options;
  options.rank = processes.rank;
  options.ranks = processes.ranks;
  options.sum = sum;
  options.goesOn = goesOn;
  LatentFiller filler(**encoder, store, options);
  current = &filler;
  Expected<bool> hasAll = filler.hasAll(hashes);
  if (!hasAll || *hasAll)
    return hasAll;
  auto add = [&](StringRef hash, StringRef text) {
    bytes += text.size();
    return filler.add(hash, text);
  };
  for (auto [hash, action] : zip_equal(actionHashes, dataset.getActions())) {
    Expected<bool> added = add(hash, action);
    if (!added || !*added)
      return added;
  }
  bool isStopped = false;
  Error error = handleErrors(
      dataset.visitStateTexts([&](uint32_t state, StringRef text) -> Error {
        Expected<bool> added = add(dataset.getStateHash(state), text);
        if (!added)
          return added.takeError();
        return *added ? Error::success() : make_error<StoppedError>();
      }),
      [&](const StoppedError &) { isStopped = true; });
  if (error)
    return std::move(error);
  if (isStopped)
    return false;
  return filler.finish();
}

} // namespace cwm
