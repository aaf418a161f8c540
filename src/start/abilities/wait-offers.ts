import type { Occurrence } from "../../../streams/coordination/condition.ts";
import type { Wait, WaitCommand } from "../../../streams/coordination/waits.ts";
import type { Trigger, WebhookEvent } from "../../../streams/vocabulary.ts";
import type { AbilityAnswer } from "../../contracts/run-channel.ts";
import type { Offer } from "../../contracts/webhook-receipts.ts";
import { callAs, deliveryAs } from "./told.ts";

export type CallTrigger = Extract<Trigger, { kind: "agent-call" }>;

/** What is about to be committed, offered to the runs that wait for something like it. */
export interface WaitOffers {
  /** `payload` is the JSON of the delivery. */
  ofDelivery(event: WebhookEvent, payload: unknown): Offer;
  ofCall(agent: string, call: CallTrigger): Offer;
  /** Those who wait for what is offered just now. */
  goesTo(waits: readonly Wait[]): void;
  /** What a run is told that takes it. */
  answer(offerId: string): AbilityAnswer<"wait"> | undefined;
}

export interface WaitOffersDeps {
  /** Answered by `goesTo` before it returns, when it is an offer. */
  readonly command: (command: WaitCommand) => void;
  readonly isOpen: (key: string) => boolean;
  /** For how long the clock of a run has stood, in ms. */
  readonly waitedMs: (instanceId: string) => number;
}

export function createWaitOffers({ command, isOpen, waitedMs }: WaitOffersDeps): WaitOffers {
  const answers = new Map<string, AbilityAnswer<"wait">>();
  let offers = 0;
  let waits: readonly Wait[] = [];

  const offer = (occurrence: Occurrence, trigger: Record<string, unknown>): Offer => {
    const id = String(++offers);
    command({ type: "offer", id, occurrence });
    const answer: AbilityAnswer<"wait"> = { ok: true, timedOut: false, trigger };
    const takers = waits.map(({ agent, instanceId, key }) => ({
      ...{ agent, instanceId, key, answer },
      waitedMs: waitedMs(instanceId),
      isWaiting: () => isOpen(key),
    }));
    if (takers.length === 0) return { takers, settle: () => undefined };
    answers.set(id, answer);
    return {
      takers,
      settle: (taken) => {
        command({ type: taken ? "taken" : "not-taken", id });
        answers.delete(id);
      },
    };
  };
  return {
    ofDelivery: (event, payload) => {
      const { occurrence, trigger } = deliveryAs(event, payload);
      return offer(occurrence, trigger);
    },
    ofCall: (agent, call) => {
      const { occurrence, trigger } = callAs(agent, call);
      return offer(occurrence, trigger);
    },
    goesTo: (to) => {
      waits = to;
    },
    answer: (offerId) => answers.get(offerId),
  };
}
