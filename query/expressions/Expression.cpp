// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/expressions/Expression.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::expressions {

namespace {
/// An operator between two operands. A higher level binds tighter.
struct Binary {
  StringRef Text;
  Operation What;
  unsigned Level;
};
} // namespace

/// The longest of those that begin alike comes first.
static const Binary Binaries[] = {
    {"||", Operation::Or, 1},           {"&&", Operation::And, 2},
    {"|", Operation::BitOr, 3},         {"^", Operation::BitXor, 4},
    {"&", Operation::BitAnd, 5},        {"==", Operation::Equal, 6},
    {"!=", Operation::NotEqual, 6},     {"<<", Operation::ShiftLeft, 8},
    {">>", Operation::ShiftRight, 8},   {"<=", Operation::LessEqual, 7},
    {">=", Operation::GreaterEqual, 7}, {"<", Operation::Less, 7},
    {">", Operation::Greater, 7},       {"+", Operation::Add, 9},
    {"-", Operation::Subtract, 9},      {"*", Operation::Multiply, 10},
    {"/", Operation::Divide, 10},       {"%", Operation::Remainder, 10},
};

static bool isNameStart(char C) { return isAlpha(C) || C == '_'; }
static bool isNamePart(char C) { return isAlnum(C) || C == '_'; }

namespace {
class Parser {
public:
  explicit Parser(StringRef Text) : All(Text), Rest(Text) {}

  Expected<Expression> whole() {
    Expected<Expression> Result = conditional();
    if (!Result)
      return Result;
    skip();
    if (!Rest.empty())
      return fail();
    return Result;
  }

private:
  /// A deeper expression is not written by people.
  static constexpr unsigned Deepest = 100;

  Error fail() {
    skip();
    return createStringError(
        Rest.empty()
            ? formatv("'{0}' ends where an operand is expected", All).str()
            : formatv("unexpected '{0}' in '{1}'", Rest.take_front(12), All)
                  .str());
  }
  void skip() { Rest = Rest.ltrim(); }
  bool take(StringRef Token) {
    skip();
    return Rest.consume_front(Token);
  }

  static Expression make(Operation What, Expression A) {
    Expression Result;
    Result.What = What;
    Result.Operands.push_back(std::move(A));
    return Result;
  }
  static Expression make(Operation What, Expression A, Expression B) {
    Expression Result = make(What, std::move(A));
    Result.Operands.push_back(std::move(B));
    return Result;
  }

  Expected<Expression> conditional() {
    if (++Depth > Deepest)
      return fail();
    Expected<Expression> Condition = binary(1);
    if (!Condition || !take("?")) {
      --Depth;
      return Condition;
    }
    Expected<Expression> Then = conditional();
    if (!Then)
      return Then;
    if (!take(":"))
      return fail();
    Expected<Expression> Else = conditional();
    if (!Else)
      return Else;
    --Depth;
    Expression Result =
        make(Operation::Conditional, std::move(*Condition), std::move(*Then));
    Result.Operands.push_back(std::move(*Else));
    return Result;
  }

  /// The operator that comes next; null: none does.
  const Binary *next() {
    skip();
    for (const Binary &B : Binaries) {
      if (!Rest.starts_with(B.Text))
        continue;
      // An assignment, ++ or -- is none.
      StringRef After = Rest.drop_front(B.Text.size());
      const bool Compares =
          B.Level == 6 || (B.Level == 7 && B.Text.size() == 2);
      if (!Compares && After.starts_with("="))
        return nullptr;
      if ((B.Text == "+" || B.Text == "-") && After.starts_with(B.Text))
        return nullptr;
      return &B;
    }
    return nullptr;
  }

  Expected<Expression> binary(unsigned Level) {
    Expected<Expression> Left = unary();
    if (!Left)
      return Left;
    while (const Binary *B = next()) {
      if (B->Level < Level)
        break;
      Rest = Rest.drop_front(B->Text.size());
      Expected<Expression> Right = binary(B->Level + 1);
      if (!Right)
        return Right;
      Left = make(B->What, std::move(*Left), std::move(*Right));
    }
    return Left;
  }

