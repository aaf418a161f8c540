import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { exitOf, spawnAl } from "../../helpers/scheduler.ts";
import type { KillOrder } from "./kill-at.ts";
import type { CrashProject } from "./crash-project.ts";

const preload = pathToFileURL(join(import.meta.dirname, "kill-at.ts")).href;

/** Starts a command of the built program with the kill point in it, at which it ends itself; null for none. */
export function startDoomed(
  project: CrashProject,
  args: readonly string[],
  order: Omit<KillOrder, "marks"> | null,
  more: NodeJS.ProcessEnv = {},
) {
  const { marks } = project;
  const env = {
    ...more,
    NODE_OPTIONS: [more.NODE_OPTIONS, `--import=${preload}`].filter(Boolean).join(" "),
    AL_KILL_AT: JSON.stringify({ ...order, marks }),
  };
  const child = spawnAl(project, args, order === null ? more : env);
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  }
  /** Resolves when it is gone, to its exit code: 137 by SIGKILL. */
  const gone = exitOf(child);
  /** The gateway's URL once the scheduler is ready; null if it ended before. */
  const ready = new Promise<string | null>((resolve) => {
    child.stdout.on("data", () => {
      const url = /^Gateway: +(\S+)$/m.exec(text)?.[1];
      if (url !== undefined && /^API key: /m.test(text)) resolve(url);
    });
    void gone.then(() => resolve(null));
  });
  const kill = (signal: NodeJS.Signals = "SIGKILL") => void child.kill(signal);
  return { ready, gone, kill, output: () => text };
}

export type Doomed = ReturnType<typeof startDoomed>;
