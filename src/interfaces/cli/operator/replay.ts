import type { Replayed, ReplayResult } from "../../../foundation/contracts/operator-api.ts";
import { UserError } from "../../../foundation/errors.ts";
import type { Context } from "../context.ts";
import { plainLine } from "../terminal/format.ts";
import type { Client } from "./client.ts";
import { connect, withAgent } from "./connect.ts";

export interface ReplayOptions {
  readonly agent?: string;
}

/** Replays a receipt or a history entry, and prints what became of it. */
export async function replay(
  context: Context,
  id: string,
  { agent }: ReplayOptions,
): Promise<void> {
  const { out } = context;
  const client = await connect(context);
  const answer = await (agent === undefined
    ? replayEither(client, id)
    : replayFor(client, id, agent));
  const { matched, reason } = answer;
  if (out.json) out.document(answer);
  else for (const one of matched) out.data(lineOf(one));
  if (matched.some(({ outcome }) => outcome === "started" || outcome === "queued")) return;
  if (!out.json && matched.length === 0) out.note(`nothing ran: ${plainLine(reason ?? "")}`);
  process.exitCode = 1;
}

function lineOf({ agent, outcome, instanceId, reason }: Replayed): string {
  const more = [instanceId, reason === undefined ? undefined : plainLine(reason)];
  return [`${agent} ${outcome}`, ...more.filter((part) => part !== undefined)].join(": ");
}

/** By the receipt of this id, else by the history entry. The error names where ids are found. */
async function replayEither(client: Client, id: string): Promise<ReplayResult> {
  const asked = replayReceipt(client, id, "").catch((error: unknown) => {
    if (!isError(error, "unknown_receipt")) throw error;
    return client.post(`/api/triggers/${encodeURIComponent(id)}/replay`);
  });
  return (await explained(id, asked)) as ReplayResult;
}

/** For one agent, whatever its filters are. */
async function replayFor(client: Client, id: string, agent: string): Promise<ReplayResult> {
  const query = `?${new URLSearchParams({ agent }).toString()}`;
  const asked = withAgent(client, agent, replayReceipt(client, id, query));
  return (await explained(id, asked)) as ReplayResult;
}

function replayReceipt(client: Client, id: string, query: string): Promise<unknown> {
  return client.post(`/api/webhooks/${encodeURIComponent(id)}/replay${query}`);
}

async function explained(id: string, answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (!isError(error, "unknown_receipt") && !isError(error, "unknown_trigger")) throw error;
    const hint =
      "al history names the receipts and triggers of what did not succeed; al history --json those of all entries";
    const message = `no receipt or trigger "${id}" in the history`;
    throw new UserError(error.code, message, { hint, cause: error });
  }
}

function isError(error: unknown, code: string): error is UserError {
  return error instanceof UserError && error.code === code;
}
