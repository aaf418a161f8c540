import { spawn, spawnSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import xterm from "@xterm/headless";
import { builtAl } from "../../../helpers/scheduler.ts";

export interface EmulatorOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly columns?: number;
  readonly rows?: number;
}

/** Runs `al` with these arguments; afterwards the shell tells its exit code and how the terminal was left. */
export function emulate(args: readonly string[], options: EmulatorOptions) {
  const { columns = 100, rows = 30, env } = options;
  const al = [process.execPath, builtAl, ...args].join(" ");
  const after = 'echo "exit $?"; stty -a | tr ";" "\\n" | grep -o "[-]*icanon.*"';
  // Where it is cooked, the terminal gives Ctrl-C to this shell too.
  const command = `trap : INT; stty cols ${columns} rows ${rows}; ${al}; ${after}`;
  const child = spawn("script", ["-qfc", command, "/dev/null"], {
    env: { PATH: process.env.PATH, TERM: "xterm-256color", LANG: "C.UTF-8", ...env },
  });
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  let raw = "";
  child.stdout.on("data", (chunk: Buffer) => {
    raw += chunk.toString("latin1");
    terminal.write(chunk);
  });

  const screen = (): string[] => {
    const { active } = terminal.buffer;
    return Array.from({ length: terminal.rows }, (_, row) => {
      return active.getLine(active.viewportY + row)?.translateToString(true) ?? "";
    });
  };
  const pid = (): number | null => alBelow(child.pid);
  return {
    /** The rows of the screen that is shown now. */
    screen,
    /** True while a program has the alternate screen, as the live view does. */
    isAlternate: (): boolean => terminal.buffer.active.type === "alternate",
    /** Every byte that was sent to the terminal. */
    raw: (): string => raw,
    /** Resolves once the screen shows it; rejects with the screen when it takes too long. */
    until: (shown: string | RegExp) =>
      vi.waitFor(() => expect(screen().join("\n")).toMatch(shown), {
        timeout: 60_000,
        interval: 30,
      }),
    type: (keys: string) => void child.stdin.write(keys),
    /** As a person who drags the window's corner. */
    resize: (width: number, height: number) => {
      terminal.resize(width, height);
      const tty = readlinkSync(`/proc/${String(pid())}/fd/0`);
      spawnSync("stty", ["-F", tty, "cols", String(width), "rows", String(height)]);
    },
    /** Process id of the `node` that runs al; null when it ended. */
    pid,
    signal: (signal: NodeJS.Signals) => {
      const receiver = pid();
      // 0 and what is less would be a whole group: ours.
      if (receiver !== null) process.kill(receiver, signal);
    },
    /** Closes the terminal under what runs on it. */
    hangUp: () => void child.kill("SIGKILL"),
  };
}

/** The built `al` on a pseudo terminal, drawn by a terminal emulator: what a person would see. */
export type Emulator = ReturnType<typeof emulate>;

/** The process that runs al, below the one that made the terminal; null when there is none. */
function alBelow(pid: number | undefined): number | null {
  const children = readProc(`${String(pid)}/task/${String(pid)}/children`);
  for (const child of (children.match(/\d+/g) ?? []).map(Number)) {
    const [program = "", file] = readProc(`${child}/cmdline`).split("\0");
    if (program === process.execPath && file === builtAl) return child;
    const found = alBelow(child);
    if (found !== null) return found;
  }
  return null;
}

/** Empty when the process has ended meanwhile. */
function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, "utf8");
  } catch {
    return "";
  }
}