  Expected<Expression> unary() {
    if (++Depth > Deepest)
      return fail();
    skip();
    static constexpr std::pair<StringRef, Operation> Prefixes[] = {
        {"*", Operation::Dereference}, {"&", Operation::AddressOf},
        {"+", Operation::Plus},        {"-", Operation::Negate},
        {"!", Operation::Not},         {"~", Operation::Complement}};
    for (auto [Text, What] : Prefixes) {
      if (!Rest.starts_with(Text))
        continue;
      // "++a", "--a" and "&&label" are something else.
      if (StringRef("+-&").contains(Text) &&
          Rest.drop_front().starts_with(Text))
        return fail();
      Rest = Rest.drop_front();
      Expected<Expression> Operand = unary();
      --Depth;
      if (!Operand)
        return Operand;
      return make(What, std::move(*Operand));
    }
    Expected<Expression> Result = postfix();
    --Depth;
    return Result;
  }

  Expected<Expression> postfix() {
    Expected<Expression> Result = primary();
    while (Result) {
      skip();
      if (take("[")) {
        Expected<Expression> Index = conditional();
        if (!Index)
          return Index;
        if (!take("]"))
          return fail();
        Result = make(Operation::Index, std::move(*Result), std::move(*Index));
        continue;
      }
      const bool Arrow = Rest.starts_with("->");
      if (!Arrow && !Rest.starts_with("."))
        break;
      Rest = Rest.drop_front(Arrow ? 2 : 1).ltrim();
      StringRef Name = name();
      if (Name.empty())
        return fail();
      Result = make(Arrow ? Operation::Arrow : Operation::Member,
                    std::move(*Result));
      Result->Text = Name.str();
    }
    return Result;
  }

  StringRef name() {
    if (Rest.empty() || !isNameStart(Rest.front()))
      return {};
    StringRef Name = Rest.take_while(isNamePart);
    Rest = Rest.drop_front(Name.size());
    return Name;
  }

  Expected<Expression> primary() {
    skip();
    if (take("(")) {
      Expected<Expression> Inner = conditional();
      if (!Inner)
        return Inner;
      if (!take(")"))
        return fail();
      return Inner;
    }
    if (!Rest.empty() && isDigit(Rest.front()))
      return number();
    if (Rest.starts_with("'"))
      return character();
    Expression Result;
    if (Rest.consume_front("$")) {
      Result.What = Operation::Register;
      Result.Text = name().str();
    } else {
      Result.What = Operation::Name;
      Result.Text = name().str();
      static constexpr StringRef Keywords[] = {
          "sizeof",   "alignof", "_Alignof", "nullptr", "new",    "delete",
          "char",     "short",   "int",      "long",    "signed", "unsigned",
          "float",    "double",  "bool",     "_Bool",   "void",   "const",
          "volatile", "struct",  "union",    "enum",    "class"};
      if (is_contained(Keywords, Result.Text))
        return createStringError(
            formatv("'{0}' is not part of a simple expression", Result.Text));
      if (Result.Text == "true" || Result.Text == "false") {
        Result.Value = Result.Text == "true";
        Result.What = Operation::Number;
        Result.Size = 1; // a bool
      }
    }
    if (Result.Text.empty())
      return fail();
    // A call, a template or a qualified name.
    skip();
    if (Rest.starts_with("(") || Rest.starts_with("::"))
      return fail();
    return Result;
  }

  /// "1.5", "1e9", "2.f". Nothing: it is no such number.
  std::optional<Expression> floating() {
    StringRef Text = Rest.take_while([](char C) { return isDigit(C); });
    const size_t Whole = Text.size();
    auto digits = [&](size_t From) {
      return Rest.drop_front(From).take_while(isDigit).size();
    };
    size_t End = Whole;
    if (Rest.drop_front(End).starts_with("."))
      End += 1 + digits(End + 1);
    StringRef After = Rest.drop_front(End);
    if (After.starts_with_insensitive("e")) {
      const size_t Sign =
          After.size() > 1 && StringRef("+-").contains(After[1]);
      const size_t Digits = digits(End + 1 + Sign);
      if (!Digits)
        return std::nullopt;
      End += 1 + Sign + Digits;
    }
    double Number;
    if (End == Whole || Rest.take_front(End).getAsDouble(Number))
      return std::nullopt;
    Expression Result;
    Result.What = Operation::Floating;
    const bool Short = Rest.drop_front(End).starts_with_insensitive("f");
    End += Short;
    Result.Size = Short ? 4 : 8;
    Result.Value = Short ? uint64_t(bit_cast<uint32_t>(float(Number)))
                         : bit_cast<uint64_t>(Number);
    Rest = Rest.drop_front(End);
    return Result;
  }

