import type { LogEntry } from "../../streams/vocabulary.ts";
import { startScheduler } from "../start.ts";
import type { Client } from "./client.ts";
import { connect } from "./connect.ts";
import type { Context } from "./context.ts";
import { followRun } from "./follow-run.ts";
import { formatLog } from "./log-line.ts";
import { watchPipes } from "./pipes.ts";

type Scheduler = Awaited<ReturnType<typeof startScheduler>>;

/** For runs that the agent asked for and did not wait for. */
const graceSeconds = 30;

/**
 * Holds the project for as long as one run takes: nothing else starts in it, but for agents that the run calls. The
 * exit code is the run's, 130 when it was interrupted.
 */
export async function runAlone(
  context: Context,
  agent: string,
  prompt: string | null,
): Promise<number> {
  // The run goes on without whoever reads its log (`al run | head`).
  watchPipes(() => undefined);
  const scheduler = await startScheduler({
    projectDir: context.projectDir,
    env: context.env,
    webUi: false,
    onDemand: true,
    graceSeconds,
    log: (entry) => tellFailure(context, entry),
  });
  try {
    const client = await connect(context);
    const interrupted = endOnSignal(context, { scheduler, client, agent });
    const code = await followRun(context, client, agent, prompt);
    return interrupted() ? 130 : code;
  } finally {
    scheduler.stop("the run is over");
    await scheduler.done;
  }
}

/** What the scheduler says of itself is of no interest here, unless it breaks. */
function tellFailure({ out }: Context, entry: LogEntry): void {
  if (entry.level < 50) return;
  out.note(formatLog(entry, { colors: out.colors, showAgent: true, now: Date.now() }));
}

/** The first signal ends the run as `al kill` does, the second one everything at once. */
function endOnSignal(
  { out }: Context,
  { scheduler, client, agent }: { scheduler: Scheduler; client: Client; agent: string },
): () => boolean {
  let signals = 0;
  const receive = (signal: NodeJS.Signals): void => {
    signals++;
    if (signals > 1) return scheduler.stopNow();
    out.note("ending the run; once more ends it now");
    scheduler.stop(signal);
    const path = `/control/agents/${encodeURIComponent(agent)}/kill`;
    client.post(path).catch(() => scheduler.stopNow());
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, receive);
  return () => signals > 0;
}
