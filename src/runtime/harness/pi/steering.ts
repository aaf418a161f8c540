import type { AgentSession } from "@earendil-works/pi-coding-agent";
import { messageText } from "../prompt.ts";
import type { PersonMessage } from "../run-api/people.ts";

/** Delivers the messages of people to a session of pi, and ends the session after a turn if they ask for that. */
export function createSteering(pi: AgentSession) {
  /** Texts that came while no turn was under way. */
  const waiting: string[] = [];
  let isAsked = false;
  let isStopped = false;
  const { agent } = pi;
  agent.steeringMode = "all";
  const finishTurn = agent.finishTurn?.bind(agent);
  agent.finishTurn = async (...turn) => {
    const decision = (await finishTurn?.(...turn)) ?? undefined;
    if (!isAsked) return decision;
    isStopped = true;
    // Otherwise pi would shorten the conversation, or ask the next model for a failed turn.
    pi.clearQueue();
    void pi.abort().catch(() => undefined);
    return { action: "end" };
  };
  const deliver = (): void => {
    if (!pi.isStreaming) return;
    for (const text of waiting.splice(0)) void pi.steer(text);
  };
  return {
    onMessage: (message: PersonMessage): void => {
      if (message.kind === "stop") isAsked = true;
      else waiting.push(messageText(message));
      deliver();
    },
    deliver,
    /** The messages that came after the last turn; null if there are none. */
    rest: (): string | null => {
      waiting.unshift(...pi.clearQueue().steering);
      return waiting.length === 0 || isAsked ? null : waiting.splice(0).join("\n\n");
    },
    isStopped: (): boolean => isStopped,
  };
}
