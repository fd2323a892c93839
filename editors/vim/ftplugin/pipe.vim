" SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1
setlocal commentstring=//\ %s comments=:// shiftwidth=2 softtabstop=2 expandtab
let b:undo_ftplugin = 'setlocal commentstring< comments< shiftwidth< softtabstop< expandtab<'
