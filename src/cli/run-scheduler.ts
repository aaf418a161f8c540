import type { LogEntry } from "../../streams/vocabulary.ts";
import { startScheduler } from "../start.ts";
import type { Context } from "./context.ts";
import { formatLog } from "./log-line.ts";
import { watchPipes } from "./output.ts";
import type { Output } from "./output.ts";
import { packageVersion } from "../version.ts";

export interface StartOptions {
  readonly webUi?: true;
  readonly headless?: true;
  readonly port?: number;
  readonly host?: string;
  readonly grace: number;
}

type Scheduler = Awaited<ReturnType<typeof startScheduler>>;

/** Runs the project until it is stopped; the exit code. */
export async function runScheduler(context: Context, options: StartOptions): Promise<number> {
  const { out } = context;
  // The scheduler outlives whoever reads its log (`al start | head`).
  watchPipes(() => undefined);
  const signals = watchSignals();
  const scheduler = await startScheduler({
    projectDir: context.projectDir,
    webUi: options.webUi === true,
    ...(options.port === undefined ? {} : { port: options.port }),
    ...(options.host === undefined ? {} : { host: options.host }),
    graceSeconds: options.grace,
    env: context.env,
    log: (entry) => print(out, entry),
  });
  announce(scheduler, context);
  const interrupted = signals.forwardTo(scheduler, out);
  const code = await scheduler.done;
  return interrupted() ? 130 : code;
}

/** One readable line an entry; with `--json` the entry as its log file has it. */
function print(out: Output, entry: LogEntry): void {
  if (out.json) return out.document(entry);
  out.data(formatLog(entry, { colors: out.colors, showAgent: true, now: Date.now() }));
}

function announce(scheduler: Scheduler, { out, projectDir }: Context): void {
  const { gatewayUrl, dashboardUrl, apiKeyPath } = scheduler;
  if (out.json) {
    const started = { level: 30, time: Date.now(), msg: "started", agent: "scheduler" };
    return out.document({ ...started, projectDir, gatewayUrl, dashboardUrl, apiKeyPath });
  }
  const { bold, cyan } = out.colors;
  out.data(`${bold(`Almanac ${packageVersion()}`)} runs ${projectDir}`);
  if (dashboardUrl !== null) out.data(`Dashboard: ${cyan(dashboardUrl)}`);
  else if (gatewayUrl !== null) out.data(`Gateway:   ${cyan(gatewayUrl)}`);
  out.data(`API key:   ${apiKeyPath}`);
}

/**
 * A second interrupt within this time, in milliseconds, is the same one: a terminal gives Ctrl-C to the whole group,
 * and npm (or al on an old Node) passes its own on.
 */
const sameInterrupt = 250;

interface Signals {
  /** Lets signals stop the scheduler, one that came during the start too. Tells whether a second one cut it short. */
  forwardTo(scheduler: Scheduler, out: Output): () => boolean;
}

/** Listens from the start, so that a signal during it doesn't leave half of a scheduler behind. */
function watchSignals(): Signals {
  let first: { signal: NodeJS.Signals; at: number } | null = null;
  let interrupted = false;
  let stop: (signal: NodeJS.Signals) => void = () => undefined;
  let stopNow: () => void = () => undefined;
  const receive = (signal: NodeJS.Signals) => {
    const at = performance.now();
    if (first === null) {
      first = { signal, at };
      return stop(signal);
    }
    if (signal !== "SIGINT" || at - first.at < sameInterrupt) return;
    interrupted = true;
    stopNow();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, receive);
  return {
    forwardTo(scheduler, out) {
      stopNow = () => scheduler.stopNow();
      stop = (signal) => {
        if (signal === "SIGINT") out.note("stopping; Ctrl-C again stops now");
        scheduler.stop(signal);
      };
      if (first !== null) stop(first.signal);
      if (interrupted) stopNow();
      return () => interrupted;
    },
  };
}
