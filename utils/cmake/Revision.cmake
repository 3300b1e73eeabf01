# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Writes the header HEADER, which defines CHRONICLE_REVISION: the commit of the
# sources in SOURCE, with "-dirty" if they were changed since. Every build runs
# this; the header is only touched when the revision is another one.

# In an archive that git makes (.gitattributes), this is the commit.
set(REVISION "$Format:%h$")
if(REVISION MATCHES "Format")
  set(REVISION "")
endif()
if(EXISTS ${SOURCE}/.git)
  execute_process(
    COMMAND git describe --always --dirty --abbrev=12 --match ""
    WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE FAILED OUTPUT_VARIABLE DESCRIBED
    ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT FAILED)
    set(REVISION ${DESCRIBED})
  endif()
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT [[
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define CHRONICLE_REVISION "@REVISION@"
]] @ONLY)
