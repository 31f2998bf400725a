//===- Space.h - The candidates of one parametric schedule ------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_SPACE_SPACE_H
#define CWM_SPACE_SPACE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace cwm {

/// Source of randomness of sampling and search. The engine is the standard's
/// 64-bit Mersenne twister, whose sequence the C++ standard fixes; use
/// `uniformBelow` and not std distributions, which differ between libraries.
using RandomEngine = std::mt19937_64;

/// Uniform integer in [0, bound), the same on every platform; bound > 0.
uint64_t uniformBelow(RandomEngine &engine, uint64_t bound);

/// One named decision of a schedule.
struct Knob {
  enum class Kind {
    Param,        ///< `transform.tune.knob`, feeds `!transform.param`
    Alternatives, ///< `transform.tune.alternatives`, selects a region
    Binding       ///< `cwm.bind`, sets an attribute
  };
  std::string name;
  Kind kind = Kind::Param;
  /// The options in order: a list as written, a range expanded lazily.
  uint64_t getNumOptions() const;
  mlir::Attribute getOption(uint64_t index) const;
  /// The option as an integer; nullopt when it is not one.
  std::optional<int64_t> getInteger(uint64_t index) const;
  /// The option as it stands in keys: integers and simple strings bare,
  /// dense arrays `[1,0]`, anything else as MLIR prints it.
  std::string getOptionText(uint64_t index) const;
  /// The inverse of getOptionText.
  std::optional<uint64_t> findOption(llvm::StringRef text) const;
  /// Index of the default option: `cwm.default` where given, else 0.
  uint64_t defaultIndex = 0;

  /// Storage of a list, without duplicates; see setList.
  mlir::ArrayAttr list;
  /// The options of `list` as text.
  std::vector<std::string> texts;
  /// Sets `list` and `texts`.
  void setList(mlir::ArrayAttr options);
  /// Storage of a range `{lower_bound, upper_bound, divisible_by}`, bounds
  /// inclusive, when `list` is null.
  /// `lower` is itself a multiple of `step`.
  int64_t lower = 0, upper = -1, step = 1;
  /// Type of the integers of a range.
  mlir::Type type;
  /// Where the knob is declared.
  std::optional<mlir::Location> location;
  /// The knob is live iff one of these conjunctions of (deciding knob, option
  /// index) holds; an empty list means always. Deciding knobs are those that
  /// select regions of alternatives, or which sequence is included.
  std::vector<std::vector<std::pair<unsigned, uint64_t>>> liveWhen;
};

/// One option index for each knob of a space, dead knobs included.
using Assignment = std::vector<uint64_t>;

/// Which knobs decide what the operations of a bound script say: those of their
/// attributes and of the parameters that they define. Operations that no knob
/// decides are left out.
using KnobsOfOperations =
    llvm::DenseMap<mlir::Operation *, llvm::SmallVector<unsigned, 4>>;

/// All candidates of one schedule, never materialised.
class Space {
public:
  /// Reads knobs, alternatives, bindings and constraints of `schedule` and
  /// takes it. `name` identifies the schedule in keys and messages.
  /// `options` replaces the option list of knobs by name, which is how
  /// shape-dependent options enter (an entry `"<knob>"` -> list), `defaults`
  /// the index of the default option. Emits one error and fails on an empty
  /// list, a knob whose result is `any_param`, one name with two option lists,
  /// an unknown constraint op, and whatever else could not be bound later.
  static mlir::FailureOr<std::unique_ptr<Space>>
  create(mlir::OwningOpRef<mlir::ModuleOp> schedule, llvm::StringRef name,
         const llvm::StringMap<mlir::ArrayAttr> &options = {},
         const llvm::StringMap<uint64_t> &defaults = {});
  ~Space();

  llvm::StringRef getName() const { return name; }
  mlir::MLIRContext *getContext() const;
  llvm::ArrayRef<Knob> getKnobs() const { return knobs; }

