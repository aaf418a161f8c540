import type { WebhookSource } from "../../../foundation/config/project-config.ts";
import { randomUUID } from "node:crypto";
import { noAnswer } from "../../../features/webhooks/setup/hook-api.ts";
import { withoutEndSlashes } from "../../../foundation/contracts/plain-text.ts";
import { webhookSecretType } from "../../../foundation/credentials/credential-types.ts";
import { homeDir } from "../../../foundation/credentials/read-secret.ts";
import { loadCredential } from "../../../foundation/credentials/load-credential.ts";
import { Problem, usageError } from "../../../foundation/errors.ts";
import { readSchedulerInfo } from "../../../foundation/store/project-lock.ts";
import type { Fixture } from "../../../features/webhooks/sign.ts";
import {
  atTime,
  signDelivery,
  unsignedDelivery,
  checkEvent,
} from "../../../features/webhooks/sign.ts";
import { connect, notRunning } from "../operator/connect.ts";
import type { Context } from "../context.ts";
import { plainLine } from "../terminal/format.ts";
import { readFixtureFile, sourceFor, type FixtureOptions } from "./webhook-fixture.ts";

export interface SendOptions extends FixtureOptions {
  /** Address of a gateway instead of the running one's. */
  readonly url?: string;
  /** The provider's id of the delivery instead of a new one. */
  readonly delivery?: string;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** How long a gateway may take to answer, in ms. */
const timeoutMs = 15_000;

/** Signs a payload as its provider would, posts it to the gateway and prints its answer. */
export async function sendWebhook(
  context: Context,
  path: string,
  options: SendOptions,
): Promise<void> {
  const { out } = context;
  const { source } = await sourceFor(context, options);
  const fixture = await readFixtureFile(path, options);
  checkEvent(source, fixture);
  const url = `${gatewayOf(context, options)}/webhooks/${source.type}/${encodeURIComponent(source.name)}`;
  const body = atTime(source, fixture.body, Date.now());
  const headers = await headersFor(context, source, { ...fixture, body }, options);
  const answer = await post(url, headers, body);
  if (answer.status !== 200) throw refused(url, answer);
  const receipt = options.url === undefined ? await receiptOf(context, answer.body) : null;
  out.answer({ url, ...answer, receipt }, `200 from ${url}`);
  out.data(describe(answer.body, receipt));
}

function gatewayOf(context: Context, { url }: SendOptions): string {
  if (url !== undefined) return checkedUrl(url);
  const info = readSchedulerInfo(context.projectDir);
  if (info === null) throw notRunning(context.projectDir);
  if (info.gatewayUrl !== null) return info.gatewayUrl;
  throw new Problem(
    "no_gateway",
    "the scheduler does not listen on TCP yet",
    "It listens once config.toml has a [webhooks.<source>]. Then run the command again.",
  );
}

function checkedUrl(url: string): string {
  if (URL.canParse(url) && /^https?:/i.test(url)) return withoutEndSlashes(url);
  throw usageError(
    `${JSON.stringify(url)} is not an http address`,
    "Give the gateway's address, such as `--url http://localhost:8080`.",
  );
}

async function headersFor(
  { env }: Context,
  source: WebhookSource,
  { body, event }: Fixture,
  { delivery }: SendOptions,
): Promise<Record<string, string>> {
  const options = { id: delivery ?? randomUUID(), ...(event === null ? {} : { event }) };
  const { type, credential } = source;
  if (credential === null) return unsignedDelivery(source, body, Date.now(), options);
  const { fields } = await loadCredential(homeDir(env), `${webhookSecretType(type)}:${credential}`);
  const secret = fields.secret ?? Object.values(fields)[0] ?? "";
  return signDelivery(source, secret, body, Date.now(), options);
}

async function post(url: string, headers: Record<string, string>, body: Buffer): Promise<Answer> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const init = {
      method: "POST",
      headers,
      body: new Uint8Array(body),
      signal,
      redirect: "manual",
    };
    const answer = await fetch(url, init as RequestInit);
    return { status: answer.status, body: parsed(await answer.text()) };
  } catch (error) {
    const hint = "Run `al stat` to see whether the scheduler runs and where it listens.";
    throw noAnswer(url, error, { hint });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Another program than the gateway answered, as the status shows.
    return text.slice(0, 500);
  }
}

function refused(url: string, { status, body }: Answer): Problem {
  const { error, detail } = (body ?? {}) as Record<string, unknown>;
  const code = typeof error === "string" ? error : "unexpected_answer";
  const why = typeof detail === "string" ? `: ${plainLine(detail)}` : "";
  return new Problem(code, `${url} answered ${status}${why}`, hints[code]);
}

const hints: Readonly<Record<string, string | undefined>> = {
  bad_signature:
    "the gateway's log has the reason; check that it uses the same AL_HOME, and that a source without a credential sets allowUnsigned",
  unknown_source:
    "the running gateway has no such source; check in its log that its config.toml is valid",
};

/** The stored receipt, with the reason if it started nothing; null if the answer names no receipt. */
async function receiptOf(context: Context, answer: unknown): Promise<unknown> {
  const { receiptId } = (answer ?? {}) as { receiptId?: unknown };
  if (typeof receiptId !== "string") return null;
  const client = await connect(context);
  return client.perform("GET /api/stats/webhooks/:receiptId", { receiptId });
}

function describe(answer: unknown, receipt: unknown): string {
  const { receiptId, duplicate, matched } = (answer ?? {}) as Record<string, unknown>;
  if (typeof receiptId !== "string") return plainLine(JSON.stringify(answer));
  const line = (text: string): string => plainLine(`receipt ${receiptId}: ${text}`);
  if (duplicate === true) return line("a duplicate of an earlier delivery; nothing started");
  const agents = (Array.isArray(matched) ? matched : []) as { readonly agent: string }[];
  const { reason } = (receipt ?? {}) as { reason?: unknown };
  const why = typeof reason === "string" ? `; ${reason}` : "";
  const started = agents.map(({ agent }) => agent).join(", ");
  return line(`${started === "" ? "no agent was started" : `work for ${started}`}${why}`);
}
