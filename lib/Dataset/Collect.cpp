//===- Collect.cpp - Samples, records and measures candidates ---*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Dataset/Collect.h"

#include "CollectJob.h"

#include "cwm/Dataset/Family.h"
#include "cwm/Dataset/Pool.h"
#include "cwm/Runner/RecordPool.h"
#include "cwm/Search/Sampler.h"
#include "cwm/Sketches/Sketches.h"
#include "cwm/Support/ReadFile.h"
#include "cwm/Trajectory/StateText.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

#include <chrono>
#include <cmath>

using namespace llvm;

namespace cwm {

/// Recorded candidates that are stored together: a state's text is compressed
/// by what it has in common with the others.
static constexpr size_t recordBatch = 16;
/// Candidates that are handed to the measurer at once.
static constexpr size_t measureBatch = 16;

int64_t MeasureShare::getCount(int64_t samples) const {
  if (value >= 1)
    return std::min(samples, static_cast<int64_t>(value));
  return std::llround(value * static_cast<double>(samples));
}

Expected<MeasureShare> MeasureShare::parse(StringRef text) {
  auto makeError = [&] {
    return createStringError(
        "--measure=" + text +
        ": expected a number of candidates, or a share as 0.25 or 25%");
  };
  double scale = text.consume_back("%") ? 0.01 : 1;
  bool isShare = scale != 1 || text.contains('.');
  double value = 0;
  if (text.getAsDouble(value) || !std::isfinite(value) || value < 0)
    return makeError();
  value *= scale;
  if (isShare ? value > 1 : value != std::floor(value) || value > 1e6)
    return makeError();
  MeasureShare share;
  // "1.0" is all of them, "1" is one.
  share.value = isShare && value == 1 ? 1e6 : value;
  return share;
}

std::string formatProgress(const CollectProgress &progress) {
  std::string text = formatv(
      "[{0}/{1}] {2}: {3}/{4} recorded", progress.payload, progress.numPayloads,
      sys::path::filename(progress.file), progress.recorded, progress.samples);
  if (progress.toMeasure > 0)
    text +=
        formatv(", {0}/{1} measured", progress.measured, progress.toMeasure);
  if (progress.failures > 0)
    text += formatv(", {0} failed", progress.failures);
  return text + formatv(", {0:f0} s", progress.seconds).str();
}

/// One hash for the texts of all schedules: of other schedules, the same keys
/// mean other candidates.
static Expected<std::string> hashSchedules(StringRef folder) {
  std::vector<std::string> files;
  std::error_code code;
  for (sys::fs::directory_iterator entry(folder, code), end;
       !code && entry != end; entry.increment(code))
    if (StringRef(entry->path()).ends_with(".mlir"))
      files.push_back(entry->path());
  if (code || files.empty())
    return createStringError("no schedules in '" + folder + "'" +
                             (code ? ": " + code.message() : std::string()));
  sort(files);
  std::string all;
  for (const std::string &file : files) {
    Expected<std::unique_ptr<MemoryBuffer>> buffer = readOwnFile(file);
    if (!buffer)
      return buffer.takeError();
    all += (*buffer)->getBuffer();
  }
  return hashText(all);
}

void Collector::report() {
  progress.seconds = getSeconds();
  if (onProgress)
    onProgress(progress);
}

void Collector::refuse(StringRef file, std::string reason) {
  if (onNote)
    onNote(reason);
  summary.refused.emplace_back(file.str(), std::move(reason));
}

//===----------------------------------------------------------------------===//
// Recording
//===----------------------------------------------------------------------===//

Error Collector::record(Job &job) {
  TrajectoryStore trajectories(database);
  Expected<StringSet<>> known = trajectories.getCandidates(job.info.hash);
  if (!known)
    return known.takeError();
  std::vector<StoredTrajectory> batch;
  auto flush = [&]() -> Error {
    if (batch.empty())
      return Error::success();
    if (Error error = trajectories.add(batch))
      return error;
    summary.recorded += static_cast<int64_t>(batch.size());
    for (const StoredTrajectory &one : batch) {
      ++summary.recordedByStatus[stringifyTrialStatus(one.status)];
      progress.failures += one.status != TrialStatus::Ok;
    }
    progress.recorded += static_cast<int64_t>(batch.size());
    batch.clear();
    report();
    return Error::success();
  };
  auto keep = [&](StoredTrajectory trajectory) -> Error {
    trajectory.workload = job.info.hash;
    batch.push_back(std::move(trajectory));
    return batch.size() >= recordBatch ? flush() : Error::success();
  };

  // Which candidate each request of the pool is.
  std::vector<std::pair<size_t, std::string>> requested;
  size_t place = 0;
  Error failure = Error::success();
  auto next = [&]() -> std::optional<MeasureRequest> {
    while (!failure && place < job.candidates.size()) {
      size_t current = place++;
      Expected<MeasureRequest> request = job.bind(current);
      StoredTrajectory unbound;
      if (!request) {
        unbound.reason = "binding failed: " + toString(request.takeError());
        unbound.status = TrialStatus::Invalid;
        unbound.candidate = job.candidates[current].key + "#unbound";
        unbound.place = static_cast<int64_t>(current);
      }
      if (known->contains(request ? request->key : unbound.candidate)) {
        ++progress.recorded;
        continue;
      }
      if (!unbound.candidate.empty()) {
        failure = keep(std::move(unbound));
        continue;
      }
      requested.emplace_back(current, request->key);
      return std::move(*request);
    }
    return std::nullopt;
  };
  auto onResult = [&](size_t index, RecordResult result) -> Error {
    StoredTrajectory trajectory;
    std::tie(trajectory.place, trajectory.candidate) = requested[index];
    trajectory.status = result.trial.status;
    trajectory.reason = std::move(result.trial.reason);
    trajectory.milliseconds = result.trial.transformMs;
    trajectory.history = std::move(result.history);
    return keep(std::move(trajectory));
  };

  RecordPoolOptions poolOptions;
  poolOptions.numWorkers = static_cast<unsigned>(options.jobs);
  poolOptions.threads = options.threads;
  poolOptions.runnerPath = options.measurer.pool.runnerPath;
  poolOptions.runnerArguments = options.measurer.pool.runnerArguments;
  Expected<std::unique_ptr<RecordPool>> pool =
      RecordPool::create(*job.loaded.payload, hardware, poolOptions);
  if (!pool)
    return joinErrors(std::move(failure), pool.takeError());
  interrupts.setWork(**pool);
  Error error = InterruptScope::wasInterrupted()
                    ? Error::success()
                    : (*pool)->record(next, onResult);
  interrupts.clearWork();
  // What came before a failure or an interruption is kept.
  return joinErrors(joinErrors(std::move(failure), std::move(error)), flush());
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

/// Where the noise floor of a workload's measurements is kept.
static std::string getNoiseKey(StringRef workload, StringRef targetKey) {
  return ("noise." + workload + "." + targetKey).str();
}

Error Collector::measure(Job &job) {
  Expected<std::vector<Record>> records =
      database.getRecords(job.info.hash, job.targetKey);
  if (!records)
    return records.takeError();
  StringSet<> known;
  for (const Record &record : *records)
    known.insert(record.candidate);

  SmallString<256> workDir(options.workDir);
  sys::path::append(workDir, job.info.hash);
  std::unique_ptr<Measurer> measurer;
  auto ensureMeasurer = [&]() -> Error {
    if (measurer)
      return Error::success();
    MeasurerOptions measurerOptions = options.measurer;
    measurerOptions.pool.workDir = workDir.str().str();
    measurerOptions.pool.numCompileWorkers =
        static_cast<unsigned>(options.jobs);
    measurerOptions.pool.lowering.threads = options.threads;
    Expected<std::unique_ptr<Measurer>> created =
        createMeasurer(measurerOptions, *job.loaded.payload, hardware);
    if (!created)
      return created.takeError();
    measurer = std::move(*created);
    interrupts.setWork(*measurer);
    return Error::success();
  };
  scope_exit cleanUp([&] {
    interrupts.clearWork();
    measurer.reset();
    // References of hundreds of payloads would fill a disk; what reproduces a
    // crash stays.
    SmallString<256> cache(workDir);
    sys::path::append(cache, "cache");
    (void)sys::fs::remove_directories(cache);
    (void)sys::fs::remove(workDir);
  });

  std::vector<MeasureRequest> batch;
  std::vector<size_t> places;
  auto flush = [&]() -> Error {
    if (batch.empty())
      return Error::success();
    Error failure = Error::success();
    Error error =
        measurer->measure(batch, [&](size_t index, TrialResult result) {
          if (failure)
            return;
          const CandidateInfo &candidate =
              job.store->getInfo(job.candidates[places[index]]);
          Record record;
          record.workload = job.info.hash;
          record.target = job.targetKey;
          record.candidate = batch[index].key;
          record.provenance = "collect";
          for (const Action *action : candidate.actions)
            record.actions.push_back(action->text);
          record.features = candidate.features;
          record.hardware = hardware.getVector();
          record.round = static_cast<int64_t>(places[index]);
          ++summary.measuredByStatus[stringifyTrialStatus(result.status)];
          progress.failures += !result.isOk();
          record.result = std::move(result);
          failure = database.insert(record);
          ++summary.measured;
          ++progress.measured;
          report();
        });
    batch.clear();
    places.clear();
    return joinErrors(std::move(failure), std::move(error));
  };

  for (size_t place = 0; static_cast<int64_t>(place) < progress.toMeasure &&
                         !InterruptScope::wasInterrupted();
       ++place) {
    Expected<MeasureRequest> request = job.bind(place);
    if (!request) {
      // Its trajectory says so.
      consumeError(request.takeError());
      ++progress.measured;
      continue;
    }
    if (known.contains(request->key)) {
      ++progress.measured;
      continue;
    }
    if (Error error = ensureMeasurer()) {
      refuse(job.file,
             job.file + ": cannot be measured: " + toString(std::move(error)));
      return Error::success();
    }
    batch.push_back(std::move(*request));
    places.push_back(place);
    if (batch.size() >= measureBatch)
      if (Error error = flush())
        return error;
  }
  if (!InterruptScope::wasInterrupted())
    if (Error error = flush())
      return error;
  if (!measurer)
    return Error::success();
  return database.setValue(getNoiseKey(job.info.hash, job.targetKey),
                           std::to_string(measurer->getNoiseFloor()));
}

Error Collector::writePool(Job &job) {
  PoolHeader header;
  header.workload = job.info;
  if (const KnownWorkload *known = table.find(job.info.hash))
    header.networks = known->networks;
  header.target = job.targetKey;
  header.hardware = hardware.toJSON();
  header.toolchain = getToolchainVersion();
  header.seed = options.seed;
  Expected<std::string> noise =
      database.getValue(getNoiseKey(job.info.hash, job.targetKey));
  if (!noise)
    return noise.takeError();
  if (StringRef(*noise).getAsDouble(header.noiseFloor))
    header.noiseFloor = 0;
  std::vector<std::string> candidates;
  for (size_t place = 0; static_cast<int64_t>(place) < progress.toMeasure;
       ++place) {
    Expected<MeasureRequest> request = job.bind(place);
    if (request)
      candidates.push_back(std::move(request->key));
    else
      consumeError(request.takeError());
  }
  Expected<Pool> pool = makePool(database, std::move(header), candidates);
  if (!pool)
    return pool.takeError();
  return writePoolFile(*pool, options.poolDir);
}

//===----------------------------------------------------------------------===//
// Payloads
//===----------------------------------------------------------------------===//

/// What was done of a payload, as it is kept in the database.
namespace {
struct Progress {
  int64_t samples = 0, measured = 0;

  static Progress parse(StringRef text) {
    Progress progress;
    auto [samples, measured] = text.split(' ');
    if (samples.getAsInteger(10, progress.samples) ||
        measured.getAsInteger(10, progress.measured))
      return Progress();
    return progress;
  }
  std::string print() const {
    return std::to_string(samples) + " " + std::to_string(measured);
  }
};
} // namespace

Error Collector::collect(StringRef file, StringRef schedulesHash) {
  Job job(file);
  if (!job.loaded.payload) {
    refuse(file, job.loaded.problem);
    return Error::success();
  }
  job.info = makeWorkloadInfo(*job.loaded.payload, file);
  auto [first, isNew] = fileOfWorkload.try_emplace(job.info.hash, file);
  if (!isNew) {
    if (onNote)
      onNote((file + " is the same workload as " + first->second).str());
    return Error::success();
  }
  job.targetKey = hardware.getTargetKey(options.threads);
  std::string doneKey =
      "collect." +
      hashText(formatv("{0}|{1}|{2}|{3}|{4}", job.info.hash, job.targetKey,
                       getToolchainVersion(), options.seed, schedulesHash)
                   .str());
  Expected<std::string> value = database.getValue(doneKey);
  if (!value)
    return value.takeError();
  Progress done = Progress::parse(*value);
  int64_t wanted = options.measure.getCount(options.samples);
  bool needsPool = !options.poolDir.empty() &&
                   !sys::fs::exists(getPoolFile(options.poolDir, job.info));
  if (done.samples >= options.samples && done.measured >= wanted &&
      !needsPool) {
    ++summary.completeBefore;
    return Error::success();
  }

  if (!job.loaded.findSpaces(hardware, options.target, options.threads)) {
    refuse(file, job.loaded.problem);
    return Error::success();
  }
  if (Error error = TrajectoryStore(database).addWorkload(job.info))
    return error;
  job.store.emplace(job.loaded.spaces, job.loaded.payload->getStateText());
  // Of the payload, so that neither their order nor their number matters.
  CandidateSampler sampler(
      job.loaded.spaces,
      xxh3_64bits(job.info.hash + ":" + std::to_string(options.seed)));
  while (static_cast<int64_t>(job.candidates.size()) < options.samples) {
    std::optional<Candidate> candidate = sampler.next();
    if (!candidate)
      break;
    job.candidates.push_back(std::move(*candidate));
  }
  progress.samples = static_cast<int64_t>(job.candidates.size());
  progress.toMeasure = std::min(wanted, progress.samples);
  report();

  double begin = getSeconds();
  if (done.samples < options.samples)
    if (Error error = record(job))
      return error;
  summary.recordSeconds += getSeconds() - begin;
  if (InterruptScope::wasInterrupted())
    return Error::success();
  begin = getSeconds();
  size_t refused = summary.refused.size();
  if (done.measured < wanted)
    if (Error error = measure(job))
      return error;
  summary.measureSeconds += getSeconds() - begin;
  if (InterruptScope::wasInterrupted() || summary.refused.size() > refused)
    return Error::success();
  done.samples = std::max(done.samples, options.samples);
  done.measured = std::max(done.measured, wanted);
  if (Error error = database.setValue(doneKey, done.print()))
    return error;
  if (needsPool)
    if (Error error = writePool(job))
      return error;
  ++summary.complete;
  return Error::success();
}

Expected<CollectSummary> Collector::run(ArrayRef<std::string> files) {
  auto started = std::chrono::steady_clock::now();
  getSeconds = [started] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         started)
        .count();
  };
  summary = CollectSummary();
  progress = CollectProgress();
  progress.numPayloads = files.size();
  fileOfWorkload.clear();
  Expected<std::string> schedules =
      hashSchedules(getSchedulesDir(options.target));
  if (!schedules)
    return schedules.takeError();
  for (const std::string &file : files) {
    if (InterruptScope::wasInterrupted())
      break;
    ++progress.payload;
    progress.file = file;
    progress.recorded = progress.samples = 0;
    progress.measured = progress.toMeasure = 0;
    if (Error error = collect(file, *schedules))
      return std::move(error);
  }
  summary.interrupted = InterruptScope::wasInterrupted();
  summary.seconds = getSeconds();
  return summary;
}

} // namespace cwm
