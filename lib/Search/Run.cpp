//===- Run.cpp - The state of one run of a search ---------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include "cwm/Trajectory/StateText.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cwm {

class Run::Stage {
public:
  Stage(Run &run, StringRef name) : run(run), name(name) {}
  Stage(const Stage &) = delete;
  Stage &operator=(const Stage &) = delete;
  ~Stage() {
    run.summary.secondsByStage[name] += run.getElapsedSeconds() - begin;
  }

private:
  Run &run;
  StringRef name;
  double begin = run.getElapsedSeconds();
};

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

/// What decisions depend on besides results: runs that differ in it are
/// different runs. The number of trials and the time are not part of it.
static std::string getRunKey(const RunContext &run) {
  std::string text = formatv(
      "{0}|{1}|{2}|{3}|{4}|{5}|{6}|{7}|{8}|{9}|{10}", run.context.workload,
      run.targetKey, getToolchainVersion(), run.options.seed,
      run.options.batchSize, run.options.epsilon, run.options.variedShare,
      run.options.populationSize, run.options.numGenerations,
      run.options.randomOnly, run.scorer.getIdentity());
  for (const std::unique_ptr<Space> &space : run.spaces)
    text += "|" + space->getName().str();
  return "run." + hashText(text);
}

/// Reads the earlier records of this workload (part of the trials), what this
/// run has measured before a kill (known results), and the records of other
/// workloads.
Error Run::loadRecords() {
  Stage stage(*this, "database");
  std::string snapshotKey = getRunKey(run) + ".snapshot";
  Expected<std::string> value = run.database.getValue(snapshotKey);
  if (!value)
    return value.takeError();
  int64_t snapshot = 0;
  if (StringRef(*value).getAsInteger(10, snapshot)) {
    Expected<int64_t> maxId = run.database.getMaxId();
    if (!maxId)
      return maxId.takeError();
    snapshot = *maxId;
    if (Error error =
            run.database.setValue(snapshotKey, std::to_string(snapshot)))
      return error;
    // For who reads the records: what their workload was.
    if (Error error =
            run.database.setValue("workload." + run.context.workload + ".state",
                                  run.context.stateText))
      return error;
  }

  Expected<std::vector<Record>> records =
      run.database.getRecords(run.context.workload, run.targetKey);
  if (!records)
    return records.takeError();
  for (Record &record : *records) {
    if (record.id > snapshot) {
      known[record.candidate] = std::move(record.result);
      continue;
    }
    StringRef key = StringRef(record.candidate).rsplit('#').first;
    std::optional<Candidate> candidate = store.parse(key);
    if (!candidate)
      continue;
    // A record of a schedule that was edited since says nothing.
    Expected<std::string> script = store.getScript(*candidate);
    if (!script) {
      consumeError(script.takeError());
      continue;
    }
    if (getCandidateId(key, *script) != record.candidate)
      continue;
    proposer.markSeen(*candidate);
    known[record.candidate] = record.result;
    trials.push_back({std::move(*candidate), std::move(record.result),
                      std::move(record.features)});
    ++summary.priorRecords;
  }

  Expected<std::vector<Record>> others = run.database.getOtherRecords(
      run.context.workload, run.targetKey, snapshot);
  if (!others)
    return others.takeError();
  for (Record &record : *others)
    otherItems.push_back({record.workload, std::move(record.features),
                          std::move(record.hardware), record.result.isOk(),
                          record.result.score,
                          /*actions=*/{}});
  summary.otherRecords = int64_t(otherItems.size());
  return Error::success();
}

Error Run::storeRecord(const Proposal &proposal, StringRef id, int64_t round,
                       TrialResult &result) {
  Stage stage(*this, "database");
  const CandidateInfo &info = store.getInfo(proposal.candidate);
  Record record;
  record.workload = run.context.workload;
  record.target = run.targetKey.str();
  record.candidate = id.str();
  record.provenance = proposal.provenance;
  for (const Action *action : info.actions)
    record.actions.push_back(action->text);
  record.features = info.features;
  record.hardware = run.context.hardware;
  record.predicted = proposal.predicted;
  record.round = round;
  record.result = std::move(result);
  Error error = run.database.insert(record);
  // As a rerun will read it: decisions depend on nothing else.
  result = std::move(record.result);
  return error;
}

//===----------------------------------------------------------------------===//
// Trials
//===----------------------------------------------------------------------===//

void Run::report(StringRef stage) {
  progress.trialsDone = numTrials;
  progress.trialsTotal = run.options.numTrials;
  progress.seconds = getElapsedSeconds();
  progress.stage = stage.str();
  run.onProgress(progress);
}

void Run::countStages(const TrialResult &result) {
  const std::pair<StringRef, double> stages[] = {
      {"transform", result.transformMs},
      {"lower", result.lowerMs},
      {"compile", result.compileMs},
      {"check", result.checkMs},
      {"time", result.timeMs}};
  for (const auto &[name, milliseconds] : stages)
    summary.secondsByStage[name] += milliseconds * 1e-3;
}

