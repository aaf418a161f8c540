import { EMPTY, map, of, type Observable } from "rxjs";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import { runAgent, type Kill, type RunPorts } from "../../../streams/runs/run-agent.ts";
import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import { createSlots } from "../../../streams/runs/slots.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import type { Marbles } from "../../helpers/marbles.ts";
import { createRunOwner } from "../../helpers/run-owner.ts";

/** The ports of a run whose runner reports this; its instance is `dev-1`. */
export function portsOf(
  { scheduler }: Marbles,
  report$: Observable<RunnerEvent>,
  more: Partial<RunPorts> = {},
): RunPorts {
  return {
    runner: { run: () => report$ },
    claim: () => of("claimed"),
    newInstanceId: (name) => `${name}-1`,
    kill$: EMPTY,
    scheduler,
    owner: createRunOwner(() => scheduler.now()),
    starting: createSlots(),
    draining$: of(false),
    isStopping: () => false,
    ...more,
  };
}

/**
 * `s` started, `o` output, `t` status text, `r` refused, `b` blocked, `g` blocked no more; finished by the first letter
 * of its outcome, in capitals.
 */
export function letterOf(event: RunEvent): string {
  if (event.type === "finished") return event.end.outcome.charAt(0).toUpperCase();
  if (event.type === "status-text") return "t";
  if (event.type === "blocked" && event.reason === null) return "g";
  return event.type.charAt(0);
}

/** The events of a run of the agent `dev`, as letters. */
export function run(ports: RunPorts, config: Partial<AgentConfig> = {}): Observable<string> {
  return runAgent(anAgent("dev", config), anItem("1"), ports).pipe(map(letterOf));
}

/** The kills of runs, by letters. */
export const kills: Record<string, Kill> = {
  i: { instanceId: "dev-1" },
  I: { instanceId: "dev-2" },
  a: { agent: "dev" },
  A: { agent: "ops" },
  e: { everything: "killed" },
  s: { everything: "interrupted" },
};