  /// Number of distinct candidates before constraints (assignments that
  /// differ in dead knobs only count once). A double: 10^12 and more is normal.
  double countUnconstrained() const;
  /// Exact number of candidates that satisfy the constraints when at most
  /// `limit` assignments have to be looked at; nullopt beyond.
  std::optional<uint64_t> countExact(uint64_t limit) const;

  bool isLive(const Assignment &assignment, unsigned knob) const;
  /// True when all constraints hold; else `violated` (may be null) receives
  /// the text of the first one that does not, with its location.
  bool satisfies(const Assignment &assignment,
                 std::string *violated = nullptr) const;

  /// The default options if they satisfy the constraints, else the first
  /// candidate that does; nullopt when none exists (or none was found within
  /// a bounded effort), `why` naming the constraint that failed most.
  std::optional<Assignment> getDefault(std::string *why = nullptr) const;
  /// A candidate in which `knob` is live and has `option`, otherwise as near to
  /// `assignment` as the constraints allow; nullopt when none exists (or none
  /// was found within a bounded effort).
  std::optional<Assignment> getNearest(const Assignment &assignment,
                                       unsigned knob, uint64_t option) const;
  /// Uniform over the candidates that satisfy the constraints (rejection,
  /// with propagation where the space is sparse); nullopt as for getDefault.
  std::optional<Assignment> sample(RandomEngine &engine) const;
  /// A candidate that differs from `parent` in one live knob (or the fewest
  /// that the constraints allow); nullopt when there is no other.
  std::optional<Assignment> mutate(const Assignment &parent,
                                   RandomEngine &engine) const;
  /// Each knob from one parent, repaired to satisfy the constraints.
  std::optional<Assignment> crossover(const Assignment &a, const Assignment &b,
                                      RandomEngine &engine) const;
  /// Calls `visit` for each distinct candidate in a fixed order until it
  /// returns false or all were visited. Lazy. Returns false when it gave up: a
  /// million options were looked at without finding a further candidate.
  bool enumerate(llvm::function_ref<bool(const Assignment &)> visit) const;

  /// Canonical key `name{knob=value,...}` of the live knobs with more than one
  /// option, in name order. Equal candidates have equal keys.
  std::string getKey(const Assignment &assignment) const;
  /// The inverse of getKey up to dead knobs; nullopt for a foreign key.
  std::optional<Assignment> parseKey(llvm::StringRef key) const;
  /// Reads `knob=value,...`, a key or nothing: knobs that are not named keep
  /// their default. On failure `error` says which name or value is wrong.
  /// Constraints are not looked at.
  std::optional<Assignment> parseAssignment(llvm::StringRef text,
                                            std::string &error) const;
  /// `assignment` with its dead knobs at their default option: one
  /// representative for each candidate.
  Assignment getCanonical(Assignment assignment) const;

  /// The schedule with every knob selected, alternatives selected, bindings
  /// resolved, constraints and cwm attributes stripped, verified: upstream
  /// ops only (unless the schedule uses ops of ours). Fails with a
  /// diagnostic when the bound script does not verify.
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
  bind(const Assignment &assignment,
       KnobsOfOperations *knobsOfOperations = nullptr) const;

  /// The same without a diagnostic: the error is the first one's text.
  /// `knobsOfOperations` may be null.
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
  tryBind(const Assignment &assignment,
          KnobsOfOperations *knobsOfOperations = nullptr) const;

  /// Numbers that are equal for two candidates whose bound scripts have the
  /// same operations: the same regions are selected, the same sequences
  /// included, the same dimensions tiled. Such scripts differ in values of
  /// attributes and parameters only.
  llvm::SmallVector<uint64_t> getStructure(const Assignment &assignment) const;

  /// One line: how many candidates there are, exactly where that can be told.
  void printCount(llvm::raw_ostream &os) const;
  /// A line for each knob: name, kind, number of options, options, default,
  /// when it is live.
  void printKnobs(llvm::raw_ostream &os) const;

  /// Internals, shared between the files of lib/Space.
  struct Impl;

private:
  Space();
  std::unique_ptr<Impl> impl;
  std::string name;
  std::vector<Knob> knobs;
};

} // namespace cwm

#endif // CWM_SPACE_SPACE_H