/// Counts a result the moment it is known, in whatever order results come.
void Run::addTrial(const Proposal &proposal, const TrialResult &result,
                   bool isNew) {
  ++summary.trialsByStatus[stringifyTrialStatus(result.status)];
  if (!result.isOk() && firstFailure.empty())
    firstFailure = proposal.candidate.key + ": " + result.reason;
  // A refusal costs nothing, so it does not use up the trials; but a space
  // that is refused throughout has to end some time.
  if (result.status == TrialStatus::Invalid &&
      summary.refused < 16 * run.options.numTrials) {
    ++summary.refused;
  } else {
    ++numTrials;
    ++(isNew ? summary.trials : summary.reused);
  }
  progress.failures += !result.isOk();
  if (result.isOk() && result.score > progress.bestScore) {
    progress.bestScore = result.score;
    progress.bestTimeNs = progress.bestTimeNs > 0
                              ? std::min(progress.bestTimeNs, result.timeNs)
                              : result.timeNs;
  }
  if (!result.isOk() && run.options.onFailure)
    run.options.onFailure(proposal.candidate.key, result);
  if (baseline && proposal.candidate.key == baseline->key && result.isOk()) {
    progress.baselineScore = result.score;
    baselineResult = result;
  }
  if (isNew)
    countStages(result);
  report("search");
}

Error Run::measure(ArrayRef<Proposal> proposals, int64_t round) {
  std::vector<std::optional<TrialResult>> results(proposals.size());
  std::vector<MeasureRequest> requests;
  std::vector<size_t> places;
  for (const auto &[index, proposal] : enumerate(proposals)) {
    Expected<std::string> script = store.getScript(proposal.candidate);
    std::string failure = script ? "" : toString(script.takeError());
    std::string id =
        getCandidateId(proposal.candidate.key, failure.empty() ? *script : "");
    auto it = known.find(id);
    if (it != known.end()) {
      results[index] = it->second;
      addTrial(proposal, it->second, /*isNew=*/false);
    } else if (!failure.empty()) {
      TrialResult refused;
      refused.reason = "binding failed: " + failure;
      if (Error error = storeRecord(proposal, id, round, refused))
        return error;
      addTrial(proposal, refused, /*isNew=*/true);
      results[index] = std::move(refused);
    } else {
      requests.push_back({std::move(id), std::move(*script)});
      places.push_back(index);
    }
  }

  // Each result is stored the moment it comes. A failing database ends the
  // run: nothing more is measured that could not be kept.
  Error storeError = Error::success();
  size_t numResults = 0;
  double begin = getElapsedSeconds();
  auto onResult = [&](size_t index, TrialResult result) {
    ++numResults;
    ++numMeasured;
    if (storeError)
      return;
    const Proposal &proposal = proposals[places[index]];
    if (Error error =
            storeRecord(proposal, requests[index].key, round, result)) {
      storeError = joinErrors(std::move(storeError), std::move(error));
      run.measurer.requestStop();
      return;
    }
    addTrial(proposal, result, /*isNew=*/true);
    results[places[index]] = std::move(result);
  };
  Error error = requests.empty() ? Error::success()
                                 : run.measurer.measure(requests, onResult);
  measureSeconds += getElapsedSeconds() - begin;
  summary.secondsByStage["measure"] = measureSeconds;
  if (storeError) {
    consumeError(std::move(error));
    return storeError;
  }
  if (error)
    return error;
  summary.interrupted |= numResults < requests.size();
  for (const auto &[proposal, result] : zip(proposals, results))
    if (result)
      trials.push_back({proposal.candidate, std::move(*result),
                        store.getInfo(proposal.candidate).features});
  return Error::success();
}

size_t Run::getChunkSize(size_t queued) const {
  // Refusals do not count, so this may take several turns a batch.
  size_t size = std::min<size_t>(queued, run.options.numTrials - numTrials);
  double budget = run.options.timeBudgetSeconds;
  if (budget <= 0)
    return size;
  double left = budget - getElapsedSeconds();
  // The baseline is measured in any case.
  if (left <= 0)
    return trials.empty() ? 1 : 0;
  if (numMeasured == 0)
    return std::min<size_t>(size, 2);
  // What is left of the queue is measured first by a run with more time.
  double perTrial = measureSeconds / numMeasured;
  if (perTrial * size <= left)
    return size;
  return std::max<size_t>(size_t(left / perTrial), 1);
}

void Run::learn() {
  if (run.options.randomOnly)
    return;
  Stage stage(*this, "learn");
  std::vector<TrainingItem> items = otherItems;
  for (const Trial &trial : trials)
    items.push_back({run.context.workload, trial.features, run.context.hardware,
                     trial.result.isOk(), trial.result.score,
                     store.getInfo(trial.candidate).actions});
  if (Error error = run.scorer.update(items)) {
    std::string message = toString(std::move(error));
    if (!learnFailed)
      run.warn(message);
    learnFailed = true;
  }
}

