/** The shells with a completion script. */
export type Shell = keyof typeof completionScripts;

/** bash 3.2 and newer. It splits `--flag=value` at the sign, and leaves quotes and backslashes in its words. */
const bash = String.raw`# bash completion for al. For this shell: source <(al completion bash)

_al() {
  local line path kind current=${"$"}{COMP_WORDS[COMP_CWORD]}
  local -a words=("${"$"}{COMP_WORDS[@]:1:COMP_CWORD-1}")
  [[ $current == '=' ]] && current=''
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      @files | @directories)
        kind=-f
        [[ $line == @directories ]] && kind=-d
        compopt -o filenames 2>/dev/null
        while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen "$kind" -- "$current")
        ;;
      "$current"*) COMPREPLY+=("${"$"}{line%%$'\t'*}") ;;
    esac
  done < <(al _complete -- "${"$"}{words[@]//[\\\"\']/}" "$current" 2>/dev/null)
}
complete -F _al al
`;

/** To be read by `source`, or saved as `_al` in a folder of `$fpath`. */
const zsh = String.raw`#compdef al
# zsh completion for al. For this shell: source <(al completion zsh)

_al() {
  local -a lines
  lines=(${"$"}{(f)"$(al _complete -- "${"$"}{(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)"})
  case $lines[1] in
    @directories) compset -P '--*='; _files -/ ;;
    @files) compset -P '--*='; _files ;;
    ?*)
      lines=("${"$"}{(@)lines//:/\\:}")
      lines=("${"$"}{(@)lines/$'\t'/:}")
      _describe -t values value lines
      ;;
  esac
}

if [[ ${"$"}{funcstack[1]} == _al ]]; then
  _al "$@"
else
  compdef _al al
fi
`;

/** fish 3 and newer. */
const fish = String.raw`# fish completion for al. For this shell: al completion fish | source

function __al_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l before (string match -r -- '^--[^=]*=' $current)
    set -l value (string replace -r -- '^--[^=]*=' '' $current)
    for line in (al _complete -- $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case @directories
                for found in (__fish_complete_directories "$value" '')
                    echo "$before$found"
                end
            case @files
                for found in (__fish_complete_path "$value")
                    echo "$before$found"
                end
            case '*'
                echo $line
        end
    end
end

complete -c al -e
complete -c al -f -a '(__al_complete)'
`;

/**
 * The script of each shell. It asks `al _complete` for the words at the cursor, which takes some 50 ms, so that
 * commands, options, names and ids are always those of the installed program and its project.
 */
export const completionScripts = { bash, zsh, fish };
