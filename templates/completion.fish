# Completion of pipec for fish, as `pipec completion fish` prints it.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

function __pipec_candidates
    set -l words (commandline -opc)
    set -l current (commandline -ct | string replace -r '^[\'"]' '' | string replace -a \\ '')
    set -l program (string replace -r '^~' $HOME -- $words[1])
    for line in ($program completion --candidates -- $words[2..-1] "$current" 2>/dev/null)
        if string match -q \t'*' -- $line
            set -l prefix (string sub -s 2 -- $line)
            set -l typed (string sub -s (math (string length -- "$prefix") + 1) -- "$current")
            for file in (__fish_complete_path "$typed")
                echo -- $prefix$file
            end
        else
            echo -- $line
        end
    end
end

complete -c pipec -f -a '(__pipec_candidates)'
