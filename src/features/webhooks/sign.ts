import { randomUUID } from "node:crypto";
import type { WebhookSource } from "../../foundation/config/project-config.ts";
import type { WebhookFormat } from "../../foundation/config/webhook-format.ts";
import { Problem } from "../../foundation/errors.ts";
import { forSource, type Provider } from "./provider.ts";
import { providerTable } from "./providers/table.ts";
import { interpret, parseDelivery, type Interpreted } from "./interpret.ts";

/** A type of source, or a source, whose own keys may say how its sender signs. */
type Signer = string | (WebhookFormat & { readonly type: string });

interface SignOptions {
  readonly event?: string;
  readonly id?: string;
}

/**
 * Headers with which the provider would send `body`, signed with `secret` at `now` (epoch ms). `event` goes
 * into the provider's event header, `id` is the delivery id (a random one without). A body that carries its own time
 * must hold a current one, which `atTime` gives it. Throws Problem `unknown_webhook_type`.
 */
export function signDelivery(
  signer: Signer,
  secret: string,
  body: Buffer,
  now: number,
  options: SignOptions = {},
): Record<string, string> {
  const { event = null, id = randomUUID() } = options;
  const signed = providerOf(signer).sign({ secret, body, now, id, event });
  return { "content-type": "application/json", ...signed };
}

/** The delivery without signature headers, for a source that takes unsigned deliveries. */
export function unsignedDelivery(
  signer: Signer,
  body: Buffer,
  now: number,
  options: SignOptions = {},
): Record<string, string> {
  const { secretHeaders } = providerOf(signer);
  const signed = Object.entries(signDelivery(signer, "none", body, now, options));
  return Object.fromEntries(signed.filter(([name]) => !secretHeaders.includes(name)));
}

/** The body with its own time set to `now` (epoch ms), where the provider's bodies carry one; else the same bytes. */
export function atTime(signer: Signer, body: Buffer, now: number): Buffer {
  const dated = providerOf(signer).atTime?.(body, now);
  return dated === undefined ? body : Buffer.from(dated);
}

function providerOf(signer: Signer): Provider {
  const source = typeof signer === "string" ? { type: signer } : signer;
  const { type } = source;
  const provider = providerTable.get(type);
  if (provider !== undefined) return forSource(provider, source);
  throw new Problem(
    "unknown_webhook_type",
    `there is no webhook type "${type}"`,
    `use one of ${[...providerTable.keys()].join(", ")}`,
  );
}

/** A payload from a file. */
export interface Fixture {
  /** The path as the person wrote it, for messages. */
  readonly path: string;
  readonly body: Buffer;
  /** The value of the provider's event header; null without. */
  readonly event: string | null;
}

/**
 * Reads a fixture as a delivery to a source, without a signature. Null for a ping, which is answered and starts nothing.
 * Throws Problem `no_event` and `unreadable_fixture`.
 */
export function readFixture(
  { path, body, event }: Fixture,
  source: WebhookSource,
  now: number,
): Interpreted | null {
  const { type, name } = source;
  const provider = providerOf(source);
  checkEvent(source, { path, body, event });
  const headers = signDelivery(source, "unsigned", body, now, event === null ? {} : { event });
  const parsed = parseDelivery(provider, { headers, body });
  if (!parsed.ok) {
    throw new Problem("unreadable_fixture", `${path} is not a ${type} delivery: ${parsed.why}`);
  }
  const { payload } = parsed;
  if ((provider.answerPing?.(payload, headers) ?? null) !== null) return null;
  return interpret(provider, { payload, headers }, { id: "fixture", at: now, source: name });
}

/** Throws Problem `no_event` when the body's event is only in a header. */
export function checkEvent(source: WebhookSource, { path, event }: Fixture): void {
  const { eventHeader: name, exampleEvent = "issues" } = providerOf(source);
  if (name === undefined || event !== null) return;
  const { type } = source;
  throw new Problem(
    "no_event",
    `${path} does not name its event; ${type} sends it in the header ${name}`,
    {
      hint: `name it with --event, such as --event ${exampleEvent}`,
      exitCode: 2,
    },
  );
}
