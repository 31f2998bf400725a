//===- Proposer.cpp - Which candidates to measure next ----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proposer.h"

#include <algorithm>
#include <cmath>

using namespace llvm;

namespace cwm {

/// Spaces up to this size are listed, so that sampling never fails to find the
/// last candidates.
static constexpr uint64_t smallSpace = 4096;
/// Attempts to find something unseen by sampling before a space is walked.
static constexpr int maxAttempts = 32;
static constexpr int64_t maxWalk = 100000;
static constexpr size_t maxElites = 16;

Proposer::Proposer(ArrayRef<std::unique_ptr<Space>> spaces,
                   CandidateStore &store, Scorer &scorer,
                   const ScoringContext &context, const SearchOptions &options,
                   function_ref<void(StringRef)> warn)
    : spaces(spaces), store(store), scorer(scorer), context(context),
      options(options), warn(warn), states(spaces.size()) {
  listSmallSpaces();
}

void Proposer::listSmallSpaces() {
  for (const auto &[index, space] : enumerate(spaces)) {
    std::optional<uint64_t> count = space->countExact(smallSpace);
    if (!count || *count > smallSpace)
      continue;
    std::vector<Candidate> &all = states[index].all.emplace();
    space->enumerate([&, index = index](const Assignment &assignment) {
      all.push_back(store.make(index, assignment));
      return true;
    });
  }
}

std::vector<const Trial *> rankTrials(ArrayRef<Trial> trials) {
  std::vector<std::pair<double, const Trial *>> order;
  for (const Trial &trial : trials)
    if (trial.result.isOk())
      order.emplace_back(-trial.result.score, &trial);
  llvm::sort(order);
  std::vector<const Trial *> ranked;
  ranked.reserve(order.size());
  for (const auto &[score, trial] : order)
    ranked.push_back(trial);
  return ranked;
}

/// A uniform number in [0, 1), the same on every platform.
static double uniformReal(RandomEngine &engine) {
  return double(engine() >> 11) / double(uint64_t(1) << 53);
}

//===----------------------------------------------------------------------===//
// Random picks
//===----------------------------------------------------------------------===//

// The share of a space in random picks follows the best it has shown: a space
// whose best is half of the overall best gets a sixteenth of the other's share,
// but never nothing. Spaces that only fail are nearly given up.
void Proposer::updateWeights(ArrayRef<Trial> trials) {
  std::vector<double> best(spaces.size(), 0);
  std::vector<int64_t> count(spaces.size(), 0);
  for (const Trial &trial : trials) {
    ++count[trial.candidate.space];
    if (trial.result.isOk())
      best[trial.candidate.space] =
          std::max(best[trial.candidate.space], trial.result.score);
  }
  double top = best.empty() ? 0 : *llvm::max_element(best);
  for (const auto &[index, state] : enumerate(states)) {
    if (count[index] == 0 || top <= 0)
      state.weight = 1;
    else if (best[index] <= 0)
      state.weight = count[index] < 8 ? 0.5 : 0.02;
    else
      state.weight = 0.05 + std::pow(best[index] / top, 4);
  }
}

std::optional<unsigned> Proposer::pickSpace(RandomEngine &engine) const {
  double total = 0;
  for (const SpaceState &state : states)
    total += state.exhausted ? 0 : state.weight;
  double at = uniformReal(engine) * total;
  std::optional<unsigned> last;
  for (const auto &[index, state] : enumerate(states)) {
    if (state.exhausted)
      continue;
    last = index;
    at -= state.weight;
    if (at < 0)
      break;
  }
  return last;
}

std::optional<Candidate> Proposer::pickUnseen(unsigned space,
                                              RandomEngine &engine) {
  SpaceState &state = states[space];
  if (state.all) {
    ArrayRef<Candidate> all = *state.all;
    for (int attempt = 0; attempt < maxAttempts && !all.empty(); ++attempt) {
      const Candidate &candidate = all[uniformBelow(engine, all.size())];
      if (!isTaken(candidate))
        return candidate;
    }
    std::vector<const Candidate *> left;
    for (const Candidate &candidate : all)
      if (!isTaken(candidate))
        left.push_back(&candidate);
    if (!left.empty())
      return *left[uniformBelow(engine, left.size())];
    state.exhausted = true;
    return std::nullopt;
  }
  for (int attempt = 0; attempt < maxAttempts; ++attempt) {
    std::optional<Assignment> assignment = spaces[space]->sample(engine);
    if (!assignment)
      break;
    Candidate candidate = store.make(space, std::move(*assignment));
    if (!isTaken(candidate))
      return candidate;
  }
  // Nearly everything was seen, or the constraints are hard to satisfy.
  std::optional<Candidate> found;
  int64_t visited = 0;
  spaces[space]->enumerate([&](const Assignment &assignment) {
    Candidate candidate = store.make(space, assignment);
    if (!isTaken(candidate))
      found = std::move(candidate);
    return !found && ++visited < maxWalk;
  });
  state.exhausted = !found;
  return found;
}

std::optional<Candidate> Proposer::pickRandom(RandomEngine &engine) {
  while (std::optional<unsigned> space = pickSpace(engine))
    if (std::optional<Candidate> candidate = pickUnseen(*space, engine))
      return candidate;
  return std::nullopt;
}

void Proposer::take(std::vector<Proposal> &batch, Candidate candidate,
                    StringRef provenance, double predicted) {
  seen.insert(candidate.key);
  batch.push_back({std::move(candidate), provenance.str(), predicted});
}

void Proposer::addRandom(std::vector<Proposal> &batch, size_t size,
                         RandomEngine &engine) {
  while (batch.size() < size) {
    std::optional<Candidate> candidate = pickRandom(engine);
    if (!candidate)
      return;
    take(batch, std::move(*candidate), "random");
  }
}

void Proposer::addDefaults(std::vector<Proposal> &batch) {
  for (const auto &[index, space] : enumerate(spaces)) {
    std::optional<Assignment> assignment = space->getDefault();
    if (!assignment) {
      states[index].exhausted = true;
      continue;
    }
    Candidate candidate = store.make(index, std::move(*assignment));
    // The baseline is part of every run, whatever was known before.
    if (!isTaken(candidate) || batch.empty())
      take(batch, std::move(candidate), batch.empty() ? "baseline" : "default");
  }
}

//===----------------------------------------------------------------------===//
// Evolution
//===----------------------------------------------------------------------===//

std::optional<Candidate> Proposer::vary(ArrayRef<const Candidate *> parents,
                                        RandomEngine &engine) const {
  // Better parents, which come first, are taken more often.
  auto pickParent = [&]() {
    double at = uniformReal(engine);
    return parents[size_t(at * at * parents.size())];
  };
  const Candidate &parent = *pickParent();
  const Space &space = *spaces[parent.space];
  std::optional<Assignment> child;
  const Candidate &other = *pickParent();
  if (other.space == parent.space && &other != &parent &&
      uniformBelow(engine, 3) == 0)
    child = space.crossover(parent.assignment, other.assignment, engine);
  else
    child = space.mutate(parent.assignment, engine);
  // Now and then one step more: a better candidate may need two changes.
  if (child && uniformBelow(engine, 3) == 0)
    if (std::optional<Assignment> next = space.mutate(*child, engine))
      child = std::move(next);
  if (!child)
    return std::nullopt;
  return store.make(parent.space, std::move(*child));
}

/// Live knobs in which two candidates of one space differ, up to `limit`.
static unsigned getDistance(const Space &space, const Candidate &a,
                            const Candidate &b, unsigned limit) {
  unsigned distance = 0;
  for (unsigned knob = 0; knob < a.assignment.size() && distance < limit;
       ++knob) {
    distance +=
        a.assignment[knob] != b.assignment[knob] &&
        (space.isLive(a.assignment, knob) || space.isLive(b.assignment, knob));
  }
  return distance;
}

/// True when a third of the batch is already one step from `candidate`.
bool Proposer::isCrowded(ArrayRef<Proposal> batch, const Candidate &candidate,
                         size_t size) const {
  size_t near = 0;
  for (const Proposal &proposal : batch) {
    near += proposal.candidate.space == candidate.space &&
            getDistance(*spaces[candidate.space], proposal.candidate, candidate,
                        2) < 2;
  }
  return near >= std::max<size_t>(2, size / 3);
}

void Proposer::addEvolved(std::vector<Proposal> &batch, size_t size,
                          ArrayRef<const Candidate *> elites,
                          RandomEngine &engine) {
  if (elites.empty())
    return;
  for (int attempt = 0; attempt < 100 && batch.size() < size; ++attempt) {
    std::optional<Candidate> child = vary(elites, engine);
    if (child && !isTaken(*child))
      take(batch, std::move(*child), "evolved");
  }
}

//===----------------------------------------------------------------------===//
// Scored picks
//===----------------------------------------------------------------------===//

bool Proposer::scoreAll(ArrayRef<Candidate> candidates,
                        std::vector<Scored> &pool) {
  std::vector<ScoringItem> items;
  std::vector<const Candidate *> scorable;
  items.reserve(candidates.size());
  scorable.reserve(candidates.size());
  for (const Candidate &candidate : candidates) {
    const CandidateInfo &info = store.getInfo(candidate);
    if (!info.failure.empty())
      continue;
    items.push_back({info.actions, info.features});
    scorable.push_back(&candidate);
  }
  Expected<std::vector<double>> scores = scorer.score(context, items);
  if (!scores || scores->size() != items.size()) {
    if (!scorerFailed) {
      warn(("the scorer '" + scorer.getName() +
            "' failed, the search goes on without it: " +
            (scores ? "wrong number of scores" : toString(scores.takeError())))
               .str());
    } else if (!scores) {
      consumeError(scores.takeError());
    }
    scorerFailed = true;
    return false;
  }
  for (const auto &[candidate, score] : zip(scorable, *scores))
    pool.push_back({*candidate, std::isnan(score) ? -HUGE_VAL : score});
  return true;
}

std::optional<std::vector<Candidate>> Proposer::listUnseen(size_t limit) const {
  std::vector<Candidate> unseen;
  for (const SpaceState &state : states) {
    if (state.exhausted)
      continue;
    if (!state.all)
      return std::nullopt;
    for (const Candidate &candidate : *state.all)
      if (!isTaken(candidate))
        unseen.push_back(candidate);
  }
  if (unseen.size() > limit)
    return std::nullopt;
  return unseen;
}

bool Proposer::addScored(std::vector<Proposal> &batch, size_t size,
                         ArrayRef<const Candidate *> elites,
                         RandomEngine &engine) {
  // Best first; equal scores in the order of their keys, which no run changes.
  auto sortPool = [](std::vector<Scored> &pool) {
    llvm::sort(pool, [](const Scored &a, const Scored &b) {
      return std::tie(b.score, a.candidate.key) <
             std::tie(a.score, b.candidate.key);
    });
  };
  std::vector<Scored> pool;
  size_t populationSize = std::max<int64_t>(options.populationSize, 1);
  if (std::optional<std::vector<Candidate>> unseen =
          listUnseen(populationSize * options.numGenerations)) {
    if (!scoreAll(*unseen, pool))
      return false;
  } else {
    StringSet<> inPool;
    for (int64_t generation = 0; generation < options.numGenerations;
         ++generation) {
      // Parents: what was measured, and the best predicted so far.
      std::vector<Candidate> predicted;
      for (const Scored &scored : ArrayRef(pool).take_front(maxElites))
        predicted.push_back(scored.candidate);
      std::vector<const Candidate *> parents;
      for (size_t i = 0; i < std::max(elites.size(), predicted.size()); ++i) {
        if (i < elites.size())
          parents.push_back(elites[i]);
        if (i < predicted.size())
          parents.push_back(&predicted[i]);
      }
      std::vector<Candidate> children;
      size_t failures = 0;
      while (children.size() < populationSize && failures < populationSize) {
        // A quarter of each generation, and half of the first, is new blood.
        bool random = parents.empty() ||
                      uniformBelow(engine, 4) < (generation == 0 ? 2u : 1u);
        std::optional<Candidate> child =
            random ? pickRandom(engine) : vary(parents, engine);
        if (child && !isTaken(*child) && inPool.insert(child->key).second)
          children.push_back(std::move(*child));
        else
          ++failures;
      }
      if (!scoreAll(children, pool))
        return false;
      sortPool(pool);
    }
  }
  sortPool(pool);
  for (bool avoidCrowds : {true, false}) {
    for (const Scored &scored : pool) {
      if (batch.size() >= size)
        break;
      if (!isTaken(scored.candidate) &&
          !(avoidCrowds && isCrowded(batch, scored.candidate, size)))
        take(batch, scored.candidate, scorer.getName(), scored.score);
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

std::vector<Proposal> Proposer::propose(int64_t round, ArrayRef<Trial> trials) {
  // An engine for each round: the decisions of a round do not depend on how
  // many numbers the ones before have drawn.
  RandomEngine engine((options.seed * 0x9e3779b97f4a7c15ull) ^
                      (uint64_t(round) * 0xd6e8feb86659fd93ull));
  std::vector<Proposal> batch;
  size_t size = std::max<int64_t>(options.batchSize, 1);
  store.forget();
  updateWeights(trials);
  if (round == 0) {
    addDefaults(batch);
    size = std::max(size, batch.size());
  }
  std::vector<const Candidate *> elites;
  for (const Trial *trial : rankTrials(trials)) {
    if (elites.size() == maxElites)
      break;
    elites.push_back(&trial->candidate);
  }
  bool wasEmpty = batch.empty();
  if (!options.randomOnly && (!elites.empty() || scorer.isReady())) {
    // What the scorer has not seen it cannot judge: some of a batch is picked
    // at random, and some varies the best that was measured.
    double wanted =
        double(size) * std::min(std::max(options.epsilon, 0.0), 1.0);
    size_t explore = size_t(wanted);
    explore += uniformReal(engine) < wanted - explore;
    size_t exploit = size - std::min(explore, size);
    if (scorer.isReady() && !scorerFailed) {
      size_t varied = std::min<size_t>(
          exploit, std::lround(size * std::max(options.variedShare, 0.0)));
      if (addScored(batch, exploit - varied, elites, engine))
        addEvolved(batch, exploit, ArrayRef(elites).take_front(4), engine);
    }
    // Without a scorer half of the batch varies.
    addEvolved(batch, size / 2, elites, engine);
  }
  addRandom(batch, size, engine);
  // What is left may be out of reach of sampling but not of evolution.
  if (wasEmpty && batch.empty())
    addEvolved(batch, size, elites, engine);
  return batch;
}

} // namespace cwm
