import type { ChildProcess } from "node:child_process";
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { spawnAl } from "../../helpers/scheduler.ts";
import type { KillOrder } from "./kill-at.ts";
import type { CrashProject } from "./crash-project.ts";

const preload = pathToFileURL(join(import.meta.dirname, "kill-at.ts")).href;

/** The program, told at which point it ends itself. */
export interface Doomed {
  /** The gateway's URL once the scheduler is ready; null if it ended before. */
  readonly ready: Promise<string | null>;
  /** Resolves when it is gone, to its exit code: 137 by SIGKILL. */
  readonly gone: Promise<number>;
  readonly kill: (signal?: NodeJS.Signals) => void;
  readonly output: () => string;
}

/** Starts a command of the built program with the kill point in it; null for none. */
export function startDoomed(
  project: CrashProject,
  args: readonly string[],
  order: Omit<KillOrder, "marks"> | null,
  more: NodeJS.ProcessEnv = {},
): Doomed {
  const { marks } = project;
  const env = {
    NODE_OPTIONS: `--import=${preload}`,
    AL_KILL_AT: JSON.stringify({ ...order, marks }),
  };
  const child = spawnAl(project, args, order === null ? more : env);
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  }
  const gone = goneOf(child);
  const ready = new Promise<string | null>((resolve) => {
    child.stdout.on("data", () => {
      const url = /^Gateway: +(\S+)$/m.exec(text)?.[1];
      if (url !== undefined && /^API key: /m.test(text)) resolve(url);
    });
    void gone.then(() => resolve(null));
  });
  return { ready, gone, kill: (signal = "SIGKILL") => void child.kill(signal), output: () => text };
}

function goneOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(code ?? (signal === "SIGKILL" ? 137 : 143)));
  });
}
