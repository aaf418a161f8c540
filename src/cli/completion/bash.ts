import type { Place } from "./places.ts";
import { quoted, shellTables } from "./shell-tables.ts";

/** The completion script for bash 3.2 and newer; it needs nothing but bash. */
export function bashCompletion(places: readonly Place[]): string {
  const tables = shellTables(places, (items) => {
    return `REPLY=${quoted(items.map(({ word }) => word).join(" "))}`;
  });
  return `# bash completion for al. For this shell: source <(al completion bash)\n\n${tables}\n\n${walker}`;
}

/**
 * Goes along the words before the cursor to see where it stands. bash splits `--flag=value` at the sign, and leaves
 * quotes and backslashes in its words. `compgen -W` expands what it is given: only plain names of agents reach it.
 */
const walker = String.raw`__al_agents() {
  local LC_ALL=C entry name
  for entry in "$1"/agents/*/config.toml; do
    name=${"$"}{entry%/config.toml}
    name=${"$"}{name##*/}
    [[ $name =~ ^[a-z0-9][a-z0-9-]*$ ]] && printf '%s\n' "$name"
  done
}

__al_propose() {
  local proposal=$1 current=$2 project=$3 line
  case $proposal in
    @agents) proposal="= $(__al_agents "$project")" ;;
    @directories | @files)
      local what=-f
      [[ $proposal == @directories ]] && what=-d
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$what" -- "$current")
      ;;
  esac
  [[ $proposal == '= '* ]] || return
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -W "${"$"}{proposal#= }" -- "$current")
}

_al() {
  local REPLY='' here=al project=. flag='' count=0 ended='' word index own
  local IFS=$' \t\n' current=${"$"}{COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=${"$"}{COMP_WORDS[index]}
    if [[ -n $flag ]]; then
      [[ $word == '=' ]] && continue
      if [[ $flag == -p || $flag == --project ]]; then
        word=${"$"}{word//[\\\"\']/}
        [[ $word == '~'* ]] && word=$HOME${"$"}{word#'~'}
        project=$word
      fi
      flag=''
    elif [[ -n $ended ]]; then
      count=$((count + 1))
    elif [[ $word == -- ]]; then
      ended=1
    elif [[ $word == -* ]]; then
      __al_value "$here" "$word" && flag=$word
    elif [[ $count == 0 ]] && __al_commands "$here" && [[ " $REPLY " == *" $word "* ]]; then
      here="$here $word"
    else
      count=$((count + 1))
    fi
  done
  if [[ -n $flag ]]; then
    [[ $current == '=' ]] && current=''
    __al_value "$here" "$flag"
    __al_propose "$REPLY" "$current" "$project"
  elif [[ -z $ended && $current == -* ]]; then
    __al_flags "$here"
    own=$REPLY
    __al_flags al
    __al_propose "= $own $REPLY" "$current" "$project"
  elif [[ -z $ended && $count == 0 ]] && __al_commands "$here"; then
    __al_propose "= $REPLY" "$current" "$project"
  else
    __al_position "$here" "$count" && __al_propose "$REPLY" "$current" "$project"
  fi
}
complete -F _al al
`;
