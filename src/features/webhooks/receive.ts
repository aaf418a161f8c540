import type { Trigger, WebhookEvent, WorkItem } from "../../../streams/vocabulary.ts";
import type { WebhookSource } from "../../foundation/config/project-config.ts";
import type { RefusedDelivery } from "./delivery-report.ts";
import type { GatheringOptions } from "../../foundation/store/gatherings.ts";
import type {
  Acceptance,
  Accepted,
  GatheringDelivery,
  RunMatch,
} from "../../foundation/store/receipts.ts";
import { messageOf } from "../../foundation/errors.ts";
import { acceptanceOf } from "./acceptance.ts";
import { authenticate, type Refusal, type SecretsOf } from "./authenticate.ts";
import { interpret, parseDelivery } from "./interpret.ts";
import type { Payload } from "./json.ts";
import type { MatchIndex } from "./match-index.ts";
import { forSource } from "./provider.ts";
import type { Provider, Request, Delivery, DeliveryAnswer, DeliveryCount } from "./provider.ts";
import { providerTable } from "./providers/table.ts";
import { rateLimitedWarnings } from "../../foundation/contracts/rate-limited-warnings.ts";
import { inTurn } from "../../foundation/contracts/in-turn.ts";
import { JsonSize } from "../../foundation/contracts/json-size.ts";
import { header } from "./signature.ts";

export interface ReceiverDeps {
  /** The current sources of the project. */
  sources(): readonly WebhookSource[];
  readonly secretsOf: SecretsOf;
  readonly index: Pick<MatchIndex, "match">;
  /** Matches a delivery with the runs that wait for one. */
  matchRuns(event: WebhookEvent, payload: Payload): RunMatch;
  /** Adds the concurrency key of an item. */
  readonly keyed?: (item: WorkItem) => WorkItem;
  /** Resolves once everything is durable; rejects when the store fails. */
  accept(acceptance: Acceptance): Promise<Accepted>;
  /** How a delivery gathers for an agent's run; null if it starts its own. */
  readonly gatheringOf: (agent: string, trigger: Trigger) => GatheringOptions | null;
  /** Committed deliveries gather for runs. */
  readonly gathers: (deliveries: readonly GatheringDelivery[]) => void;
  /** Passes committed work to the queues. */
  dispatch(items: readonly WorkItem[]): void;
  count(delivery: DeliveryCount): void;
  /** A delivery that is not stored. */
  refused(delivery: RefusedDelivery): void;
  /** The operator's log; lines are rate-limited and hold no secret, signature or body. */
  warn(message: string): void;
  /** Epoch ms. */
  now(): number;
  /** UUID v7. */
  newId(): string;
}

export type Receive = (delivery: Delivery) => Promise<DeliveryAnswer>;

/** The deps of every step, with warnings that cannot flood the log. */
interface ReceiverContext {
  readonly deps: ReceiverDeps;
  readonly warn: (key: string, message: string) => void;
}

interface VerifiedDelivery {
  readonly provider: Provider;
  readonly source: WebhookSource;
  readonly delivery: Delivery;
}

interface MatchedDelivery {
  readonly acceptance: Acceptance;
  readonly runMatch: RunMatch;
}

/** The same words for every refusal: a stranger learns nothing of sources, secrets or clocks. */
const unverified = "The delivery carries no valid signature for this address.";

const fromPage =
  "A web page sent this. A source with allowUnsigned accepts deliveries from programs only; a source with a credential accepts signed ones.";

/**
 * Processes deliveries in a safe order: signature over the raw bytes, signed time, parse, ping, then receipt, duplicate
 * check and work items in one commit, and only then the answer and the dispatch. Never rejects.
 */
export function createReceiver(deps: ReceiverDeps): Receive {
  const warn = rateLimitedWarnings(
    (message) => deps.warn(message),
    () => deps.now(),
  );
  const context: ReceiverContext = { deps, warn };
  return async (delivery) => {
    const provider = providerTable.get(delivery.type);
    if (provider !== undefined) return receive(context, provider, delivery);
    const unknown = { type: "unknown", source: null, result: "not_found" } as const;
    deps.count(unknown);
    deps.refused({ ...unknown, reason: "the address names an unknown webhook type" });
    return { status: 404, error: "unknown_type", detail: "There is no such webhook type." };
  };
}

async function receive(
  context: ReceiverContext,
  provider: Provider,
  delivery: Delivery,
): Promise<DeliveryAnswer> {
  const { deps } = context;
  const from = await authenticate(provider, delivery, {
    sources: deps.sources(),
    secretsOf: (source) => deps.secretsOf(source),
    now: deps.now(),
  });
  if (!from.ok) return refuse(context, provider, from);
  const { source } = from;
  const verified = { provider: forSource(provider, source), source, delivery };
  const read = await inTurn(source.name, () => readDelivery(context, verified));
  if ("status" in read) return read;
  const answer = await accept(context, source, read);
  const isEmpty = answer.status === 200 && provider.isAnsweredEmpty?.(delivery.headers) === true;
  return isEmpty ? { status: 200, body: null } : answer;
}

/**
 * Reads and matches a delivery, or answers it. Not a part of the async functions around it: they would hold its payload
 * until the commit, and the collector would copy it.
 */
