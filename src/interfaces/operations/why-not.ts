import type { AgentRecord } from "../../../streams/status/agent-record.ts";
import type { HistoryPage, HistoryQuery } from "../../foundation/contracts/history.ts";
import type {
  RefusedDeliveries,
  RefusedDeliveriesQuery,
} from "../../foundation/contracts/refused-deliveries.ts";
import type { WhyNot, WhyNotQuery } from "../../foundation/contracts/why-not.ts";
import { turnedAway } from "./turned-away.ts";
import type { TurnedAwayDeps } from "./turned-away.ts";

export interface WhyNotDeps {
  readonly store: TurnedAwayDeps["store"] & {
    readonly history: { query(query: HistoryQuery): HistoryPage };
    readonly refused: { query(query: RefusedDeliveriesQuery): readonly RefusedDeliveries[] };
  };
  readonly redactor: { readonly redactValue: (value: unknown) => unknown };
}

/** Why an agent did not run: `now` comes from who knows it. Secrets that are known are redacted. */
export async function whyNot(
  { name, config }: Pick<AgentRecord, "name" | "config">,
  now: readonly string[],
  { since, limit }: WhyNotQuery,
  { store, redactor }: WhyNotDeps,
): Promise<WhyNot> {
  const query = { agent: name, page: 1, limit, since, refused: true } as const;
  const from = since === undefined ? 0 : Date.parse(since);
  const none = { turnedAway: [], lookedBackTo: null };
  const deliveries =
    config === null ? none : await turnedAway(config, { since: from, limit }, { store });
  const sources = new Set(config?.webhooks.map(({ source }) => source));
  const refusedDeliveries = [...sources]
    .flatMap((source) => store.refused.query({ source, since, limit }))
    .sort((a, b) => b.lastAt.localeCompare(a.lastAt))
    .slice(0, limit);
  const { triggers: refused } = store.history.query(query);
  const answer: WhyNot = { now: [...now], refused, ...deliveries, refusedDeliveries };
  return redactor.redactValue(answer) as WhyNot;
}
