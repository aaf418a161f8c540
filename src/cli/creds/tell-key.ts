import { setTimeout as sleep } from "node:timers/promises";
import { ensureApiKey, regenerateApiKey } from "../../credentials/api-key.ts";
import { homeDir } from "../../credentials/home-dir.ts";
import { UserError } from "../../errors.ts";
import { connect } from "../operator/connect.ts";
import type { Context } from "../context.ts";

export interface KeyOptions {
  readonly check?: true;
  readonly showKey?: true;
  readonly regenerateKey?: true;
}

/**
 * Shows the gateway's API key, or makes another one. A running scheduler takes it up by itself, which is waited for, so
 * that the next command is not refused.
 */
export async function tellKey(
  context: Context,
  { check, showKey, regenerateKey }: KeyOptions,
): Promise<void> {
  const { out, env } = context;
  if (check && regenerateKey) {
    throw new UserError("usage", "--check changes nothing, and --regenerate-key does", {
      exitCode: 2,
    });
  }
  const { key, path } = await (regenerateKey ? regenerateApiKey : ensureApiKey)(homeDir(env));
  const becomes = regenerateKey === true ? await untilInForce(context) : "";
  if (out.json) return out.document({ path, ...(showKey ? { key } : {}) });
  if (showKey) out.data(key);
  else out.data(`new API key in ${path}; ${becomes}`);
}

/** A scheduler looks at the key's file every second; a busy one gets some more, in ms. */
const patienceMs = 5_000;
const lookEveryMs = 100;

const over = "sessions and streams of the old one are over";
const soon = "what runs takes it up in a second, and ends sessions and streams of the old one";

/** Waits until the project's scheduler, if there is one, answers to the new key; says what became of the old one. */
async function untilInForce(context: Context): Promise<string> {
  for (const giveUp = Date.now() + patienceMs; Date.now() < giveUp; await sleep(lookEveryMs)) {
    try {
      await (await connect(context)).get("/control/status");
      return over;
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== "unauthorized") return soon;
    }
  }
  return "the scheduler does not answer to it yet; its log may say why";
}