  /// As C chooses its type: the first one that has the value.
  Expected<Expression> number() {
    if (std::optional<Expression> Floating = floating())
      return *Floating;
    StringRef Digits = Rest.take_while(isAlnum);
    const StringRef Suffix = Digits.substr(Digits.find_last_not_of("uUlL") + 1);
    StringRef Number = Digits.drop_back(Suffix.size());
    Expression Result;
    const bool Decimal = Number == "0" || !Number.starts_with("0");
    unsigned Radix = Decimal ? 10 : 8;
    if (Number.consume_front("0x") || Number.consume_front("0X"))
      Radix = 16;
    else if (Number.consume_front("0b") || Number.consume_front("0B"))
      Radix = 2;
    const std::string Lower = Suffix.lower();
    static constexpr StringRef Suffixes[] = {"",   "u",   "l",  "ll",
                                             "ul", "ull", "lu", "llu"};
    if (Number.getAsInteger(Radix, Result.Value) ||
        !is_contained(Suffixes, Lower))
      return fail();
    Rest = Rest.drop_front(Digits.size());
    const bool Long = StringRef(Lower).contains('l');
    Result.Unsigned = StringRef(Lower).contains('u');
    const uint64_t V = Result.Value;
    if (!Long && !Result.Unsigned && V <= INT32_MAX)
      Result.Size = 4;
    else if (!Long && (Result.Unsigned || !Decimal) && V <= UINT32_MAX) {
      Result.Size = 4;
      Result.Unsigned = true;
    } else {
      Result.Size = 8;
      Result.Unsigned |= V > INT64_MAX;
    }
    return Result;
  }

  Expected<Expression> character() {
    StringRef Inner = Rest.drop_front();
    uint8_t Value;
    size_t Length = 1;
    if (Inner.starts_with("\\")) {
      static constexpr std::pair<char, char> Escapes[] = {
          {'n', '\n'}, {'t', '\t'},  {'r', '\r'},  {'0', '\0'},
          {'a', '\a'}, {'b', '\b'},  {'f', '\f'},  {'v', '\v'},
          {'e', 27},   {'\\', '\\'}, {'\'', '\''}, {'"', '"'}};
      const auto *It = find_if(Escapes, [&](auto E) {
        return Inner.size() > 1 && Inner[1] == E.first;
      });
      if (It == std::end(Escapes))
        return fail();
      Value = uint8_t(It->second);
      Length = 2;
    } else {
      if (Inner.empty() || Inner.front() == '\'' || !isASCII(Inner.front()))
        return fail();
      Value = uint8_t(Inner.front());
    }
    if (!Inner.drop_front(Length).starts_with("'"))
      return fail();
    Rest = Inner.drop_front(Length + 1);
    Expression Result;
    Result.Value = Value;
    return Result;
  }

  StringRef All, Rest;
  unsigned Depth = 0;
};
} // namespace

Expected<Expression> Expression::parse(StringRef Text) {
  return Parser(Text.trim()).whole();
}

Expected<std::vector<std::string>> splitList(StringRef Text) {
  std::vector<std::string> Result;
  size_t Start = 0, Depth = 0;
  char Quote = 0;
  auto add = [&](size_t End) -> Error {
    StringRef Part = Text.slice(Start, End).trim();
    if (Part.empty())
      return createStringError(
          formatv("empty expression in the list '{0}'", Text));
    Result.push_back(Part.str());
    Start = End + 1;
    return Error::success();
  };
  for (size_t I = 0; I < Text.size(); ++I) {
    const char C = Text[I];
    if (Quote) {
      I += C == '\\';
      if (C == Quote)
        Quote = 0;
      continue;
    }
    if (C == '\'' || C == '"')
      Quote = C;
    else if (StringRef("([{").contains(C))
      ++Depth;
    else if (StringRef(")]}").contains(C))
      Depth -= Depth > 0;
    else if (C == ',' && !Depth)
      if (Error E = add(I))
        return E;
  }
  if (Error E = add(Text.size()))
    return E;
  return Result;
}

} // namespace chronicle::expressions