function readDelivery(
  context: ReceiverContext,
  verified: VerifiedDelivery,
): MatchedDelivery | DeliveryAnswer {
  const { provider, source, delivery } = verified;
  const tooMuch = source.credential === null ? whyTooMuch(delivery) : null;
  if (tooMuch !== null) return malformed(context, source, { status: 413, why: tooMuch });
  const parsed = parseDelivery(provider, delivery);
  if (!parsed.ok) return malformed(context, source, { status: 400, why: parsed.why });
  const pong = provider.answerPing?.(parsed.payload, delivery.headers) ?? null;
  if (pong === null) return match(context.deps, verified, parsed.payload);
  const warning = provider.warning?.(parsed.payload) ?? null;
  if (warning !== null) context.warn(`${source.name} notice`, `webhook ${source.name}: ${warning}`);
  context.deps.count({ type: source.type, source: source.name, result: "ping" });
  return { status: 200, body: pong };
}

function refuse(
  { deps, warn }: ReceiverContext,
  { type }: Provider,
  refusal: Refusal,
): DeliveryAnswer {
  const { status, source, why } = refusal;
  const result = (
    { 401: "unverified", 403: "unverified", 404: "not_found", 503: "unavailable" } as const
  )[status];
  warn(`${type} ${status}`, `webhook ${type} refused: ${why}`);
  deps.count({ type, source: null, result });
  deps.refused({ type, source, result, reason: why });
  if (status === 401) return { status, error: "bad_signature", detail: unverified };
  if (status === 403) return { status, error: "foreign_origin", detail: fromPage };
  return status === 404
    ? { status, error: "unknown_source", detail: "No webhook source answers here." }
    : { status, error: "secret_unavailable", detail: "The delivery cannot be checked now." };
}

function malformed(
  { deps, warn }: ReceiverContext,
  source: WebhookSource,
  { status, why }: { readonly status: 400 | 413; readonly why: string },
): DeliveryAnswer {
  const { type, name } = source;
  warn(`${name} malformed`, `webhook ${name} refused: ${why}`);
  deps.count({ type, source: name, result: "malformed" });
  deps.refused({ type, source: name, result: "malformed", reason: why });
  const error = status === 413 ? "too_large" : "malformed";
  return { status, error, detail: `Refused: ${why}.` };
}

async function accept(
  context: ReceiverContext,
  { type, name }: WebhookSource,
  { acceptance, runMatch }: MatchedDelivery,
): Promise<DeliveryAnswer> {
  const { deps, warn } = context;
  const count = (result: DeliveryCount["result"]): void =>
    deps.count({ type, source: name, result });
  const refused = (result: "unavailable" | "duplicate", reason: string): void => {
    count(result);
    deps.refused({ type, source: name, result, reason });
  };
  let accepted: Accepted;
  try {
    accepted = await deps.accept(acceptance);
  } catch (error) {
    runMatch.deliver(false);
    const why = messageOf(error);
    warn("store", `webhook ${name} not stored; the sender should retry: ${why}`);
    refused("unavailable", "it could not be stored");
    return { status: 503, error: "store_unavailable", detail: "It cannot be stored now." };
  }
  runMatch.deliver(!accepted.duplicate);
  if (accepted.duplicate) {
    refused("duplicate", `it was received before, as receipt ${accepted.receiptId}`);
    return { status: 200, body: { receiptId: accepted.receiptId, duplicate: true } };
  }
  const { id } = acceptance.receipt;
  const { matched } = accepted;
  count(matched.length > 0 ? "accepted" : "unmatched");
  dispatch(context, id, accepted);
  return { status: 200, body: { receiptId: id, matched: matched.map((agent) => ({ agent })) } };
}

function match(
  deps: ReceiverDeps,
  { provider, source, delivery }: VerifiedDelivery,
  payload: Payload,
): MatchedDelivery {
  const at = deps.now();
  const { headers } = delivery;
  const read = interpret(
    provider,
    { payload, headers },
    { id: deps.newId(), at, source: source.name },
  );
  const { event, identity } = read;
  const result = deps.index.match(source.name, read);
  const runMatch = deps.matchRuns(event, payload);
  const { waitingRuns } = runMatch;
  const { gatheringOf } = deps;
  const of = { result, waitingRuns, at, gatheringOf };
  const matched = { provider, delivery, payload, event, identity, ...of };
  return { acceptance: acceptanceOf(matched, () => deps.newId(), deps.keyed), runMatch };
}

/** The work is already durable: an error in its dispatch must not make the sender deliver it again. */
function dispatch(
  { deps, warn }: ReceiverContext,
  receiptId: string,
  { queued, gathering }: Extract<Accepted, { duplicate: false }>,
): void {
  try {
    if (queued.length > 0) deps.dispatch(queued);
    if (gathering.length > 0) deps.gathers(gathering);
  } catch (error) {
    warn("dispatch", `webhook receipt ${receiptId} is stored but not started: ${messageOf(error)}`);
  }
}

/** Parsing this many values blocks the process for some 100 ms; 25 MiB of them would block it for seconds. */
const maxValues = 100_000;
/** A form's JSON is percent-encoded, so its values can't be counted as they arrive. */
const maxFormBytes = 1024 * 1024;
const maxFields = 1_000;

/** Why the body of an unsigned source is not parsed, in words for the sender; null when it may be. */
function whyTooMuch({ headers, body }: Request): string | null {
  if (new JsonSize().push(body, maxValues).values > maxValues) {
    return `without a signature, a body may have ${maxValues} JSON values, where a key counts as four`;
  }
  const isForm = /^application\/x-www-form-urlencoded/i.test(header(headers, "content-type") ?? "");
  if (!isForm) return null;
  const text = Buffer.from(body.subarray(0, maxFormBytes)).toString("latin1");
  const fields = text.split("&", maxFields + 1).length;
  return body.length > maxFormBytes || fields > maxFields
    ? `without a signature, a form may have ${maxFormBytes} bytes and ${maxFields} fields`
    : null;
}
