import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

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

/** bash is asked as readline asks: with the words in COMP_WORDS. */
const bash: CompletingShell = {
  name: "bash",
  whyNot: () => missing("bash"),
  complete: async (script, cwd, lines) => {
    const asks = lines.map((line) => {
      const words = wordsOf(line).map((word) => `'${word}'`);
      return `COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _al; printf '%s\\n' "\${COMPREPLY[@]}" ---`;
    });
    const text = [`source '${script}'`, ...asks].join("\n");
    const { stdout } = spawnSync("bash", ["--norc", "-c", text], {
      cwd,
      env: env(script, cwd),
      encoding: "utf8",
    });
    return Promise.resolve(parts(stdout, "---"));
  },
};

/** `=` is a word of its own to readline. */
function wordsOf(line: string): string[] {
  return line.replaceAll("=", " = ").split(/ +/);
}

const fish: CompletingShell = {
  name: "fish",
  whyNot: () => missing("fish"),
  complete: async (script, cwd, lines) => {
    const asks = lines.map((line) => `complete -C '${line}'; echo ---`);
    const text = [`source '${script}'`, ...asks].join("\n");
    const { stdout } = spawnSync("fish", ["--no-config", "-c", text], {
      cwd,
      env: env(script, cwd),
      encoding: "utf8",
    });
    return Promise.resolve(parts(stdout.replace(/\t.*$/gm, ""), "---"));
  },
};

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
    writeFileSync(found, "");
    writeFileSync(join(folder, ".zshrc"), zshrc(script, found));
    const child = spawn("script", ["-qefc", "zsh -d -i", "/dev/null"], {
      cwd,
      env: { ...env(script, folder), ZDOTDIR: folder },
    });
    const ended = new Promise((done) => child.once("close", done));
    const giveUp = setTimeout(() => child.kill(), 20_000);
    const untilEnds = async (count: number) => {
      while (parts(readFileSync(found, "utf8"), "---").length < count && child.exitCode === null) {
        await new Promise((done) => setTimeout(done, 20));
      }
    };
    child.stdout.resume();
    // The first one comes with the first prompt.
    await untilEnds(1);
    for (const [index, line] of lines.entries()) {
      child.stdin.write(`${line}\t\u0007`);
      await untilEnds(index + 2);
    }
    child.stdin.write("exit\r");
    await ended;
    clearTimeout(giveUp);
    const [, ...answers] = parts(readFileSync(found, "utf8"), "---");
    rmSync(folder, { recursive: true });
    return answers;
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

/** zsh hands a path on more than once. */
function parts(text: string, end: string): string[][] {
  const all = text.split(`${end}\n`).slice(0, -1);
  const linesOf = (part: string) => part.split("\n").filter((line) => line !== "");
  return all.map((part) => [...new Set(linesOf(part))].sort());
}

export const shells: readonly CompletingShell[] = [bash, zsh, fish];
