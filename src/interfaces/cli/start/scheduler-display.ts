import { relative } from "node:path";
import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";
import { packageVersion } from "../../../foundation/version.ts";
import type { startScheduler } from "../../../start/start.ts";
import { findProject, type Context } from "../context.ts";
import { formatLog } from "../logs/log-line.ts";
import type { Output } from "../terminal/output.ts";
import type { StopSignals } from "../stop-signals.ts";

/** A scheduler that runs, and how it was started. */
export interface Displayed {
  readonly scheduler: Awaited<ReturnType<typeof startScheduler>>;
  readonly signals: StopSignals;
  readonly webUi: boolean;
}

/** Shows a scheduler to the person who started it. */
export type Display = ReturnType<typeof createLineDisplay>;

/** Prints lines: readable ones, or with `--json` as the log files have them. */
export function createLineDisplay(context: Context) {
  const { out } = context;
  return {
    /** A line of the scheduler, from the start to the very end. */
    log: (entry: LogEntry): void => printEntry(out, entry),
    /** The scheduler does not start. */
    failed: (): void => undefined,
    show: ({ scheduler }: Displayed): void => announce(scheduler, context),
    /** The first Ctrl-C arrived as a signal. */
    interrupted: (): void => noteInterrupt(out),
    /** All runs have ended; the argument is true if the scheduler did not wait for them. */
    end: (...[]: [atOnce: boolean]): Promise<void> => Promise.resolve(),
  };
}

/** Notes the effect of a first Ctrl-C. */
export function noteInterrupt(out: Output): void {
  out.note("stopping; Ctrl-C again stops now");
}

/** One readable line an entry; with `--json` the entry as its log file has it. */
export function printEntry(out: Output, entry: LogEntry): void {
  out.gather();
  out.answer(entry, formatLog(entry, { colors: out.colors, showAgent: true, now: Date.now() }));
}

/** The command that opens the dashboard; npm starts a clone, which has no `al` of its own. */
function openCommand({ projectDir, env }: Context): string {
  const here = process.cwd();
  const at = findProject(here) === projectDir ? "" : ` -p ${shellWord(relative(here, projectDir))}`;
  return `${env.npm_lifecycle_event === undefined ? "al" : "npx al"} open${at}`;
}

function announce(scheduler: Displayed["scheduler"], context: Context): void {
  const { out, projectDir } = context;
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
  // Output that is not a terminal is often a log, which others read.
  if (link !== null)
    out.data(`Log in:    ${out.columns === null ? openCommand(context) : cyan(link)}`);
  out.data(`API key:   ${apiKeyPath}`);
}
