import type { WorkItem } from "../../../streams/vocabulary.ts";
import type {
  Delivery,
  DeliveryAnswer,
  DeliveryCount,
} from "../../../src/features/webhooks/provider.ts";
import type { RefusedDelivery } from "../../../src/features/webhooks/delivery-report.ts";
import type { Acceptance, Accepted, WaitingRun } from "../../../src/foundation/store/receipts.ts";
import type { Store } from "../../../src/foundation/store/store.ts";
import type { WebhookSource } from "../../../src/foundation/config/project-config.ts";
import { createMatchIndex, type MatchIndex } from "../../../src/features/webhooks/match-index.ts";
import { createReceiver, type Receive } from "../../../src/features/webhooks/receive.ts";
import { signDelivery } from "../../../src/features/webhooks/sign.ts";
import { reopened, tempStore } from "../../foundation/store/support.ts";
import { bytes, githubExample } from "./deliveries.ts";

export const start = 1_700_000_000_000;

/** A receiver with a store, which remembers what was accepted, and the order of what happened around it. */
export class TestReceiver {
  readonly happened: string[] = [];
  readonly accepted: Acceptance[] = [];
  readonly dispatched: WorkItem[] = [];
  readonly counted: DeliveryCount[] = [];
  readonly refused: RefusedDelivery[] = [];
  readonly warned: string[] = [];
  readonly index: MatchIndex = createMatchIndex();
  secrets = new Map<string, readonly string[] | Error>([["hub", ["hush"]]]);
  sources: WebhookSource[] = [source("hub")];
  now = start;
  storeFails = false;
  /** The runs that wait for whatever comes, and what they were told of it. */
  waitingRuns: readonly WaitingRun[] = [];
  readonly settled: boolean[] = [];
  #ids = 0;
  #store: Store | null = null;

  /** Agents of these names listen to everything. */
  constructor(...listening: readonly string[]) {
    for (const name of listening) this.listen(name);
  }

  readonly receive: Receive = createReceiver({
    sources: () => this.sources,
    secretsOf: (one) => {
      this.happened.push(`secrets of ${one.name}`);
      const secrets = this.secrets.get(one.name) ?? [];
      if (secrets instanceof Error) throw secrets;
      return secrets;
    },
    index: {
      match: (name, event) => {
        this.happened.push("match");
        return this.index.match(name, event);
      },
    },
    matchRuns: () => ({
      waitingRuns: this.waitingRuns,
      deliver: (taken) => this.settled.push(taken),
    }),
    accept: (acceptance) => this.#accept(acceptance),
    gatheringOf: () => null,
    gathers: () => undefined,
    dispatch: (items) => {
      this.happened.push("dispatch");
      this.dispatched.push(...items);
    },
    count: (delivery) => this.counted.push(delivery),
    refused: (delivery) => this.refused.push(delivery),
    warn: (line) => this.warned.push(line),
    now: () => this.now,
    newId: () => `id-${++this.#ids}`,
  });

  /** Receives a delivery of GitHub. */
  deliver(more?: GithubDelivery): Promise<DeliveryAnswer> {
    return this.receive(github(more));
  }

  /** Opens the store as the next scheduler does. */
  restart(): void {
    this.#store = reopened(this.store);
  }

  get store(): Store {
    return (this.#store ??= tempStore());
  }

  async #accept(acceptance: Acceptance): Promise<Accepted> {
    this.happened.push("accept");
    if (this.storeFails) throw new Error("disk full");
    const accepted = await this.store.receipts.accept(acceptance);
    if (accepted.duplicate) return accepted;
    this.accepted.push(acceptance);
    this.happened.push("committed");
    return accepted;
  }

  listen(name: string, filters: Record<string, readonly string[]> = {}, from = "hub"): void {
    const webhooks = [{ source: from, type: "github", filters }];
    this.index.set({ name, scale: 1, webhooks }, true);
  }
}

export function source(name: string, more: Partial<WebhookSource> = {}): WebhookSource {
  return { name, type: "github", credential: name, allowUnsigned: false, ...more };
}

/** A source that takes unsigned deliveries. */
export const openSource = (name = "open"): WebhookSource =>
  source(name, { credential: null, allowUnsigned: true });

export const issue = bytes(githubExample("issues", "opened"));

/** What is special of a delivery of GitHub; null for no signature. */
interface GithubDelivery {
  readonly secret?: string | null;
  readonly body?: Buffer;
  readonly event?: string;
  readonly id?: string;
  readonly source?: string | null;
}

export function github({
  secret = "hush",
  body = issue,
  event = "issues",
  id = "d1",
  source: from = null,
}: GithubDelivery = {}): Delivery {
  const headers = signDelivery("github", secret ?? "", body, start, { event, id });
  if (secret === null) delete headers["x-hub-signature-256"];
  return { type: "github", source: from, headers, body };
}

export const statusOf = ({ status }: DeliveryAnswer) => status;
