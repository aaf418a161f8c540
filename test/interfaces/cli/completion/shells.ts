import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pause } from "../../../helpers/pause.ts";

/** A shell that completes command lines. */
export interface CompletingShell {
  readonly name: "bash" | "zsh" | "fish";
  /** Why it can't be tested here; null when it can. */
  whyNot(): string | null;
  /**
   * What it proposes at the end of each line, sorted, in a directory, with the script at a path and the program in `bin`
   * beside it.
   */
  complete(script: string, cwd: string, lines: readonly string[]): Promise<string[][]>;
}

/** Not installed everywhere, and for zsh a terminal is needed too. */
function missing(...commands: readonly string[]): string | null {
  const absent = commands.find((command) => spawnSync(command, ["--version"]).status !== 0);
  return absent === undefined ? null : `${absent} is not installed`;
}

const env = (script: string, home: string) => ({
  PATH: `${join(script, "../bin")}:${process.env.PATH ?? ""}`,
  HOME: home,
  TERM: "xterm",
  LC_ALL: "C.UTF-8",
});

/** A shell that is asked for each line by a command of its own, and says where its answer ends. */
function askedShell(
  name: "bash" | "fish",
  flags: readonly string[],
  ask: (line: string) => string,
): CompletingShell {
  return {
    name,
    whyNot: () => missing(name),
    complete: (script, cwd, lines) => {
      const text = [`source '${script}'`, ...lines.map(ask)].join("\n");
      const options = { cwd, env: env(script, cwd), encoding: "utf8" } as const;
      const { stdout } = spawnSync(name, [...flags, "-c", text], options);
      return Promise.resolve(parts(stdout.replace(/\t.*$/gm, "")));
    },
  };
}

/** bash is asked as readline asks: with the words in COMP_WORDS, of which `=` is one. */
const bash = askedShell("bash", ["--norc"], (line) => {
  const words = line.replaceAll("=", " = ").split(/ +/);
  const quoted = words.map((word) => `'${word}'`).join(" ");
  return `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _al; printf '%s\\n' "\${COMPREPLY[@]}" ---`;
});

const fish = askedShell("fish", ["--no-config"], (line) => `complete -C '${line}'; echo ---`);

/**
 * zsh completes on a terminal only: lines are typed there, and what reaches `compadd` is written down. Ctrl-G ends a
 * line.
 */
const zsh: CompletingShell = {
  name: "zsh",
  whyNot: () => missing("zsh", "script"),
  complete: async (script, cwd, lines) => {
    const folder = mkdtempSync(join(tmpdir(), "al-zsh-"));
    const found = join(folder, "found");
    const answers = () => parts(readFileSync(found, "utf8"));
    writeFileSync(found, "");
    writeFileSync(join(folder, ".zshrc"), zshrc(script, found));
    const child = spawn("script", ["-qefc", "zsh -d -i", "/dev/null"], {
      cwd,
      env: { ...env(script, folder), ZDOTDIR: folder },
      timeout: 60_000,
    });
    const ended = new Promise((done) => child.once("close", done));
    child.stdout.resume();
    // The first answer comes with the first prompt.
    for (const [index, line] of ["", ...lines].entries()) {
      if (index > 0) child.stdin.write(`${line}\t\u0007`);
      while (answers().length <= index && child.exitCode === null) {
        await pause(20, "zsh writes its answer to a file");
      }
    }
    child.stdin.write("exit\r");
    await ended;
    const [, ...all] = answers();
    rmSync(folder, { recursive: true });
    return all;
  },
};

function zshrc(script: string, found: string): string {
  return String.raw`autoload -Uz compinit && compinit -D -u
source ${script}
compadd() {
  if [[ ${"$"}{@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
    builtin compadd "$@"
    return
  fi
  local -a hits
  builtin compadd -O hits "$@"
  (( $#hits )) && print -rl -- $hits >> ${found}
  builtin compadd "$@"
}
written() { print -r -- --- >> ${found}; BUFFER= }
zle -N written
bindkey '^G' written
zle-line-init() { written }
zle -N zle-line-init
LISTMAX=1000
`;
}

/** The answers up to each line `---`. zsh hands a path on more than once. */
function parts(text: string): string[][] {
  const linesOf = (part: string) => part.split("\n").filter((line) => line !== "");
  return text
    .split("---\n")
    .slice(0, -1)
    .map((part) => [...new Set(linesOf(part))].sort());
}

export const shells: readonly CompletingShell[] = [bash, zsh, fish];
