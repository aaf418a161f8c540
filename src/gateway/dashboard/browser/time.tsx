import { useEffect, useState } from "preact/hooks";
import { durationText, relativeTime } from "../../../contracts/format.ts";
import { exactTime } from "./format.ts";
import { isLost } from "./site.ts";

const callbacks = new Set<(now: number) => void>();

setInterval(() => {
  // While the connection is lost, time stands still on the page.
  if (document.visibilityState === "hidden" || isLost()) return;
  for (const callback of callbacks) callback(Date.now());
}, 1000);

/** Calls back with the time, epoch ms, each second in which the page is seen and connected; returns how to stop. */
export function eachSecond(callback: (now: number) => void): () => void {
  callbacks.add(callback);
  return () => void callbacks.delete(callback);
}

/** The time, epoch ms; what uses it is rendered again each second. */
export function useNow(): number {
  const [, render] = useState(0);
  useEffect(() => eachSecond(render), []);
  return Date.now();
}

/**
 * A moment by its distance, with the exact time where the pointer rests. The clocks of scheduler and reader differ: a
 * moment of the past is not shown to come, nor one to come as past.
 */
export function Time(props: { readonly side: "past" | "future"; readonly at: string | null }) {
  const now = useNow();
  if (props.at === null) return <time class="muted">–</time>;
  const time = Date.parse(props.at);
  const shown = props.side === "past" ? Math.min(time, now) : Math.max(time, now);
  return (
    <time dateTime={props.at} title={exactTime(time)}>
      {relativeTime(shown, now)}
    </time>
  );
}

/** How long something took, or has taken so far when it began at `runningSince`. */
export function Duration(props: {
  readonly ms: number | null;
  readonly runningSince: string | null;
}) {
  const now = useNow();
  const { ms, runningSince } = props;
  const shown = runningSince === null ? ms : Math.max(0, now - Date.parse(runningSince));
  return <>{shown === null ? "–" : durationText(shown)}</>;
}
