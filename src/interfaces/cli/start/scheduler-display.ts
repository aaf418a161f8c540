import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { packageVersion } from "../../../foundation/version.ts";
import type { startScheduler } from "../../../start/start.ts";
import type { Context } from "../context.ts";
import { formatLog } from "../logs/log-line.ts";
import type { Output } from "../terminal/output.ts";
import type { StopSignals } from "../stop-signals.ts";

/** A scheduler that runs, and how it was started. */
export interface Displayed {
  readonly scheduler: Awaited<ReturnType<typeof startScheduler>>;
  readonly signals: StopSignals;
  readonly webUi: boolean;
  readonly graceSeconds: number;
}

/** Where the person who started a scheduler sees what it does. */
export interface Display {
  /** A line of the scheduler, from the start to the very end. */
  log(entry: LogEntry): void;
  /** There will be nothing to show. */
  failed(): void;
  show(displayed: Displayed): void;
  /** A first Ctrl-C came as a signal. */
  interrupted(): void;
  /** Nothing runs any more; `atOnce` when the runs were not waited for. */
  end(atOnce: boolean): Promise<void>;
}

/** Prints lines: readable ones, or with `--json` as the log files have them. */
export function createLineDisplay(context: Context): Display {
  const { out } = context;
  return {
    log: (entry) => printEntry(out, entry),
    failed: () => undefined,
    show: ({ scheduler }) => announce(scheduler, context),
    interrupted: () => noteInterrupt(out),
    end: () => Promise.resolve(),
  };
}

/** What a first Ctrl-C does. */
export function noteInterrupt(out: Output): void {
  out.note("stopping; Ctrl-C again stops now");
}

/** One readable line an entry; with `--json` the entry as its log file has it. */
export function printEntry(out: Output, entry: LogEntry): void {
  out.gather();
  if (out.json) return out.document(entry);
  out.data(formatLog(entry, { colors: out.colors, showAgent: true, now: Date.now() }));
}

function announce(scheduler: Displayed["scheduler"], { out, projectDir }: Context): void {
  const { gatewayUrl, dashboardUrl, apiKeyPath, loginUrl } = scheduler;
  if (out.json) {
    const started = { level: 30, time: Date.now(), msg: "started", agent: "scheduler" };
    return out.document({ ...started, projectDir, gatewayUrl, dashboardUrl, apiKeyPath });
  }
  const { bold, cyan } = out.colors;
  out.data(`${bold(`Almanac ${packageVersion()}`)} runs ${projectDir}`);
  if (dashboardUrl !== null) out.data(`Dashboard: ${cyan(dashboardUrl)}`);
  else if (gatewayUrl !== null) out.data(`Gateway:   ${cyan(gatewayUrl)}`);
  const link = loginUrl();
  // What is written elsewhere than to a terminal is often a log, which others read.
  if (link !== null) out.data(`Log in:    ${out.columns === null ? "al open" : cyan(link)}`);
  out.data(`API key:   ${apiKeyPath}`);
}
