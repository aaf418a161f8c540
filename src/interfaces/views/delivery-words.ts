import type { DeliveryRefusal, TurnedAway } from "../../features/webhooks/delivery-report.ts";

/** One word for a table of refused deliveries. */
export function refusalWord(result: DeliveryRefusal): "duplicate" | "refused" {
  return result === "duplicate" ? result : "refused";
}

/** Why a delivery was rejected: `repos: wants acme/x, got acme/y`. Alternatives are joined by "or". */
export function turnedAwayText({ stoppedBy }: Pick<TurnedAway, "stoppedBy">): string {
  if (stoppedBy.length === 0) return "its filters have changed since, and accept it now";
  const entries = stoppedBy.map((mismatches) =>
    mismatches
      .map(({ condition, wanted, got }) => `${condition}: wants ${wanted}, got ${got}`)
      .join(" and "),
  );
  return [...new Set(entries)].join("; or ");
}
