import type { QuestionView } from "../../src/foundation/contracts/question-views.ts";
import type { IsMine } from "../../src/foundation/operation.ts";
import type { fakeAlerts } from "./fake-alerts.ts";

/** Open and dead alerts, and open questions, of the caller's agents. */
export function fakeCounts(
  { open, deliveries }: ReturnType<typeof fakeAlerts>,
  asked: readonly QuestionView[],
  isMine: IsMine,
) {
  const count = (rows: readonly { readonly agent: string | null }[]) =>
    rows.filter(({ agent }) => isMine(agent)).length;
  const dead = count(deliveries.filter((one) => one.state === "dead"));
  const questions = count(asked.filter((one) => one.state === "open"));
  return { alerts: { open: count(open), dead }, questions };
}
