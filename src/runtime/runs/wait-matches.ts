import type { Match, WaitCommand, Waits } from "./rules/waits.ts";
import type { WebhookEvent } from "../../../streams/vocabulary.ts";
import type { RequestAnswer } from "../../foundation/contracts/run-api.ts";
import type { RunMatch } from "../../foundation/contracts/webhook-receipts.ts";
import type { CallTrigger } from "./call-item.ts";
import type { OpenWait } from "./live-run.ts";
import { callAs, deliveryAs } from "./occurrence.ts";
import type { WaitedFor } from "./occurrence.ts";
import { waitAnswer } from "./wait-answer.ts";

/** Deliveries and calls that are about to be committed, matched with the runs that wait for one. */
export interface WaitMatches {
  /** `payload` is the JSON of the delivery. */
  readonly ofDelivery: (event: WebhookEvent, payload: unknown) => RunMatch;
  readonly ofCall: (agent: string, call: CallTrigger) => RunMatch;
  /** The answer to a wait that what was matched met. */
  answer(match: Match<OpenWait>, wait: OpenWait): RequestAnswer<"wait">;
}

export interface WaitMatchesDeps {
  readonly match: Waits<OpenWait>["match"];
  readonly apply: (command: WaitCommand<OpenWait>) => void;
}

export function createWaitMatches({ match, apply }: WaitMatchesDeps): WaitMatches {
  const triggers = new Map<Match<OpenWait>, Readonly<Record<string, unknown>>>();

  const matchRuns = ({ occurrence, trigger: triggerOf }: WaitedFor): RunMatch => {
    const matched = match(occurrence);
    if (matched === null) return { waitingRuns: [], deliver: () => undefined };
    const trigger = triggerOf();
    triggers.set(matched, trigger);
    const waitingRuns = matched.waits.map((wait) => ({
      agent: wait.agent,
      instanceId: wait.instanceId,
      key: wait.key,
      answer: waitAnswer(wait, trigger),
      waitedMs: wait.run.clock.waitedMs(),
      isWaiting: () => wait.run.waits.get(wait.key) === wait,
    }));
    return {
      waitingRuns,
      deliver: (taken) => {
        apply({ type: taken ? "delivered" : "not-delivered", match: matched });
        triggers.delete(matched);
      },
    };
  };
  return {
    ofDelivery: (event, payload) => matchRuns(deliveryAs(event, payload)),
    ofCall: (agent, call) => matchRuns(callAs(agent, call)),
    answer: (matched, wait) => waitAnswer(wait, triggers.get(matched) ?? null),
  };
}
