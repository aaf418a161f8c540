import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { durationText } from "../../../../streams/duration-text.ts";
import { messageOf } from "../../../foundation/errors.ts";
import type { Context } from "../context.ts";
import { plain } from "../terminal/format.ts";
import type { Display, Displayed } from "../start/scheduler-display.ts";
import { noteInterrupt, printEntry } from "../start/scheduler-display.ts";
import type { LiveView } from "./live-view.ts";

/** The facts that decide whether a person is at the terminal. */
export interface TerminalFacts {
  readonly stdin: { readonly isTTY?: boolean };
  readonly stdout: { readonly isTTY?: boolean };
  readonly env: NodeJS.ProcessEnv;
  readonly headless: boolean;
  readonly json: boolean;
}

/** True on a terminal that can draw, except with options for lines and in a CI system. */
export function wantsLiveView({ stdin, stdout, env, headless, json }: TerminalFacts): boolean {
  const isCi = !["", "0", "false"].includes(env.CI ?? "");
  if (headless || json || env.TERM === "dumb" || isCi) return false;
  return stdin.isTTY === true && stdout.isTTY === true;
}

/** More would push the terminal's earlier lines out of sight. */
const maxHeldEntries = 200;

/**
 * Shows the scheduler as a live view. Lines logged meanwhile stay off the terminal; those about the end are printed
 * after the view. If the view breaks, the scheduler keeps running and prints its lines.
 */
export async function createLiveDisplay(context: Context): Promise<Display> {
  // The only place that loads the live view and its packages.
  const { openLiveView } = await import("./live-view.ts");
  const { out, env, projectDir } = context;
  const startedAt = Date.now();
  let held: LogEntry[] | null = [];
  let view: LiveView | null = null;
  let isStopping = (): boolean => false;

  const release = (): void => {
    const entries = held ?? [];
    held = null;
    for (const entry of entries) printEntry(out, entry);
  };
  const hold = (entry: LogEntry, into: LogEntry[]): void => {
    const isOwnError = entry.agent === "scheduler" && entry.level >= 50;
    if (isOwnError) view?.show({ text: entry.msg, isError: true });
    // Until the view is up, all lines may be needed: if the start fails, it never comes up.
    if (view === null || isStopping() || isOwnError) into.push(entry);
    if (into.length > maxHeldEntries) into.shift();
  };

  return {
    log: (entry) => (held === null ? printEntry(out, entry) : hold(entry, held)),
    failed: release,
    show: (displayed) => {
      const { scheduler, signals, webUi } = displayed;
      isStopping = () => scheduler.operations.stopping.phase() === "draining";
      held = [];
      const opened = openLiveView({
        ...scheduler,
        projectDir,
        webUi,
        colors: out.colors,
        apiKeyPath: shortPath(scheduler.apiKeyPath, env.HOME),
        stop: () => signals.stop("q"),
        interrupt: () => interrupt(displayed, isStopping()),
      });
      view = opened;
      void opened.broken.then((error) => {
        out.note(plain(`the live view broke (${messageOf(error)}); the scheduler continues`));
        release();
      });
    },
    // While the live view is open, it shows the stop itself.
    interrupted: () => (held === null ? noteInterrupt(out) : undefined),
    end: async (atOnce) => {
      await view?.close();
      release();
      const how = atOnce ? "was stopped at once" : "stopped";
      out.data(`Almanac ${how} after ${durationText(Date.now() - startedAt)}.`);
    },
  };
}

/** While the scheduler stops, Ctrl-C means now. */
function interrupt({ signals }: Displayed, isStopping: boolean): void {
  if (isStopping) signals.stop("SIGINT");
  signals.interrupt();
}

function shortPath(path: string, home: string | undefined): string {
  return home !== undefined && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
