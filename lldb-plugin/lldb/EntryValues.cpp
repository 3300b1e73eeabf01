// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/lldb/EntryValues.h"
#include "lldb-plugin/lldb/PrivateLldb.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/DebugInfo/DWARF/LowLevel/DWARFExpression.h"
#include <map>
#include <mutex>

using namespace lldb;
using namespace lldb_private;
using llvm::APInt;
using llvm::append_range;
using llvm::APSInt;
using llvm::ArrayRef;

namespace chronicle::internals {
namespace {

/// Neither DWARF nor a compiler uses this number.
constexpr uint8_t EntryOperation = 0xea;

/// Stands for a compile unit and evaluates our operation. Everything else is
/// left to the unit.
class EntryUnit : public lldb_private::DWARFExpression::Delegate {
public:
  explicit EntryUnit(const Delegate &Unit) : Unit(Unit) {}

  uint16_t GetVersion() const override { return Unit.GetVersion(); }
  dw_addr_t GetBaseAddress() const override { return Unit.GetBaseAddress(); }
  uint8_t GetAddressByteSize() const override {
    return Unit.GetAddressByteSize();
  }
  llvm::Expected<std::pair<uint64_t, bool>>
  GetDIEBitSizeAndSign(uint64_t Offset) const override {
    return Unit.GetDIEBitSizeAndSign(Offset);
  }
  dw_addr_t ReadAddressFromDebugAddrSection(uint32_t Index) const override {
    return Unit.ReadAddressFromDebugAddrSection(Index);
  }
  offset_t GetVendorDWARFOpcodeSize(const DataExtractor &Data, offset_t Offset,
                                    uint8_t Operation) const override {
    return Operation == EntryOperation
               ? 1
               : Unit.GetVendorDWARFOpcodeSize(Data, Offset, Operation);
  }
  bool ParseVendorDWARFOpcode(
      uint8_t Operation, const DataExtractor &Operations, offset_t &Offset,
      RegisterContext *Registers, RegisterKind Kind,
      lldb_private::DWARFExpression::Stack &Stack) const override {
    if (Operation != EntryOperation)
      return Unit.ParseVendorDWARFOpcode(Operation, Operations, Offset,
                                         Registers, Kind, Stack);
    const unsigned Number = Operations.GetDataStart()[Offset++];
    if (!Registers || Stack.size() < 2)
      return true;
    if (std::optional<APInt> Value = registerAtEntry(*Registers, Number)) {
      integerOf(Stack[Stack.size() - 2].GetScalar()) =
          APSInt(std::move(*Value), /*isUnsigned=*/true);
      integerOf(Stack.back().GetScalar()) = APSInt::getUnsigned(1);
    }
    return true;
  }

private:
  const Delegate &Unit;
};

/// What was prepared. Locations live as long as their modules and use it to
/// the end, so it is never destroyed.
struct Prepared {
  std::mutex Lock;
  /// The module tells whether it still is that function.
  std::map<const Function *, ModuleWP> Functions;
  std::map<const lldb_private::DWARFExpression::Delegate *,
           std::unique_ptr<EntryUnit>>
      Units;
  std::vector<std::unique_ptr<std::vector<uint8_t>>> Locations;
};
Prepared &prepared() {
  static auto *All = new Prepared();
  return *All;
}

void prepareLocations(Variable &V, Prepared &All) {
  DWARFExpressionList &List = V.LocationExpressionList();
  const lldb_private::DWARFExpression::Delegate *Unit = unitOf(List);
  if (!Unit || V.GetLocationIsConstantValueData())
    return;
  forEachLocation(List, [&](DataExtractor &Data) {
    std::optional<std::vector<uint8_t>> New = withEntryValues(
        ArrayRef(Data.GetDataStart(), size_t(Data.GetByteSize())));
    if (!New)
      return;
    std::unique_ptr<EntryUnit> &Ours = All.Units[Unit];
    if (!Ours)
      Ours = std::make_unique<EntryUnit>(*Unit);
    All.Locations.push_back(
        std::make_unique<std::vector<uint8_t>>(std::move(*New)));
    // The unit first: it can evaluate the old location too.
    unitOf(List) = Ours.get();
    setData(Data, *All.Locations.back());
  });
}

void prepareBlock(Block &B, Prepared &All) {
  if (const VariableListSP &Variables = variablesOf(B))
    for (const VariableSP &V : *Variables)
      prepareLocations(*V, All);
  for (const BlockSP &Child : childrenOf(B))
    prepareBlock(*Child, All);
}

/// The register that an operand of DW_OP_entry_value names; nothing: it is
/// something else.
std::optional<uint8_t> registerIn(ArrayRef<uint8_t> Operand) {
  namespace dwarf = llvm::dwarf;
  llvm::DWARFExpression Expression(
      llvm::DataExtractor(Operand, /*IsLittleEndian=*/true, 8), 8);
  auto It = Expression.begin();
  if (It == Expression.end() || It->isError() ||
      It->getEndOffset() != Operand.size())
    return std::nullopt;
  if (It->getCode() >= dwarf::DW_OP_reg0 && It->getCode() <= dwarf::DW_OP_reg31)
    return uint8_t(It->getCode() - dwarf::DW_OP_reg0);
  // Compilers use these for floating-point registers.
  if (It->getCode() == dwarf::DW_OP_regx ||
      It->getCode() == dwarf::DW_OP_regval_type)
    if (It->getRawOperand(0) < 0x80)
      return uint8_t(It->getRawOperand(0));
  return std::nullopt;
}

} // namespace

std::optional<std::vector<uint8_t>>
withEntryValues(ArrayRef<uint8_t> Location) {
  namespace dwarf = llvm::dwarf;
  std::vector<uint8_t> Result;
  size_t Copied = 0, Start = 0;
  llvm::DWARFExpression Expression(
      llvm::DataExtractor(Location, /*IsLittleEndian=*/true, 8), 8);
  for (auto It = Expression.begin(); It != Expression.end();) {
    if (It->isError())
      return std::nullopt;
    const size_t End = It->getEndOffset();
    // Jumps would end elsewhere.
    if (It->getCode() == dwarf::DW_OP_bra || It->getCode() == dwarf::DW_OP_skip)
      return std::nullopt;
    if (It->getCode() != dwarf::DW_OP_entry_value &&
        It->getCode() != dwarf::DW_OP_GNU_entry_value) {
      Start = End;
      ++It;
      continue;
    }
    const uint64_t Length = It->getRawOperand(0);
    if (Length > Location.size() - End)
      return std::nullopt;
    if (std::optional<uint8_t> Register =
            registerIn(Location.slice(End, Length))) {
      ArrayRef<uint8_t> Old = Location.slice(Start, End + Length - Start);
      append_range(Result, Location.slice(Copied, Start - Copied));
      const uint16_t Skipped = uint16_t(1 + Old.size());
      append_range(Result, std::initializer_list<uint8_t>{
                               dwarf::DW_OP_const8u, 0, 0, 0, 0, 0, 0, 0, 0,
                               dwarf::DW_OP_lit0, EntryOperation, *Register,
                               dwarf::DW_OP_bra, uint8_t(Skipped),
                               uint8_t(Skipped >> 8), dwarf::DW_OP_drop});
      append_range(Result, Old);
      Copied = End + Length;
    }
    Start = End + Length;
    It = It.skipBytes(Length);
  }
  if (!Copied)
    return std::nullopt;
  append_range(Result, Location.drop_front(Copied));
  return Result;
}

/// Prepares the function unless it is prepared already. Parse makes LLDB read
/// its variables.
static void prepare(Function &F, llvm::function_ref<void()> Parse) {
  Prepared &All = prepared();
  ModuleSP Module = F.CalculateSymbolContextModule();
  {
    std::lock_guard<std::mutex> Guard(All.Lock);
    auto Known = All.Functions.find(&F);
    if (Known != All.Functions.end() && Known->second.lock() == Module)
      return;
  }
  Parse();
  std::lock_guard<std::mutex> Guard(All.Lock);
  All.Functions[&F] = Module;
  prepareBlock(blockOf(F), All);
}

void useEntryValues(StackFrame &Frame) {
  if (Function *F = Frame.GetSymbolContext(eSymbolContextFunction).function)
    prepare(*F, [&] {
      Frame.GetVariableList(/*get_file_globals=*/false, /*error_ptr=*/nullptr);
    });
}

} // namespace chronicle::internals
