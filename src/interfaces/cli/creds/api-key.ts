import { setTimeout as sleep } from "node:timers/promises";
import { ensureApiKey, regenerateApiKey } from "../../../foundation/credentials/api-key.ts";
import { homeDir } from "../../../foundation/credentials/read-secret.ts";
import { UserError } from "../../../foundation/errors.ts";
import { connect } from "../operator/connect.ts";
import type { Context } from "../context.ts";

export interface KeyOptions {
  readonly check?: true;
  readonly showKey?: true;
  readonly regenerateKey?: true;
}

/**
 * Shows the gateway's API key, or makes another one. Waits until a running scheduler uses it, so that the next command
 * is accepted.
 */
export async function showKey(
  context: Context,
  { check, showKey, regenerateKey }: KeyOptions,
): Promise<void> {
  const { out, env } = context;
  if (check && regenerateKey) {
    throw new UserError("usage", "--check changes nothing, and --regenerate-key does");
  }
  const { key, path } = await (regenerateKey ? regenerateApiKey : ensureApiKey)(homeDir(env));
  const becomes = regenerateKey === true ? await untilActive(context) : "";
  if (out.json) return out.document({ path, ...(showKey ? { key } : {}) });
  if (showKey) out.data(key);
  else out.data(`new API key in ${path}; ${becomes}`);
}

/** A scheduler reads the key's file every second; a busy one gets more time, in ms. */
const timeoutMs = 5_000;
const pollMs = 100;

const over = "sessions and streams of the old one are over";
const soon =
  "a running scheduler picks it up within a second and ends sessions that used the old key";

/** Waits until the project's scheduler, if any, accepts the new key; returns the state of the old one. */
async function untilActive(context: Context): Promise<string> {
  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(pollMs)) {
    try {
      await (await connect(context)).get("/control/status");
      return over;
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== "unauthorized") return soon;
    }
  }
  return "the scheduler does not answer to it yet; its log may say why";
}
