import { randomUUID } from "node:crypto";
import { UserError } from "../../foundation/errors.ts";
import type { Provider } from "./provider.ts";
import { providerTable } from "./providers/table.ts";

interface SignOptions {
  readonly event?: string;
  readonly id?: string;
}

/**
 * Headers with which a provider of this type would send `body`, signed with `secret` at `now` (epoch ms). `event` goes
 * into the provider's event header, `id` is the delivery id (a random one without). A body that carries its own time
 * must hold a current one, which `atTime` gives it. Throws UserError `unknown_webhook_type`.
 */
export function signDelivery(
  type: string,
  secret: string,
  body: Buffer,
  now: number,
  options: SignOptions = {},
): Record<string, string> {
  const { event = null, id = randomUUID() } = options;
  const signed = providerOf(type).sign({ secret, body, now, id, event });
  return { "content-type": "application/json", ...signed };
}

/** The same without what the secret makes, for a source that takes unsigned deliveries. */
export function unsignedDelivery(
  type: string,
  body: Buffer,
  now: number,
  options: SignOptions = {},
): Record<string, string> {
  const { secretHeaders } = providerOf(type);
  const signed = Object.entries(signDelivery(type, "none", body, now, options));
  return Object.fromEntries(signed.filter(([name]) => !secretHeaders.includes(name)));
}

/** The body with its own time set to `now` (epoch ms), where the provider's bodies carry one; else the same bytes. */
export function atTime(type: string, body: Buffer, now: number): Buffer {
  const dated = providerOf(type).atTime?.(body, now);
  return dated === undefined ? body : Buffer.from(dated);
}

function providerOf(type: string): Provider {
  const provider = providerTable.get(type);
  if (provider !== undefined) return provider;
  throw new UserError("unknown_webhook_type", `there is no webhook type "${type}"`, {
    hint: `use one of ${[...providerTable.keys()].join(", ")}`,
  });
}
