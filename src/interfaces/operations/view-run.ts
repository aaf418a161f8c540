import { usdOfNano } from "../../foundation/contracts/money.ts";
import type { LogEntry, Trigger } from "../../../streams/vocabulary.ts";
import { kindOf } from "../../foundation/contracts/log-kinds.ts";
import type { LogSource } from "../../foundation/contracts/log-source.ts";
import { OperationError } from "../../foundation/contracts/operations.ts";
import { runEntrySchema } from "../../foundation/contracts/run-view.ts";
import type { RunHost } from "../../foundation/contracts/run-hosts.ts";
import type { RunVersionView, RunView } from "../../foundation/contracts/run-view.ts";
import type { Redactor } from "../../foundation/credentials/redactor.ts";
import type { StoredRun } from "../../foundation/store/runs.ts";
import type { SpendRow } from "../../foundation/store/spend-rows.ts";
import type { Store } from "../../foundation/store/store.ts";

export interface ViewRunDeps {
  readonly store: Pick<Store, "runs" | "spendReport"> & {
    readonly hosts: Pick<Store["hosts"], "flush" | "of">;
    readonly receipts: Pick<Store["receipts"], "get">;
  };
  readonly logs: Pick<LogSource, "read">;
  readonly redactor: Pick<Redactor, "redact" | "redactValue">;
}

/** A run with all that belongs to it, its secrets redacted. Throws OperationError `unknown_instance`. */
export async function viewRun(instanceId: string, deps: ViewRunDeps): Promise<RunView> {
  const { store, redactor } = deps;
  const run = mustHaveRun(instanceId, store);
  const { agent, caller, callId, source } = run.entry;
  const asked = askedFor(run.trigger);
  const redacted = (text: string | null): string | null =>
    text === null ? null : redactor.redact(text);
  return {
    ...runEntrySchema.parse(run.entry),
    instanceId,
    agent: agent ?? "",
    value: redactor.redactValue(run.value),
    lastWords: await lastWords(run.entry, instanceId, deps.logs),
    prompt: redacted(asked.prompt),
    payload: await payloadOf(run.entry.receiptId, deps),
    scheduledFor: asked.scheduledFor,
    spend: spendView(store.spendReport.run(instanceId)),
    version: versionView(run),
    lastSuccess: lastSuccess(run, instanceId, store),
    hosts: [...(await hostsOf(instanceId, store))],
    calls: {
      received:
        callId === null
          ? null
          : {
              callId,
              caller: source,
              callerInstance: caller,
              context: redacted(asked.context),
            },
      made: [...store.runs.callsOf(instanceId)],
    },
  };
}

/** Throws OperationError `unknown_instance`. */
export function mustHaveRun(instanceId: string, store: Pick<Store, "runs">): StoredRun {
  const run = store.runs.find(instanceId);
  if (run !== undefined) return run;
  const message = `there is no run "${instanceId}" in the history`;
  throw new OperationError("unknown_instance", message);
}

/** The version of a run; null for one of an earlier version of the program. */
export function versionView({ entry: { version }, git }: StoredRun): RunVersionView | null {
  if (version === null) return null;
  return { hash: version, commit: git?.commit ?? null, dirty: git?.dirty ?? null };
}

function lastSuccess(
  { entry: { version } }: StoredRun,
  instanceId: string,
  { runs }: Pick<Store, "runs">,
): RunView["lastSuccess"] {
  const earlier = runs.succeededBefore(instanceId);
  if (earlier === null) return null;
  const before = runs.find(earlier)?.entry.version ?? null;
  const isKnown = version !== null && before !== null;
  return { instanceId: earlier, changed: isKnown ? before !== version : null };
}

const maxPayloadChars = 20_000;

async function payloadOf(
  receiptId: string | null,
  { store, redactor }: ViewRunDeps,
): Promise<string | null> {
  if (receiptId === null) return null;
  // It brings every provider along, and most runs have no delivery.
  const { viewReceipt } = await import("../../features/webhooks/receipt-view.ts");
  try {
    const receipt = (id: string) => store.receipts.get(id);
    const { payload, text } = viewReceipt(receiptId, { receipt, redactor });
    return (text ?? JSON.stringify(payload, null, 2)).slice(0, maxPayloadChars);
  } catch (error) {
    if (error instanceof OperationError && error.code === "unknown_receipt") return null;
    throw error;
  }
}

function askedFor(trigger: Trigger | null): Pick<RunView, "prompt" | "scheduledFor"> & {
  readonly context: string | null;
} {
  const none = { prompt: null, scheduledFor: null, context: null };
  switch (trigger?.kind) {
    case "manual":
      return { ...none, prompt: trigger.prompt };
    case "cron":
      return { ...none, scheduledFor: new Date(trigger.scheduledFor).toISOString() };
    case "agent-call":
      return { ...none, context: trigger.context };
    default:
      return none;
  }
}

function spendView({ nano, subscriptionNano, ...counts }: SpendRow): RunView["spend"] {
  const { calls, tokens, unpriced, estimated } = counts;
  return {
    usd: usdOfNano(nano),
    subscriptionUsd: usdOfNano(subscriptionNano),
    calls,
    tokens,
    unpriced,
    estimated,
  };
}

/** With those of the last second. */
async function hostsOf(
  instanceId: string,
  { hosts }: ViewRunDeps["store"],
): Promise<readonly RunHost[]> {
  await hosts.flush();
  return hosts.of(instanceId);
}

/** After the model's last text come the run's own end, its hooks and its usage. */
const lastLines = 200;

/** Lines of logs are redacted when they are written. */
async function lastWords(
  { agent, at, endedAt }: StoredRun["entry"],
  instanceId: string,
  logs: ViewRunDeps["logs"],
): Promise<string | null> {
  const times = { from: Date.parse(at), to: endedAt === null ? Date.now() : Date.parse(endedAt) };
  const lines = await logs.read({ agent, instanceId, lines: lastLines, after: null, times });
  return lines.findLast(({ entry }) => isAnswer(entry))?.entry.msg ?? null;
}

function isAnswer(entry: LogEntry): boolean {
  return kindOf(entry) === "said";
}
