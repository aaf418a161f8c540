import { setTimeout as sleep } from "node:timers/promises";
import type {
  Replayed,
  ReplayResult,
  ReplayUnmatched,
  UnmatchedDelivery,
  UnmatchedReplay,
} from "../../../foundation/contracts/operator-api.ts";
import { hasCode, usageError } from "../../../foundation/errors.ts";
import type { Context } from "../context.ts";
import { queryTime } from "../options.ts";
import { plainLine } from "../terminal/format.ts";
import type { Client } from "./client.ts";
import { connect, explained, withAgent } from "./connect.ts";

interface ReplayOptions {
  readonly agent?: string;
  readonly unmatched?: true;
  /** Epoch ms. */
  readonly since?: number;
  readonly source?: string;
  readonly dryRun?: boolean;
}

/** Replays a receipt or a history entry, and prints the outcome. */
export async function replay(
  context: Context,
  id: string | undefined,
  options: ReplayOptions,
): Promise<void> {
  const { unmatched, agent } = options;
  const ofUnmatched = [options.since, options.source, options.dryRun];
  const isOneKind =
    unmatched === true
      ? id === undefined && agent === undefined
      : id !== undefined && !ofUnmatched.some((given) => given !== undefined);
  if (!isOneKind) {
    throw usageError(
      "give the ID of a receipt or trigger, or --unmatched with its options",
      "Run `al replay --help` to see how it is used.",
    );
  }
  if (id === undefined) return replayUnmatched(context, options);
  const { out } = context;
  const client = await connect(context);
  const asked = askFor(client, id, agent);
  const answer = await explained(asked, ["unknown_receipt", "unknown_trigger"], {
    message: `no receipt or trigger "${id}" in the history`,
    hint: "Find the id with `al history`. For entries that succeeded, add `--json`.",
  });
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
function askFor(client: Client, id: string, agent: string | undefined): Promise<ReplayResult> {
  const input = { receiptId: id, agent };
  const asked = client.perform("POST /api/webhooks/:receiptId/replay?agent", input);
  if (agent !== undefined) return withAgent(client, agent, asked);
  return asked.catch((error: unknown) => {
    if (!hasCode(error, "unknown_receipt")) throw error;
    return client.perform("POST /api/triggers/:id/replay", { id });
  });
}

/** How long between two requests that start work, and while a queue has no room, in ms. */
const pauseMs = 1_000;

/** Replays the deliveries that matched no agent and match one now, until the last one has its place in a queue. */
async function replayUnmatched(
  context: Context,
  { since, source, dryRun = false }: ReplayOptions,
): Promise<void> {
  const { out } = context;
  const from = queryTime(since);
  if (from === undefined) {
    throw usageError("--unmatched needs --since", "Add `--since 1d`, or a date and time.");
  }
  const client = await connect(context);
  const found: UnmatchedDelivery[] = [];
  for await (const { deliveries } of pages(client, { since: from, source, dryRun }, out.note)) {
    if (!out.json) for (const one of deliveries) out.data(deliveryLine(one));
    found.push(...deliveries);
  }
  if (out.json) out.document({ since: from, deliveries: found });
  else out.note(summary(found.length, dryRun));
  if (found.length === 0 && !dryRun) process.exitCode = 1;
}

/** Asks page by page, at a bounded rate while work is started. */
async function* pages(
  client: Client,
  asked: ReplayUnmatched,
  note: (text: string) => void,
): AsyncGenerator<UnmatchedReplay> {
  const address = "POST /api/webhooks/replay-unmatched";
  let page: UnmatchedReplay = { deliveries: [], next: null, fullQueue: null };
  do {
    const { fullQueue, next } = page;
    const input = next === null ? asked : { ...asked, after: next };
    page = await client.perform(address, input);
    yield page;
    if (page.fullQueue !== null && page.fullQueue !== fullQueue) note(waitText(page.fullQueue));
    const isWork = asked.dryRun !== true && page.deliveries.length > 0 && page.next !== null;
    if (isWork || page.fullQueue !== null) await sleep(pauseMs);
  } while (page.next !== null || page.fullQueue !== null);
}

function deliveryLine({ receiptId, source, event, action, agents }: UnmatchedDelivery): string {
  const what = [source, event, action].filter((part) => part !== null).join(" ");
  return plainLine(`${receiptId} ${what}: ${agents.join(", ")}`);
}

function waitText(agent: string): string {
  return `the queue of ${agent} is half full: the next delivery waits; Ctrl-C stops, and the same command continues`;
}

function summary(count: number, isDryRun: boolean): string {
  if (count === 0) return "no delivery of that time matches an agent that it did not match before";
  const deliveries = count === 1 ? "1 delivery" : `${count} deliveries`;
  return isDryRun ? `${deliveries} would be replayed` : `${deliveries} replayed`;
}
