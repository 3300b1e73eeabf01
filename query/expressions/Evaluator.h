// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Evaluates simple expressions at many moments, without a debugger.

#ifndef CHRONICLE_QUERY_EXPRESSIONS_EVALUATOR_H
#define CHRONICLE_QUERY_EXPRESSIONS_EVALUATOR_H

#include "query/expressions/TypedExpression.h"
#include <map>

namespace chronicle::expressions {

/// A thread at an instruction that it runs next.
struct CodeMoment {
  Timestamp Time = 0;
  uint32_t Thread = 0;
  uint64_t Pc = 0;
  /// How many functions that were inlined at Pc are not meant: 0, names are
  /// those of the innermost one.
  unsigned Inside = 0;
};

/// What an expression is at a moment.
struct Outcome {
  enum class Kind {
    Value,
    NoValue,   ///< Why says why there is none
    NotSimple, ///< a debugger may know; Why says what is missing here
  };
  Kind What = Kind::NotSimple;
  Value Result;
  std::string Why;
};

/// Text that is to be evaluated at many moments. Keeps what it means at each
/// instruction.
class Question {
public:
  explicit Question(llvm::StringRef Text);
  const std::string &text() const { return Text; }

private:
  friend class Evaluator;
  std::string Text;
  std::optional<Expression> Parsed;
  std::string WhyNot; ///< it is not simple
  struct Meaning {
    std::optional<TypedExpression> Typed;
    Outcome Otherwise;
  };
  std::map<std::tuple<const state::ModuleLoad *, uint64_t, unsigned>, Meaning>
      Known;
};

/// Evaluates questions. The first one for an instruction reads debug info; each
/// costs microseconds from then on, if the moments come in order of time. For
/// one thread at a time.
class Evaluator {
public:
  explicit Evaluator(const query::Trace &T) : T(T), State(T) {}

  llvm::Expected<Outcome> evaluate(Question &Q, const CodeMoment &At);
  /// At the moment of the last question.
  StateReader &state() { return State; }
  /// Where a breakpoint on the function stops: after its prologue, if it is
  /// needed to set up the parameters. Otherwise its first instruction, where
  /// optimized code has all of them.
  uint64_t startOf(uint64_t Function, Timestamp At);

private:
  DebugInfo *infoOf(const state::ModuleLoad &Module);
  Question::Meaning meaning(const Question &Q, const state::ModuleLoad *Module,
                            const CodeMoment &At);

  const query::Trace &T;
  StateReader State;
  std::map<const symbols::SymbolFile *, std::unique_ptr<DebugInfo>> Infos;
  std::map<std::pair<const state::ModuleLoad *, uint64_t>, uint64_t> Starts;
  TypeTable Types; ///< for code without debug info
};

} // namespace chronicle::expressions

#endif
