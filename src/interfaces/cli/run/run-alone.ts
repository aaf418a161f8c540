import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { startScheduler } from "../../../start/start.ts";
import type { Client } from "../operator/client.ts";
import { connect } from "../operator/connect.ts";
import type { Context } from "../context.ts";
import { followRun } from "./follow-run.ts";
import { formatLog } from "../logs/log-line.ts";
import { outlivePipes } from "../terminal/pipes.ts";
import { watchStopSignals, type Stoppable } from "../stop-signals.ts";

type Scheduler = Awaited<ReturnType<typeof startScheduler>>;

/** For called runs that the agent did not wait for. */
const graceSeconds = 30;
/** The exit code of an interrupted run. */
const interrupted = 130;

/**
 * Holds the project for the time of one run: nothing else starts in it, except agents that the run calls. The exit code
 * is the run's, 130 if it was interrupted.
 */
export async function runAlone(
  context: Context,
  agent: string,
  prompt: string | null,
): Promise<number> {
  // The run continues without a reader of its log (`al run | head`).
  outlivePipes();
  const signals = watchStopSignals();
  const scheduler = await startScheduler({
    projectDir: context.projectDir,
    env: context.env,
    webUi: false,
    onDemand: true,
    graceSeconds,
    log: (entry) => noteFailure(context, agent, entry),
  });
  try {
    const client = await connect(context);
    signals.forwardTo(endOf(agent, scheduler, client), () =>
      context.out.note("stopping the run; press Ctrl-C again to stop immediately"),
    );
    if (signals.wereGiven()) return interrupted;
    const code = await followRun(context, client, { agent, prompt });
    return signals.wereGiven() ? interrupted : code;
  } catch (error) {
    // A run that was ended before it began, or at once, leaves no scheduler to follow it by.
    if (signals.wereGiven()) return interrupted;
    throw error;
  } finally {
    scheduler.stop("the run is over");
    await scheduler.done;
  }
}

/** Only failures among the scheduler's own lines matter here; the run's own lines are followed. */
function noteFailure({ out }: Context, agent: string, entry: LogEntry): void {
  if (entry.level < 50 || (entry.kind === "run" && entry.agent === agent)) return;
  out.note(formatLog(entry, { colors: out.colors, showAgent: true, now: Date.now() }));
}

/** Ends the run by signals: the first one as `al kill` does, a second interrupt everything at once. */
function endOf(agent: string, scheduler: Scheduler, client: Client): Stoppable {
  const path = `/control/agents/${encodeURIComponent(agent)}/kill`;
  return {
    stop: (reason) => {
      scheduler.stop(reason);
      client.post(path).catch(() => scheduler.stopNow());
    },
    stopNow: () => scheduler.stopNow(),
  };
}
