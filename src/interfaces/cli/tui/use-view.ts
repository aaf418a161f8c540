import { useEffect, useEffectEvent, useRef, useState } from "react";
import type { Observable } from "rxjs";
import { firstView, reduceView } from "./view-state.ts";
import type { Message, ViewAction, ViewSource, ViewState } from "./view-state.ts";
import type { StatusSnapshot } from "../../../../streams/status/wire.ts";

/** How long the last line shows what happened, in ms. */
const messageMs = 6000;

export interface View {
  /** As it is now, between two keys that were read at once too. */
  readonly current: () => ViewState;
  readonly dispatch: (action: ViewAction) => void;
}

/** The view's own memory. Messages go by themselves. */
export function useView(message$: Observable<Message>): View {
  const state = useRef(firstView);
  const [, render] = useState(firstView);
  const dispatch = (action: ViewAction): void => {
    state.current = reduceView(state.current, action);
    render(state.current);
  };
  const show = useEffectEvent((message: Message | null) => dispatch({ type: "message", message }));

  useEffect(() => {
    const messages = message$.subscribe(show);
    return () => messages.unsubscribe();
  }, [message$]);

  const { message } = state.current;
  useEffect(() => {
    if (message === null) return;
    const timer = setTimeout(() => show(null), messageMs);
    return () => clearTimeout(timer);
  }, [message]);
  return { current: () => state.current, dispatch };
}

/** The status as the scheduler holds it, read again on every update. */
export function useStatus(operations: ViewSource["operations"]): StatusSnapshot {
  const [snapshot, setSnapshot] = useState(() => operations.snapshot());
  useEffect(() => {
    const updates = operations.update$.subscribe(() => setSnapshot(operations.snapshot()));
    // What changed between the first look and the subscription.
    setSnapshot(operations.snapshot());
    return () => updates.unsubscribe();
  }, [operations]);
  return snapshot;
}

/** The time, epoch ms, anew every second: the times on the screen are relative to it. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** When runs that are still running are ended, epoch ms; null while the scheduler doesn't stop. */
export function useEndsAt({ operations, graceSeconds }: ViewSource): number | null {
  const isStopping = operations.phase() === "draining";
  const [endsAt, setEndsAt] = useState<number | null>(null);
  useEffect(() => {
    setEndsAt(isStopping ? Date.now() + graceSeconds * 1000 : null);
  }, [isStopping, graceSeconds]);
  return endsAt;
}
