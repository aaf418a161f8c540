import type { AccountKey } from "../../foundation/contracts/budget.ts";
import { agentScope } from "../../foundation/contracts/budget.ts";
import type { Ledger } from "./rules/ledger.ts";
import { nanoOfUsd } from "../../foundation/contracts/money.ts";
import type { NanoUsd } from "../../foundation/contracts/money.ts";
import type { SpendStore } from "../../foundation/contracts/spend.ts";

interface RaiseDeps {
  readonly store: Pick<SpendStore, "raise">;
  readonly timezone: () => string;
  /** Instance ids of the agent's runs that are not over. */
  readonly liveRuns: (agent: string) => readonly string[];
  /** Epoch ms. */
  readonly now: () => number;
}

/** Adds to the limits of a scope; resolves with its accounts once that is stored. What can't be stored is taken back. */
export function createRaise(
  ledger: Ledger,
  { store, timezone, liveRuns, now }: RaiseDeps,
): (scope: string, usd: number) => Promise<readonly AccountKey[]> {
  const raiseBy = (scope: string, nano: NanoUsd): readonly AccountKey[] => {
    const runs = scope.startsWith(agentScope(""))
      ? liveRuns(scope.slice(agentScope("").length))
      : [];
    const command = { type: "raise", scope, nano, runs, timezone: timezone() } as const;
    const events = ledger.apply(command, now());
    return events.flatMap((event) => (event.type === "raised" ? event.accounts : []));
  };
  return async (scope, usd) => {
    const nano = nanoOfUsd(usd);
    const accounts = raiseBy(scope, nano);
    try {
      await store.raise(accounts, nano);
    } catch (error) {
      raiseBy(scope, -nano);
      throw error;
    }
    return accounts;
  };
}
