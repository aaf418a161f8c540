import type { AgentStatus, SchedulerStatus } from "../../../../streams/status/wire.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { plainLine } from "../terminal/format.ts";
import { cut, widthOf, wrap } from "../terminal/fit.ts";
import type { ScreenStyle } from "./screen.ts";

/** What the header shows beside the status. */
export interface HeaderFacts {
  readonly webUi: boolean;
  /** Where the key is that the dashboard's login page asks for. */
  readonly apiKeyPath: string;
  /** A link that logs in, as long as it does. */
  readonly loginUrl: () => string | null;
}

/** Project and counts, where the dashboard is, and what is wrong with the project's own config. */
export function header(
  scheduler: SchedulerStatus,
  agents: readonly AgentStatus[],
  style: ScreenStyle & HeaderFacts,
): string[] {
  const { colors, columns } = style;
  const lines = [counts(scheduler, agents, style), ...place(scheduler, style)];
  const errors =
    scheduler.error === null
      ? []
      : wrap(`error ${plainLine(scheduler.error)}`, columns)
          .slice(0, 2)
          .map(colors.red);
  return [...lines, ...errors, ...warningLine(scheduler, style)].map((line) => cut(line, columns));
}

/** One line: the agents need the room. */
function warningLine({ warnings }: SchedulerStatus, { colors }: ScreenStyle): string[] {
  const [first, ...others] = warnings;
  if (first === undefined) return [];
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return [colors.yellow(`warning ${plainLine(first)}${more}`)];
}

function counts(
  { version, project, running, paused }: SchedulerStatus,
  agents: readonly AgentStatus[],
  { colors }: ScreenStyle,
): string {
  const failed = agents.reduce(
    (count, { state }) => count + (state === "error" || state === "blocked" ? 1 : 0),
    0,
  );
  return [
    colors.bold(plainLine(project)),
    ...(paused ? [colors.yellow("paused")] : []),
    counted(agents.length, "agent"),
    running === 0 ? "0 running" : colors.green(`${running} running`),
    ...(failed === 0 ? [] : [colors.red(`${failed} with an error`)]),
    colors.dim(`Almanac ${version}`),
  ].join(colors.dim(" · "));
}

/** Where the dashboard is, its key, and the link that logs in without it: none is cut. */
function place({ gatewayUrl }: SchedulerStatus, style: ScreenStyle & HeaderFacts): string[] {
  const { colors, columns, webUi, apiKeyPath, loginUrl } = style;
  if (webUi && gatewayUrl !== null) {
    const url = `Dashboard: ${colors.cyan(`${gatewayUrl}/dashboard`)}`;
    const key = `API key: ${plainLine(apiKeyPath)}`;
    const line = url + colors.dim(` · ${key}`);
    const link = loginUrl();
    const login = link === null ? [] : wrap(`Log in: ${link}`, columns).map(colors.cyan);
    const where = widthOf(line) <= columns ? [line] : [url, ...wrap(key, columns).map(colors.dim)];
    return [...where, ...login];
  }
  const none = colors.dim("no dashboard (al start --web-ui serves it)");
  return [gatewayUrl === null ? none : `Gateway: ${colors.cyan(gatewayUrl)} · ${none}`];
}
