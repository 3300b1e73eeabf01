// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/dap/FrameReader.h"
#include "lldb-plugin/dap/MessagePeek.h"
#include "gtest/gtest.h"
#include <cstring>

using namespace llvm;
using namespace chronicle::dap;

static void add(FrameReader &Reader, StringRef Bytes) {
  memcpy(Reader.room(Bytes.size()), Bytes.data(), Bytes.size());
  Reader.added(Bytes.size());
}

static std::string framed(StringRef Body) {
  return "Content-Length: " + std::to_string(Body.size()) + "\r\n\r\n" +
         Body.str();
}

/// The bodies of all frames that are complete.
static std::vector<std::string> bodies(FrameReader &Reader) {
  std::vector<std::string> Result;
  while (true) {
    Expected<std::optional<Frame>> Next = Reader.next();
    EXPECT_TRUE(bool(Next));
    if (!Next || !*Next)
      return Result;
    Result.push_back((*Next)->Body.str());
    EXPECT_TRUE((*Next)->Whole.ends_with((*Next)->Body));
  }
}

static std::string problem(StringRef Bytes) {
  FrameReader Reader;
  add(Reader, Bytes);
  Expected<std::optional<Frame>> Next = Reader.next();
  return Next ? "" : toString(Next.takeError());
}

TEST(DapFrame, WholeAndInPieces) {
  std::string Long(100000, 'x');
  std::string All = framed("{}") + framed("") + framed(Long) +
                    "content-type: a\r\n" + framed("last");
  std::vector<std::string> Expected = {"{}", "", Long, "last"};
  for (size_t Piece : {size_t(1), size_t(7), size_t(4096), All.size()}) {
    FrameReader Reader;
    std::vector<std::string> Got;
    for (size_t At = 0; At < All.size(); At += Piece) {
      add(Reader, StringRef(All).substr(At, Piece));
      for (std::string &Body : bodies(Reader))
        Got.push_back(std::move(Body));
    }
    EXPECT_EQ(Got, Expected) << "in pieces of " << Piece;
    EXPECT_TRUE(Reader.atBoundary());
  }
}

TEST(DapFrame, KeepsNoHugeBuffer) {
  FrameReader Reader;
  add(Reader, framed(std::string(1 << 20, 'x')));
  EXPECT_EQ(bodies(Reader).size(), 1u);
  add(Reader, framed("{}"));
  EXPECT_EQ(bodies(Reader), std::vector<std::string>{"{}"});
}

TEST(DapFrame, Malformed) {
  EXPECT_EQ(problem("Content-Type: text/json\r\n\r\n"),
            "a message has no Content-Length");
  EXPECT_EQ(problem("GET / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"),
            "unexpected header 'GET / HTTP/1.1'");
  EXPECT_EQ(problem("Content-Length: -1\r\n\r\n"),
            "invalid header 'Content-Length: -1'");
  EXPECT_EQ(problem("Content-Length: 99999999999\r\n\r\n"),
            "invalid header 'Content-Length: 99999999999'");
  EXPECT_EQ(problem(std::string(5000, 'x')), "a message has no header");
  EXPECT_EQ(problem("Content-Length: 5\r\n"), "");
}

TEST(DapPeek, FindsOnlyTheTop) {
  StringRef Body = R"({"arguments":{"seq":9,"type":"event","a":["]}",{}]},)"
                   R"( "seq" : 12 ,"command":"next","type":"request"})";
  std::optional<MessagePeek> P = MessagePeek::at(Body);
  ASSERT_TRUE(P);
  EXPECT_EQ(P->Type, "request");
  EXPECT_EQ(P->Command, "next");
  EXPECT_EQ(P->Seq, 12);
  EXPECT_FALSE(P->RequestSeq);
  std::string Out;
  appendRenumbered(Out, Body, P->SeqText, 1234);
  std::string Same = Body.str();
  Same.replace(Same.find("12 "), 2, "1234");
  EXPECT_EQ(Out, framed(Same));
}

TEST(DapPeek, NotAMessage) {
  for (StringRef Body :
       {"", "[]", "7", "{", "{}", R"({"type":"event")", R"({"type":"event"}})",
        R"({"type":"event",})", R"({"type")", R"({"type":"eve)", R"({"a":"\)",
        R"({"seq":1})", R"({"type":"event","a":[1,{})"})
    EXPECT_FALSE(MessagePeek::at(Body)) << Body.str();
}

TEST(DapPeek, Escapes) {
  std::optional<MessagePeek> P =
      MessagePeek::at(R"({"type":"event","event":"o","body":"\"}\\"})");
  ASSERT_TRUE(P);
  EXPECT_EQ(P->Event, "o");
}
