import { durationText } from "../../../../streams/duration-text.ts";
import { relativeTime } from "../../../foundation/contracts/format.ts";
import { useIsLocal, useTicking } from "../live/clock.ts";
import { exactTime, listTime } from "../text/format.ts";

interface TimeProps {
  /** ISO 8601; null shows the other text. */
  readonly at: string | null;
  /** Two clocks never agree: a past moment is not shown as in the future, nor a future one as past. */
  readonly side?: "past" | "future";
  readonly otherwise?: string;
}

/** A moment as its distance from now, with the exact time as its title. */
export function Time({ at, side = "past", otherwise = "–" }: TimeProps) {
  const isLocal = useIsLocal();
  const text = useTicking((now) => {
    if (at === null) return otherwise;
    const time = Date.parse(at);
    return relativeTime(side === "past" ? Math.min(time, now) : Math.max(time, now), now);
  });
  return (
    <time
      class={at === null ? "muted" : ""}
      dateTime={at ?? undefined}
      title={isLocal && at !== null ? exactTime(at) : undefined}
    >
      {text}
    </time>
  );
}

interface ListTimeProps extends Pick<TimeProps, "side"> {
  /** ISO 8601. */
  readonly at: string;
  readonly class?: string | undefined;
}

/** A moment of a list: the time of day, with its day if that is not today; its distance from now and ISO 8601 as its title. */
export function ListTime({ at, side = "past", class: look }: ListTimeProps) {
  const isLocal = useIsLocal();
  const bound = side === "past" ? Math.min : Math.max;
  const distance = useTicking((now) => relativeTime(bound(Date.parse(at), now), now));
  // The text changes with the day.
  useTicking((now) => new Date(now).toDateString());
  return (
    <time class={look} dateTime={at} title={isLocal ? `${distance} · ${at}` : at}>
      {listTime(at)}
    </time>
  );
}

interface DurationProps {
  readonly ms: number | null;
  /** Start of a running run, ISO 8601. */
  readonly since: string | null;
  readonly otherwise?: string;
}

/** How long a run took, or has taken so far. */
export function Duration({ ms, since, otherwise = "–" }: DurationProps) {
  const text = useTicking((now) => {
    if (since !== null) return durationText(Math.max(0, now - Date.parse(since)));
    return ms === null ? otherwise : durationText(ms);
  });
  return <>{text}</>;
}
