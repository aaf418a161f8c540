import { connect, filter, map, merge, skipUntil } from "rxjs";
import type { Observable } from "rxjs";
import type { AgentStatus, StatusUpdate } from "../../../../streams/status/wire.ts";
import type { Operations } from "../../../foundation/contracts/operations.ts";

/** Adds to the first text of an agent's log what the agent is, and after it each change of the agent; null when it is gone. */
export function withStatus(
  log$: Observable<string>,
  name: string,
  { snapshot, update$ }: Operations,
): Observable<string> {
  const now = (): AgentStatus | null => agentIn(snapshot().agents, name);
  const change$ = update$.pipe(
    filter((update) => isOf(update, name)),
    map(({ agents = [] }) => statusText(agentIn(agents, name))),
  );
  return log$.pipe(
    connect((text$) => {
      const first$ = text$.pipe(
        map((text, index) => (index === 0 ? text + statusText(now()) : text)),
      );
      // Until the first text is sent, it has what changes.
      return merge(first$, change$.pipe(skipUntil(text$)));
    }),
  );
}

function isOf({ agents = [], removed = [] }: StatusUpdate, name: string): boolean {
  return removed.includes(name) || agents.some((agent) => agent.name === name);
}

function agentIn(agents: readonly AgentStatus[], name: string): AgentStatus | null {
  return agents.find((agent) => agent.name === name) ?? null;
}

/** Without an id: the last one that a client has stays that of a line. */
function statusText(agent: AgentStatus | null): string {
  return `event: agent\ndata: ${JSON.stringify(agent)}\n\n`;
}
