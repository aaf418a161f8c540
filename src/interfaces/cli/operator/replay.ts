import type { Replayed, ReplayResult } from "../../../foundation/contracts/operator-api.ts";
import { hasCode } from "../../../foundation/errors.ts";
import type { Context } from "../context.ts";
import { plainLine } from "../terminal/format.ts";
import type { Client } from "./client.ts";
import { connect, explained, withAgent } from "./connect.ts";

/** Replays a receipt or a history entry, and prints the outcome. */
export async function replay(
  context: Context,
  id: string,
  { agent }: { readonly agent?: string },
): Promise<void> {
  const { out } = context;
  const client = await connect(context);
  const asked = askFor(client, id, agent);
  const answer = (await explained(asked, ["unknown_receipt", "unknown_trigger"], {
    message: `no receipt or trigger "${id}" in the history`,
    hint: "al history names the receipts and triggers of what did not succeed; al history --json those of all entries",
  })) as ReplayResult;
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

/** Replays a receipt with this id, else the history entry; with `agent` for it only, regardless of its filters. */
async function askFor(client: Client, id: string, agent: string | undefined): Promise<unknown> {
  const receipt = `/api/webhooks/${encodeURIComponent(id)}/replay`;
  if (agent !== undefined) {
    const query = new URLSearchParams({ agent }).toString();
    return withAgent(client, agent, client.post(`${receipt}?${query}`));
  }
  return client.post(receipt).catch((error: unknown) => {
    if (!hasCode(error, "unknown_receipt")) throw error;
    return client.post(`/api/triggers/${encodeURIComponent(id)}/replay`);
  });
}
