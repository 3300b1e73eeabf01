// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/Options.h"
#include "query/base/UnknownName.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace llvm;

namespace chronicle::cli {

namespace {
using ChoiceMap = DenseMap<const cl::Option *, cl::generic_parser_base *>;
} // namespace

// Options are static objects, which may be constructed before those of this
// file.
static ChoiceMap &choices() {
  static ChoiceMap Map;
  return Map;
}

static DenseMap<const cl::Option *, StringRef> &letters() {
  static DenseMap<const cl::Option *, StringRef> Map;
  return Map;
}

void rememberChoices(const cl::Option &O, cl::generic_parser_base &Parser) {
  choices()[&O] = &Parser;
}

ShortName::ShortName(StringRef Letter, cl::Option &For)
    : cl::alias(Letter, cl::aliasopt(For),
                For.getValueExpectedFlag() == cl::ValueRequired
                    ? cl::Prefix
                    : cl::NormalFormatting) {
  letters()[&For] = Letter;
}

/// Whether the option is one of Chronicle's. LLVM adds its own to every
/// subcommand, in another category.
static bool isOurs(const cl::Option &O) {
  return is_contained(O.Categories, &cl::getGeneralCategory());
}

static manual::OptionText textOf(const cl::Option &O) {
  manual::OptionText Text;
  Text.Letter = letters().lookup(&O);
  (O.ArgStr.size() == 1 ? Text.Letter : Text.Name) = O.ArgStr;
  if (O.getValueExpectedFlag() == cl::ValueRequired)
    Text.Value = O.ValueStr.empty() ? "VALUE" : O.ValueStr;
  Text.Meaning = O.HelpStr;
  Text.Repeats = O.getNumOccurrencesFlag() == cl::ZeroOrMore;
  if (cl::generic_parser_base *Parser = choices().lookup(&O))
    for (unsigned I = 0; I < Parser->getNumOptions(); ++I)
      Text.Choices.push_back({Parser->getOption(I), Parser->getDescription(I)});
  return Text;
}

std::vector<manual::OptionText> commonOptions() {
  manual::OptionText Help;
  Help.Letter = "h";
  Help.Name = "help";
  Help.Meaning = "Print this help";
  return {textOf(Command::find("help")->color()), Help};
}

std::vector<manual::OptionText> optionsOf(Command &C) {
  std::vector<manual::OptionText> Options;
  for (auto &[Name, Option] : cl::getRegisteredOptions(C))
    if (isOurs(*Option) && Option != &C.color() &&
        Option->getOptionHiddenFlag() == cl::NotHidden)
      Options.push_back(textOf(*Option));
  auto SortKey = [](const manual::OptionText &O) {
    return O.Name.empty() ? O.Letter : O.Name;
  };
  llvm::sort(Options, [&](const auto &A, const auto &B) {
    return SortKey(A) < SortKey(B);
  });
  llvm::append_range(Options, commonOptions());
  return Options;
}

namespace {
/// An argument that is an option.
struct Given {
  cl::Option *Option = nullptr;   ///< null if there is no such option
  StringRef Name;                 ///< with its dashes
  std::optional<StringRef> Value; ///< given in the same argument
};
} // namespace

static Given parseOption(Command &C, StringRef Arg) {
  auto &Options = cl::getRegisteredOptions(C);
  auto Find = [&](StringRef Name) -> cl::Option * {
    cl::Option *O = Options.lookup(Name);
    return O && isOurs(*O) ? O : nullptr;
  };
  auto [Name, Value] = Arg.split('=');
  Given G{Find(Name.ltrim('-')), Name, std::nullopt};
  if (Arg.contains('='))
    G.Value = Value;
  if (!G.Option && !Arg.starts_with("--")) { // -j4
    cl::Option *O = Find(Arg.substr(1, 1));
    if (O && O->getFormattingFlag() == cl::Prefix)
      return {O, Arg.take_front(2), Arg.drop_front(2)};
  }
  return G;
}

static bool isOption(StringRef Arg) { return Arg.size() >= 2 && Arg[0] == '-'; }

size_t findOperand(Command &C, ArrayRef<const char *> Args) {
  for (size_t I = 0; I < Args.size(); ++I) {
    StringRef Arg = Args[I];
    if (Arg == "--")
      return I + 1;
    if (!isOption(Arg))
      return I;
    Given G = parseOption(C, Arg);
    if (G.Option && !G.Value &&
        G.Option->getValueExpectedFlag() == cl::ValueRequired)
      ++I;
  }
  return Args.size();
}

static std::string unknownOption(Command &C, StringRef Name) {
  std::vector<std::string> Spellings;
  for (const manual::OptionText &O : optionsOf(C))
    llvm::append_range(Spellings, O.spellings());
  return base::unknownName(
      "option", Name,
      std::vector<StringRef>(Spellings.begin(), Spellings.end()));
}

/// The error in a value that must be one of a few names, or an empty string.
static std::string wrongChoice(const Given &G, StringRef Value) {
  cl::generic_parser_base *Parser = choices().lookup(G.Option);
  if (!Parser || Parser->findOption(Value) < Parser->getNumOptions())
    return "";
  std::string Text =
      ("invalid " + G.Name + " '" + Value + "': expected ").str();
  for (unsigned I = 0; I < Parser->getNumOptions(); ++I) {
    if (I)
      Text += I + 1 == Parser->getNumOptions() ? " or " : ", ";
    Text += Parser->getOption(I);
  }
  return Text;
}

std::string wrongOption(Command &C, ArrayRef<const char *> Args) {
  SmallPtrSet<cl::Option *, 8> Seen;
  for (size_t I = 0; I < Args.size(); ++I) {
    StringRef Arg = Args[I];
    if (Arg == "--")
      break;
    if (!isOption(Arg))
      continue;
    Given G = parseOption(C, Arg);
    if (!G.Option)
      return unknownOption(C, G.Name);
    if (!Seen.insert(G.Option).second &&
        G.Option->getNumOccurrencesFlag() == cl::Optional)
      return ("option '" + G.Name + "' is given twice").str();
    if (G.Option->getValueExpectedFlag() != cl::ValueRequired)
      continue;
    if (!G.Value) {
      if (++I == Args.size())
        return ("option '" + G.Name + "' needs a value").str();
      G.Value = Args[I];
    }
    if (std::string Wrong = wrongChoice(G, *G.Value); !Wrong.empty())
      return Wrong;
  }
  return "";
}

} // namespace chronicle::cli
