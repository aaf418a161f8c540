import type { Wait, WaitCommand } from "../../../streams/coordination/waits.ts";
import type { Trigger, WebhookEvent } from "../../../streams/vocabulary.ts";
import type { RequestAnswer } from "../../contracts/run-api.ts";
import type { Offer } from "../../contracts/webhook-receipts.ts";
import { callAs, deliveryAs } from "./told.ts";
import type { Told } from "./told.ts";
import { waitAnswer } from "./wait-answer.ts";

export type CallTrigger = Extract<Trigger, { kind: "agent-call" }>;

/** What is about to be committed, offered to the runs that wait for something like it. */
export interface WaitOffers {
  /** `payload` is the JSON of the delivery. */
  ofDelivery(event: WebhookEvent, payload: unknown): Offer;
  ofCall(agent: string, call: CallTrigger): Offer;
  /** Those who wait for what is offered just now. */
  goesTo(waits: readonly Wait[]): void;
  /** What a run is told that takes it. */
  answer(offerId: string, wait: Wait): RequestAnswer<"wait"> | undefined;
}

export interface WaitOffersDeps {
  /** Answered by `goesTo` before it returns, when it is an offer. */
  readonly command: (command: WaitCommand) => void;
  readonly isOpen: (key: string) => boolean;
  /** For how long the clock of a run has stood, in ms. */
  readonly waitedMs: (instanceId: string) => number;
}

export function createWaitOffers({ command, isOpen, waitedMs }: WaitOffersDeps): WaitOffers {
  const triggers = new Map<string, Readonly<Record<string, unknown>>>();
  let offers = 0;
  let waits: readonly Wait[] = [];

  const offer = ({ occurrence, trigger: told }: Told): Offer => {
    const id = String(++offers);
    command({ type: "offer", id, occurrence });
    if (waits.length === 0) return { takers: [], settle: () => undefined };
    const trigger = told();
    triggers.set(id, trigger);
    const takers = waits.map((wait) => ({
      agent: wait.agent,
      instanceId: wait.instanceId,
      key: wait.key,
      answer: waitAnswer(wait, trigger),
      waitedMs: waitedMs(wait.instanceId),
      isWaiting: () => isOpen(wait.key),
    }));
    return {
      takers,
      settle: (taken) => {
        command({ type: taken ? "taken" : "not-taken", id });
        triggers.delete(id);
      },
    };
  };
  return {
    ofDelivery: (event, payload) => offer(deliveryAs(event, payload)),
    ofCall: (agent, call) => offer(callAs(agent, call)),
    goesTo: (to) => {
      waits = to;
    },
    answer: (offerId, wait) => {
      const trigger = triggers.get(offerId);
      return trigger && waitAnswer(wait, trigger);
    },
  };
}
