//===- WorkerProcess.cpp - One worker as the driver sees it -----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Runner/WorkerProcess.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace cwm {

static Error makeError(const Twine &what) {
  std::error_code code(errno, std::generic_category());
  return createStringError(code, what + ": " + code.message());
}

std::string WorkerExit::describe() const {
  std::string text;
  if (signal)
    text = ("signal " + Twine(signal) + " (" + strsignal(signal) + ")").str();
  else
    text = ("exit code " + Twine(exitCode)).str();
  if (!lastStderrLine.empty())
    text += ": " + lastStderrLine;
  return text;
}

/// Runs in the forked child: only async-signal-safe calls from here on.
[[noreturn]] static void runChild(char *const *arguments, int stream,
                                  int errors, pid_t driver,
                                  const ProcessLimits &limits) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The driver may have died before prctl took effect.
  if (getppid() != driver)
    _exit(127);
  dup2(stream, STDIN_FILENO);
  dup2(stream, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  // A worker that outlives the driver by a moment must hold none of its locks.
  close_range(3, ~0u, 0);
  signal(SIGINT, SIG_IGN);
  applyProcessLimits(limits);
  execv(arguments[0], arguments);
  static constexpr char message[] = "cannot execute the worker\n";
  [[maybe_unused]] ssize_t written =
      ::write(STDERR_FILENO, message, sizeof(message) - 1);
  _exit(127);
}

Expected<std::unique_ptr<WorkerProcess>>
WorkerProcess::spawn(const std::vector<std::string> &command,
                     const ProcessLimits &limits) {
  int streams[2], errorPipe[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, streams) != 0)
    return makeError("cannot make a socket for a worker");
  if (pipe2(errorPipe, O_CLOEXEC) != 0) {
    Error error = makeError("cannot make a pipe for a worker");
    close(streams[0]);
    close(streams[1]);
    return std::move(error);
  }
  SmallVector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);

  std::unique_ptr<WorkerProcess> worker(new WorkerProcess());
  worker->stream = streams[0];
  worker->errorStream = errorPipe[0];
  pid_t driver = getpid();
  worker->pid = fork();
  if (worker->pid == 0)
    runChild(arguments.data(), streams[1], errorPipe[1], driver, limits);
  close(streams[1]);
  close(errorPipe[1]);
  if (worker->pid < 0)
    return makeError("cannot fork a worker");
  fcntl(streams[0], F_SETFL, O_NONBLOCK);
  fcntl(errorPipe[0], F_SETFL, O_NONBLOCK);
  return std::move(worker);
}

WorkerProcess::~WorkerProcess() {
  if (pid > 0)
    kill();
  if (stream >= 0)
    close(stream);
  if (errorStream >= 0)
    close(errorStream);
}

void WorkerProcess::send(const json::Object &message) {
  pending += encodeFrame(message);
  pump();
}

void WorkerProcess::readErrors() {
  char bytes[4096];
  while (true) {
    ssize_t count = ::read(errorStream, bytes, sizeof(bytes));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return;
    errors.append(bytes, count);
    // Only the end is ever shown.
    if (errors.size() > 2 * sizeof(bytes))
      errors.erase(0, errors.size() - sizeof(bytes));
  }
}

bool WorkerProcess::pump() {
  readErrors();
  while (!pending.empty()) {
    // MSG_NOSIGNAL: a dead worker must not raise SIGPIPE in the driver.
    ssize_t count =
        ::send(stream, pending.data(), pending.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      break;
    pending.erase(0, count);
  }
  char bytes[65536];
  while (true) {
    ssize_t count = ::recv(stream, bytes, sizeof(bytes), 0);
    if (count < 0 && errno == EINTR)
      continue;
    if (count > 0) {
      reader.append(StringRef(bytes, count));
      continue;
    }
    return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }
}

Expected<std::optional<json::Object>> WorkerProcess::receive() {
  return reader.next();
}

void WorkerProcess::kill() {
  if (!reaped)
    ::kill(pid, SIGKILL);
  wait();
}

WorkerExit WorkerProcess::wait() {
  if (reaped)
    return exit;
  // A worker that closed its stream exits within moments; one that does not is
  // killed after a second.
  int status = 0;
  pid_t result = 0;
  for (int attempt = 0; attempt < 1000 && result == 0; ++attempt) {
    result = waitpid(pid, &status, WNOHANG);
    if (result == 0)
      poll(nullptr, 0, 1);
  }
  if (result == 0) {
    ::kill(pid, SIGKILL);
    while ((result = waitpid(pid, &status, 0)) < 0 && errno == EINTR) {
    }
  }
  reaped = true;
  if (result == pid && WIFSIGNALED(status))
    exit.signal = WTERMSIG(status);
  else if (result == pid && WIFEXITED(status))
    exit.exitCode = WEXITSTATUS(status);
  readErrors();
  StringRef last = StringRef(errors).rtrim();
  exit.lastStderrLine = last.substr(last.rfind('\n') + 1).take_front(300).str();
  return exit;
}

} // namespace cwm
