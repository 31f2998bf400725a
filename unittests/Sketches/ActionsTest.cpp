//===- ActionsTest.cpp - Actions of candidates of shipped schedules -------===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SketchesTest.h"

#include "cwm/Search/ActionTable.h"

#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace cwm;
using namespace cwm::test;

namespace {

class ActionsTest : public SketchesTest {
protected:
  /// What the table has to give, the slow way.
  std::vector<std::string> getTexts(const Space &space,
                                    const Assignment &assignment) {
    std::vector<std::string> texts;
    llvm::Expected<OwningOpRef<ModuleOp>> script = space.tryBind(assignment);
    if (!script) {
      ADD_FAILURE() << llvm::toString(script.takeError());
      return texts;
    }
    auto actions = getActions(
        **script, transform::TransformDialect::kTransformEntryPointSymbolName,
        /*allRegions=*/true);
    EXPECT_TRUE(succeeded(actions));
    for (const Action &action : *actions)
      texts.push_back(action.text);
    return texts;
  }

  std::vector<std::string> getTexts(ActionTable &table, unsigned space,
                                    const Assignment &assignment) {
    std::vector<std::string> texts;
    llvm::Expected<std::optional<std::vector<uint32_t>>> actions =
        table.derive(space, assignment);
    if (!actions) {
      ADD_FAILURE() << llvm::toString(actions.takeError());
      return texts;
    }
    EXPECT_TRUE(*actions);
    for (uint32_t action : **actions)
      texts.push_back(table.get(action).text);
    return texts;
  }
};

std::vector<std::string> listPayloads(const llvm::Twine &folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder, error), end;
       !error && it != end; it.increment(error))
    if (StringRef(it->path()).ends_with(".mlir"))
      files.push_back(it->path());
  llvm::sort(files);
  return files;
}

TEST_F(ActionsTest, TableSaysWhatBindingSays) {
  constexpr int numCandidates = 40;
  std::vector<std::string> files =
      listPayloads(CWM_SOURCE_DIR "/benchmarks/payloads/rep");
  ASSERT_GE(files.size(), 22U);
  size_t numDerived = 0, numBound = 0;
  for (const std::string &file : files) {
    SCOPED_TRACE(file);
    auto buffer = llvm::MemoryBuffer::getFile(file);
    ASSERT_TRUE(bool(buffer));
    std::vector<std::unique_ptr<Space>> spaces = build((*buffer)->getBuffer());
    ActionTable table(spaces);
    RandomEngine engine(1);
    for (auto [index, space] : llvm::enumerate(spaces)) {
      SCOPED_TRACE(space->getName().str());
      for (int i = 0; i < numCandidates; ++i) {
        std::optional<Assignment> candidate = space->sample(engine);
        ASSERT_TRUE(candidate);
        ASSERT_EQ(getTexts(table, index, *candidate),
                  getTexts(*space, *candidate))
            << space->getKey(*candidate);
        ++numDerived;
      }
    }
    numBound += table.getNumBound();
  }
  EXPECT_LT(numBound * 2, numDerived) << numBound << " of " << numDerived;
}

/// A candidate's script, but for alternatives and includes, is one sequence of
/// these operations.
std::unique_ptr<Space> makeSpace(MLIRContext &context, StringRef body) {
  std::string text =
      ("module attributes {transform.with_named_sequence} {\n"
       "transform.named_sequence @unroll(%loop: !transform.any_op "
       "{transform.consumed}) {\n"
       "transform.loop.unroll %loop {factor = 4, cwm.bind = {factor = {knob = "
       "\"f\", options = [2, 4]}}} : !transform.any_op\n"
       "transform.yield\n}\n"
       "transform.named_sequence @__transform_main(%root: !transform.any_op) "
       "{\n" +
       body + "transform.yield\n}\n}\n")
          .str();
  OwningOpRef<ModuleOp> schedule = parseSourceString<ModuleOp>(text, &context);
  if (!schedule)
    return nullptr;
  auto space = Space::create(std::move(schedule), "s");
  return succeeded(space) ? std::move(*space) : nullptr;
}

TEST_F(ActionsTest, FollowsEverythingThatATextIsMadeFrom) {
  // Sizes that are 0 make other loops, an interchange other ones in their
  // place, a parameter reaches through an include, alternatives choose.
  std::vector<std::unique_ptr<Space>> spaces;
  spaces.push_back(makeSpace(context, R"(
    %m = transform.structured.match ops{["linalg.matmul"]} in %root
        : (!transform.any_op) -> !transform.any_op
    %k = transform.tune.knob<"k"> options = [1, 2, 3] -> !transform.param<i64>
    %t, %l = transform.structured.tile_using_for %m tile_sizes [0, 4, 0]
        {cwm.bind = {static_sizes = [{knob = "a", options = [0, 8]},
                                     {knob = "b", options = [4, 16]}, 0]}}
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.apply_cse to %l : !transform.any_op
    %u, %v = transform.structured.tile_using_for %t tile_sizes [%k]
        : (!transform.any_op, !transform.param<i64>)
        -> (!transform.any_op, !transform.any_op)
    transform.tune.alternatives<"which"> {
      transform.include @unroll failures(propagate) (%v)
          : (!transform.any_op) -> ()
    }, {
      transform.apply_licm to %v : !transform.any_op
    }
    transform.structured.vectorize %u : !transform.any_op
  )"));
  if (!spaces.front())
    FAIL() << (errors.empty() ? "no space" : errors.front());
  ActionTable table(spaces);
  size_t count = 0;
  spaces.front()->enumerate([&](const Assignment &assignment) {
    // Not all bind: a loop that is gone may have uses.
    llvm::Expected<OwningOpRef<ModuleOp>> script =
        spaces.front()->tryBind(assignment);
    if (!script) {
      llvm::consumeError(script.takeError());
      return true;
    }
    EXPECT_EQ(getTexts(table, 0, assignment),
              getTexts(*spaces.front(), assignment))
        << spaces.front()->getKey(assignment);
    ++count;
    return true;
  });
  EXPECT_GE(count, 20U);
}

} // namespace