Error Run::searchSpace() {
  // The ranker may already know something from other workloads.
  learn();
  for (int64_t round = 0; numTrials < run.options.numTrials; ++round) {
    std::vector<Proposal> batch;
    {
      Stage stage(*this, "propose");
      batch = proposer.propose(round, trials);
    }
    if (batch.empty()) {
      summary.exhausted = true;
      return Error::success();
    }
    if (round == 0 && batch.front().provenance == "baseline")
      baseline = batch.front().candidate;
    ArrayRef<Proposal> queue = batch;
    while (!queue.empty()) {
      if (numTrials >= run.options.numTrials)
        return Error::success();
      size_t size = getChunkSize(queue.size());
      if (size == 0) {
        summary.outOfTime = true;
        return Error::success();
      }
      if (Error error = measure(queue.take_front(size), round))
        return error;
      if (summary.interrupted)
        return Error::success();
      queue = queue.drop_front(size);
    }
    learn();
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

Error Run::makeNoCandidateError() const {
  std::string classes;
  // In the order of the enumeration.
  for (int status = 0; status <= int(TrialStatus::WrongResult); ++status) {
    StringRef name = stringifyTrialStatus(TrialStatus(status));
    int64_t count = summary.trialsByStatus.lookup(name);
    if (count == 0)
      continue;
    classes += formatv("{0}{1} {2}", classes.empty() ? "" : ", ", count, name);
  }
  if (classes.empty())
    return make_error<NoValidCandidate>(
        summary.interrupted || summary.outOfTime
            ? "no valid candidate: nothing was measured before the run ended"
            : "no valid candidate: the constraints leave none");
  return make_error<NoValidCandidate>("no valid candidate: " + classes +
                                      "; the first: " + firstFailure);
}

/// Times the finalists against each other; those that fail now are dropped.
Error Run::measureFinalists(std::vector<Finalist> &finalists) {
  std::vector<MeasureRequest> requests;
  for (const Finalist &finalist : finalists) {
    Expected<std::string> script = store.getScript(finalist.candidate);
    if (!script)
      return script.takeError();
    std::string id = getCandidateId(finalist.candidate.key, *script);
    requests.push_back({std::move(id), std::move(*script)});
  }
  std::vector<std::optional<TrialResult>> results(finalists.size());
  size_t numResults = 0;
  {
    Stage stage(*this, "final");
    if (Error error = run.measurer.measureTogether(
            requests, [&](size_t index, TrialResult result) {
              ++numResults;
              results[index] = std::move(result);
            }))
      return error;
  }
  if (numResults < requests.size()) {
    // Scores of a joint measurement do not compare with others.
    summary.interrupted = true;
    return Error::success();
  }
  std::vector<Finalist> timed;
  for (auto &&[finalist, result] : zip(finalists, results)) {
    if (result->isOk()) {
      timed.push_back({std::move(finalist.candidate), std::move(*result)});
      continue;
    }
    // It was valid, or so its record says.
    run.warn(formatv("finalist {0} is dropped: measured again, it ended as "
                     "{1}: {2}",
                     finalist.candidate.key,
                     stringifyTrialStatus(result->status), result->reason)
                 .str());
  }
  finalists = std::move(timed);
  return Error::success();
}

Error Run::finish() {
  std::vector<Finalist> finalists;
  if (baseline && baselineResult)
    finalists.push_back({*baseline, *baselineResult});
  size_t size =
      finalists.size() + std::max<int64_t>(run.options.numFinalists, 1);
  for (const Trial *trial : rankTrials(trials)) {
    if (finalists.size() == size)
      break;
    if (!baselineResult || trial->candidate.key != baseline->key)
      finalists.push_back({trial->candidate, trial->result});
  }
  if (finalists.empty())
    return makeNoCandidateError();
  report("final");
  if (!summary.interrupted)
    if (Error error = measureFinalists(finalists))
      return error;
  if (finalists.empty())
    return make_error<NoValidCandidate>(
        "no valid candidate: all finalists failed when measured again");

  if (baseline)
    summary.baseline = *baseline;
  const Finalist *best = &finalists.front(), *reference = nullptr;
  for (const Finalist &finalist : finalists) {
    if (finalist.result.score > best->result.score)
      best = &finalist;
    if (baseline && finalist.candidate.key == baseline->key)
      reference = &finalist;
  }
  if (reference) {
    summary.baselineResult = reference->result;
    // Within the noise the default is the better answer: it is never slower.
    if (best->result.score <=
        reference->result.score * (1 + run.measurer.getNoiseFloor()))
      best = reference;
    summary.bestIsBaseline = best == reference;
  }
  summary.best = best->candidate;
  summary.bestResult = best->result;
  llvm::sort(finalists, [](const Finalist &a, const Finalist &b) {
    return std::tie(b.result.score, a.candidate.key) <
           std::tie(a.result.score, b.candidate.key);
  });
  summary.finalists = std::move(finalists);
  return Error::success();
}

Expected<SearchSummary> Run::execute() {
  if (Error error = loadRecords())
    return error;
  if (Error error = searchSpace())
    return error;
  if (Error error = finish())
    return error;
  return summary;
}

} // namespace cwm
