//===- StopSignal.h - Ctrl-C once ends after a step ------------ -*- C++-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_TRAIN_STOPSIGNAL_H
#define CWM_LIB_TRAIN_STOPSIGNAL_H

#include <array>
#include <atomic>
#include <csignal>

namespace cwm {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP sets a flag, which the
/// loop looks at between two steps; the second one kills. Signals that the
/// parent ignores (nohup) stay ignored. One at a time in a process.
class StopSignal {
public:
  StopSignal() {
    getRequested() = false;
    struct sigaction action = {};
    action.sa_handler = [](int) { getRequested() = true; };
    action.sa_flags = SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < signals.size(); ++i) {
      sigaction(signals[i], nullptr, &previous[i]);
      if (previous[i].sa_handler != SIG_IGN)
        sigaction(signals[i], &action, nullptr);
    }
  }
  ~StopSignal() {
    for (size_t i = 0; i < signals.size(); ++i)
      sigaction(signals[i], &previous[i], nullptr);
  }
  StopSignal(const StopSignal &) = delete;
  StopSignal &operator=(const StopSignal &) = delete;

  const std::atomic<bool> &getFlag() const { return getRequested(); }

private:
  static std::atomic<bool> &getRequested() {
    static std::atomic<bool> requested{false};
    static_assert(std::atomic<bool>::is_always_lock_free);
    return requested;
  }
  static constexpr std::array<int, 3> signals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, 3> previous;
};

} // namespace cwm

#endif // CWM_LIB_TRAIN_STOPSIGNAL_H
