# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The orders of the schedule library, written down a second time.

`rules` says for every schedule of the library which step each rank runs when;
it shares no idea with the programs in schedules/ beyond the papers. `model`
judges any order: is it complete, can it run, how long does it take, what does
it keep alive. `forms` holds the closed forms the papers promise.
"""
