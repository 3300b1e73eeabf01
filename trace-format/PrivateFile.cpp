// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/PrivateFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace chronicle {

Error replaceFile(StringRef Path, unsigned Mode,
                  function_ref<void(raw_ostream &)> Write) {
  auto Failed = [&](std::error_code Code) {
    return createStringError(Code,
                             "cannot write " + Path + ": " + Code.message());
  };
  SmallString<128> File;
  // A file that does not exist yet has no real path.
  if (sys::fs::real_path(Path, File))
    File = Path;
  sys::fs::file_status Old;
  if (!sys::fs::status(File, Old) && sys::fs::exists(Old))
    Mode = Old.permissions();
  Expected<sys::fs::TempFile> New =
      sys::fs::TempFile::create(File + ".new-%%%%%%%%", PrivateMode);
  if (!New)
    return Failed(errorToErrorCode(New.takeError()));
  std::error_code Code;
  {
    raw_fd_ostream Out(New->FD, /*shouldClose=*/false);
    Write(Out);
    Out.flush();
    Code = Out.error();
    Out.clear_error();
  }
  if (!Code)
    Code = sys::fs::setPermissions(New->FD, sys::fs::perms(Mode));
  if (Code) {
    consumeError(New->discard());
    return Failed(Code);
  }
  if (Error E = New->keep(File))
    return Failed(errorToErrorCode(std::move(E)));
  return Error::success();
}

} // namespace chronicle
