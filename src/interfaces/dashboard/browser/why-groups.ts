import { refusalWord, turnedAwayText } from "../../../foundation/contracts/delivery-words.ts";
import type { WhyNot } from "../../../foundation/contracts/why-not.ts";
import { plainText } from "../../../foundation/contracts/plain-text.ts";
import { triggerWords, whyText } from "./trigger-words.ts";

/** What kept an agent from running in the same way, once or many times. */
export interface WhyGroup {
  /** `skipped`, `turned away`, … */
  readonly what: string;
  /** What would have started it. */
  readonly trigger: string;
  readonly why: string;
  readonly count: number;
  /** ISO 8601. */
  readonly lastAt: string;
}

/** The reasons why an agent did not run, the same ones together, the latest first. */
export function whyGroups({ refused, turnedAway, refusedDeliveries }: WhyNot): readonly WhyGroup[] {
  const single: readonly WhyGroup[] = [
    ...refused.map((entry) => ({
      what: entry.outcome ?? "",
      trigger: triggerWords(entry),
      why: whyText(entry),
      count: 1,
      lastAt: entry.at,
    })),
    ...turnedAway.map((delivery) => ({
      what: "turned away",
      trigger: ["webhook", delivery.event, delivery.action].filter(Boolean).join(" "),
      why: plainText(turnedAwayText(delivery)),
      count: 1,
      lastAt: delivery.at,
    })),
    ...refusedDeliveries.map(({ source, type, result, count, lastAt, reason }) => ({
      what: refusalWord(result),
      trigger: `webhook ${source ?? type}`,
      why: plainText(reason),
      count,
      lastAt,
    })),
  ];
  const groups = new Map<string, WhyGroup>();
  for (const one of single) {
    const key = keyOf(one);
    const { count, lastAt } = groups.get(key) ?? { count: 0, lastAt: "" };
    const latest = one.lastAt > lastAt ? one.lastAt : lastAt;
    groups.set(key, { ...one, count: count + one.count, lastAt: latest });
  }
  return [...groups.values()].sort((a, b) => b.lastAt.localeCompare(a.lastAt));
}

/** The same for reasons that are one group. */
export function keyOf({ what, trigger, why }: WhyGroup): string {
  return JSON.stringify([what, trigger, why]);
}
