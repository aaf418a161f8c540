import type { AlertOptions, AlertTarget, QuietHours } from "../../../../streams/alert-options.ts";
import type { Alert, Delivery, RuleState } from "../../../foundation/contracts/alert.ts";
import { alertOf, digestSchema, joined, newDigest } from "./digest.ts";
import type { Digest } from "./digest.ts";
import { causeOf } from "./reason-line.ts";
import { parsedState } from "./rule-states.ts";
import { createStormGate, stormMs } from "./storm-gate.ts";
import type { MachineContext } from "../../../../streams/machine.ts";
import { momentsOf, shownAt } from "../../../../streams/wall-time.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** When the quiet hours end that a moment is in, both epoch ms, by a clock in `timezone` (IANA name); null outside. */
export function quietEnd(
  quiet: QuietHours | null,
  moment: number,
  timezone: string,
): number | null {
  if (quiet === null) return null;
  const shown = shownAt(moment, timezone);
  const ofDay = shown % dayMs;
  const [from, until] = [quiet.from * minuteMs, quiet.until * minuteMs];
  if (!isBetween(ofDay, from, until)) return null;
  const ends = shown - ofDay + until + (ofDay < until ? 0 : dayMs);
  const { first, second } = momentsOf(ends, timezone);
  // Where the clock is turned back, its first end may be over.
  return first > moment ? first : second;
}

/** Over midnight when `from` is the later one. */
function isBetween(time: number, from: number, until: number): boolean {
  return from <= until ? from <= time && time < until : from <= time || time < until;
}

export interface DigestDeps extends Pick<MachineContext<never>, "timers" | "now"> {
  /** What an earlier scheduler knew. */
  readonly states: readonly RuleState[];
  readonly optionsOf: (agent: string | null) => AlertOptions;
  readonly targets: () => readonly AlertTarget[];
  readonly timezone: () => string;
  readonly newId: () => string;
  readonly save: (state: RuleState) => void;
  readonly deliver: (delivery: Delivery) => void;
}

export interface Digests {
  /** An alert on its way to its targets: by itself, or in the digest of a storm or of quiet hours. */
  send(alert: Alert): void;
  /** Quiet hours may be others: a digest that is due earlier by these is sent earlier. */
  reschedule(): void;
}

const rulePrefix = "digest:";

interface Growing {
  readonly digest: Digest;
  readonly cancelTimer: () => void;
}

/**
 * One digest at most grows for each target; each change of it replaces its delivery.
 *
 *     alerts:   ─aaaaaaa──a────────a─     a minute's storm begins with the sixth
 *     sent:     ─aaaaa─────────(3)─a─
 */
export function createDigests(deps: DigestDeps): Digests {
  const { timers, now, newId, save, deliver } = deps;
  const byTarget = new Map<string, Growing>();
  const isStorm = createStormGate();

  const quietUntil = ({ quietHours }: AlertTarget, time: number): number | null =>
    quietEnd(quietHours, time, deps.timezone());
  const dueFor = (target: AlertTarget): number => {
    const due = quietUntil(target, now()) ?? now() + stormMs;
    return quietUntil(target, due) ?? due;
  };
  const close = (target: string): void => {
    byTarget.delete(target);
    save({ agent: "", rule: `${rulePrefix}${target}`, value: null });
  };
  const grow = (target: string, digest: Digest): void => {
    byTarget.get(target)?.cancelTimer();
    const cancelTimer = timers.at(digest.dueAt, () => close(target));
    byTarget.set(target, { digest, cancelTimer });
  };
  const put = (target: string, digest: Digest): void => {
    grow(target, digest);
    save({ agent: "", rule: `${rulePrefix}${target}`, value: JSON.stringify(digest) });
    const { id, first, dueAt } = digest;
    deliver({ id, at: first.at, target, alert: alertOf(digest, now()), nextAt: dueAt });
  };
  const join = (target: AlertTarget, alert: Alert, cause: string): void => {
    const { digest } = byTarget.get(target.name) ?? { digest: null };
    const isGrowing = digest !== null && digest.dueAt > now();
    const dueAt = dueFor(target);
    const next = isGrowing
      ? joined(sooner(digest, dueAt), alert, cause)
      : newDigest(newId(), dueAt, alert, cause);
    put(target.name, next);
  };

  for (const { rule, value } of deps.states) {
    const digest = rule.startsWith(rulePrefix) ? parsedState(digestSchema, value) : null;
    if (digest !== null) grow(rule.slice(rulePrefix.length), digest);
  }

  return {
    send: (alert) => {
      const { to } = deps.optionsOf(alert.agent);
      const targets = deps.targets().filter(({ name }) => to === null || to.includes(name));
      if (targets.length === 0) return;
      const cause = causeOf(alert);
      const isPartOfStorm = isStorm(cause, now());
      for (const target of targets) {
        if (isPartOfStorm || quietUntil(target, now()) !== null) join(target, alert, cause);
        else deliver({ id: newId(), at: now(), target: target.name, alert, nextAt: now() });
      }
    },
    reschedule: () => {
      for (const target of deps.targets()) {
        const digest = byTarget.get(target.name)?.digest;
        if (digest !== undefined && digest.dueAt > now())
          put(target.name, sooner(digest, dueFor(target)));
      }
    },
  };
}

/** Quiet hours may have been changed since it began, or the clock been set back. */
function sooner(digest: Digest, dueAt: number): Digest {
  return dueAt < digest.dueAt ? { ...digest, dueAt } : digest;
}
