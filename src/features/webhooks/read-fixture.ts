import { UserError } from "../../foundation/errors.ts";
import { interpret, parseDelivery } from "./interpret.ts";
import type { Interpreted } from "./interpret.ts";
import { providerTable } from "./providers/table.ts";
import { signDelivery } from "./sign.ts";

/** A payload from a file. */
export interface Fixture {
  /** As the person named it, for messages. */
  readonly path: string;
  readonly body: Buffer;
  /** The value of the provider's event header; null without. */
  readonly event: string | null;
}

/**
 * Reads a fixture as a delivery to a source would be read, without a signature. Null when it is a ping, which is
 * answered and starts nothing. Throws UserError `no_event` and `unreadable_fixture`.
 */
export function readFixture(
  { path, body, event }: Fixture,
  source: { readonly name: string; readonly type: string },
  now: number,
): Interpreted | null {
  const { type, name } = source;
  checkEvent(type, { path, body, event });
  const provider = providerTable.get(type);
  const headers = signDelivery(type, "unsigned", body, now, event === null ? {} : { event });
  const parsed = provider && parseDelivery(provider, { headers, body });
  if (provider === undefined || !parsed?.ok) {
    const why = parsed?.ok === false ? parsed.why : "its type is unknown";
    throw new UserError("unreadable_fixture", `${path} is no ${type} delivery: ${why}`);
  }
  const { payload } = parsed;
  if ((provider.answerPing?.(payload, headers) ?? null) !== null) return null;
  return interpret(provider, { payload, headers }, { id: "fixture", at: now, source: name });
}

/** Throws UserError `no_event` when only a header names the event of a body. */
export function checkEvent(type: string, { path, event }: Fixture): void {
  const name = providerTable.get(type)?.eventHeader;
  if (name === undefined || event !== null) return;
  throw new UserError(
    "no_event",
    `${path} does not say which event it is; ${type} says it in the header ${name}`,
    {
      hint: `name it with --event, such as --event ${type === "sentry" ? "issue" : "issues"}`,
      exitCode: 2,
    },
  );
}
