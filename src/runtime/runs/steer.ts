import { outcomeText } from "../../../streams/outcomes.ts";
import { v7 as uuidV7 } from "uuid";
import { sessionProgram } from "../../../streams/harnesses.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { Person } from "../../foundation/contracts/questions.ts";
import { Problem } from "../../foundation/errors.ts";
import { whyNoInput } from "./harness-command.ts";
import { inboxView, type InboxView } from "./run-view.ts";
import type { RunContext } from "./run-context.ts";
import { mustBeStartable } from "./runnable.ts";
import { startManual } from "./start-manual.ts";
import { mustHaveRun } from "./view-run.ts";

/**
 * Sends a text to a live run, or with null asks it to stop after its turn. Rejects with Problem `unknown_instance`,
 * or `refused` with the reason.
 */
export async function steer(
  instanceId: string,
  text: string | null,
  by: Person,
  context: Pick<RunContext, "runs" | "inbox" | "store" | "sessions">,
): Promise<InboxView> {
  const run = context.runs.find(instanceId);
  if (run === undefined) throw notLive(instanceId, context);
  const { agent } = run.request;
  const kind = text === null ? "stop" : "steer";
  const reason = whyNoInput(agent)[kind];
  if (reason !== null) throw new Problem("refused", reason);
  if (run.isEnding) throw new Problem("refused", `the run ${instanceId} is being ended`);
  const next =
    sessionProgram(agent.harness) !== null ? `; after its hooks, ${continuing(instanceId)}` : "";
  const isOver = `the session of ${instanceId} accepts no more messages${next}`;
  // An earlier scheduler may have received the end of the session.
  if (context.inbox.isOver(instanceId)) throw new Problem("refused", isOver);
  if (!(await run.isConnected())) {
    const silent = `the run ${instanceId} has not connected to this scheduler yet, so its session may be over`;
    throw new Problem("refused", silent, `try again, or see al show ${instanceId}`);
  }
  const added = await context.inbox.add({ instanceId, kind, text: text ?? "", by });
  if (added === null) throw new Problem("refused", isOver);
  return inboxView(added);
}

/**
 * Starts a run of the same agent with the session of one that has ended. Rejects with Problem `unknown_instance`, or
 * `refused` with the reason.
 */
export async function continueRun(
  instanceId: string,
  prompt: string,
  by: Person,
  context: RunContext,
) {
  const { agent, endedAt } = mustHaveRun(instanceId, context.store).entry;
  if (context.runs.find(instanceId) !== undefined || endedAt === null || agent === null) {
    const reason = `the run ${instanceId} has not ended: al steer ${instanceId} sends it a message`;
    throw new Problem("refused", reason);
  }
  mustBeStartable(context, agent);
  mustHaveSession(instanceId, context.status.agent(agent)?.config ?? null, context);
  const continues = { instanceId, endedAt: Date.parse(endedAt) };
  // The link is stored before the work: a run must not begin without it, and a link without a run is not shown.
  const triggerId = uuidV7();
  await context.inbox.add({ instanceId, kind: "continue", text: prompt, by, triggerId });
  const trigger = { kind: "manual", prompt, continues } as const;
  const key = context.sessions.keyOf(instanceId);
  return { agent, ...(await startManual(agent, trigger, context, triggerId, key)) };
}

function notLive(
  instanceId: string,
  { store, sessions }: Pick<RunContext, "store" | "sessions">,
): Problem {
  const { outcome } = mustHaveRun(instanceId, store).entry;
  const state = outcome === null ? "has not started yet" : `has ended (${outcomeText(outcome)})`;
  const next = sessions.programOf(instanceId) !== null ? `: ${continuing(instanceId)}` : "";
  return new Problem("refused", `the run ${instanceId} ${state}${next}`);
}

function continuing(instanceId: string): string {
  return `al continue ${instanceId} "…" starts a run with its session`;
}

/** Throws Problem `refused` if the run's session is not kept, or the agent's harness can't take it. */
function mustHaveSession(
  instanceId: string,
  config: AgentConfig | null,
  { sessions }: RunContext,
): void {
  const harness = config?.harness ?? ({ type: "pi", command: "" } as const);
  const program = sessionProgram(harness);
  if (program === null) {
    const reason = `${harness.command} keeps its sessions to itself: only runs of pi, claude, codex and gemini can be continued`;
    throw new Problem("refused", reason);
  }
  const kept = sessions.programOf(instanceId);
  if (kept === program.name) return;
  const reason =
    kept === null
      ? `the session of ${instanceId} is not kept: it never began, its process was killed at once, a later run of its session key continued it, or it is older than the history`
      : `the session of ${instanceId} is one of ${kept}, and its agent uses ${program.name} now`;
  throw new Problem("refused", reason);
}
