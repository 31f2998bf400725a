//===- ApplyCommandTest.cpp - Quoting of file names ------------ -*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Tune/ApplyCommand.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace cwm;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ApplyCommand, ShellWords) {
  EXPECT_EQ(quoteForShell("in/mm_1-a.mlir"), "in/mm_1-a.mlir");
  EXPECT_EQ(quoteForShell(""), "''");
  EXPECT_EQ(quoteForShell("my file"), "'my file'");
  EXPECT_EQ(quoteForShell("it's"), "'it'\\''s'");
  EXPECT_EQ(quoteForShell("$(rm x);*?`\"\\"), "'$(rm x);*?`\"\\'");
  EXPECT_EQ(quoteForShell("caf\xc3\xa9"), "'caf\xc3\xa9'");
  EXPECT_EQ(quoteForShell("caf\xe9 'x'"), "$'caf\\xe9 \\x27x\\x27'");
  EXPECT_EQ(quoteForShell("a\nb"), "$'a\\x0ab'");
}

TEST(ApplyCommand, PipelineValues) {
  EXPECT_EQ(quoteForPipeline("out/best.mlir"), "out/best.mlir");
  EXPECT_EQ(quoteForPipeline("my best"), "\"my best\"");
  EXPECT_EQ(quoteForPipeline("it's"), "\"it's\"");
  EXPECT_EQ(quoteForPipeline("6\" x"), "'6\" x'");
  // Those that mlir-opt cannot be told of, whatever the quotes.
  for (const char *name :
       {"-", "", "a,b", "a{b", "a}b", "a'\"b", " a", "a ", "a\nb", "\xe9"})
    EXPECT_EQ(quoteForPipeline(name), "RESULT.mlir") << name;
}

TEST(ApplyCommand, IsOneLine) {
  EXPECT_EQ(getApplyCommand("mm.mlir", "best.mlir"),
            getMlirOptName().str() +
                " mm.mlir --pass-pipeline='builtin.module(transform-"
                "preload-library{transform-library-paths=best.mlir},transform-"
                "interpreter)'");
  EXPECT_THAT(getApplyCommand("my mm.mlir", "it's best"),
              StartsWith(getMlirOptName().str() + " 'my mm.mlir' "));
  EXPECT_THAT(getApplyCommand("my mm.mlir", "it's best"),
              HasSubstr("=\"it'\\''s best\"}"));
  EXPECT_THAT(getApplyCommand("-x.mlir", "b"),
              StartsWith(getMlirOptName().str() + " ./-x.mlir"));
}

TEST(ApplyCommand, LoadsThePluginWhereItIsNeeded) {
  EXPECT_THAT(getApplyCommand("mm.mlir", "best.mlir", "my dir/CwmPlugin.so"),
              StartsWith(getMlirOptName().str() +
                         " --load-dialect-plugin='my dir/CwmPlugin.so' "
                         "--load-pass-plugin='my dir/CwmPlugin.so' mm.mlir "));
  EXPECT_THAT(findPlugin(), HasSubstr("CwmPlugin.so"));
}
