# Writes a source with the version and the commit of a source tree, if it changes:
#   cmake -DVERSION=1.2.3 -DSOURCE=TREE -DOUTPUT=out.cpp -P Version.cmake
# The commit is that of the archive of git from which the tree was unpacked, else that
# of the repository whose work tree it is.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set(version ${VERSION})
set(commit "commit unknown")
file(STRINGS ${SOURCE}/cmake/commit.txt archived LIMIT_COUNT 1)
if(archived MATCHES "^[0-9a-f]+$")
  string(SUBSTRING ${archived} 0 12 found)
  set(commit "commit ${found}")
elseif(EXISTS ${SOURCE}/.git)
  # In a hook, git sets variables that name another repository.
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env --unset=GIT_DIR --unset=GIT_WORK_TREE --unset=GIT_INDEX_FILE
      GIT_OPTIONAL_LOCKS=0 git -C ${SOURCE} describe --always --exclude=* --abbrev=12 "--dirty=, with changes"
    OUTPUT_VARIABLE found RESULT_VARIABLE status ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(status EQUAL 0)
    set(commit "commit ${found}")
  endif()
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/Version.cpp.in ${OUTPUT} @ONLY)
