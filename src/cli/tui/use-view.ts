import { useEffect, useEffectEvent, useRef, useState } from "react";
import type { Observable } from "rxjs";
import { firstView, reduceView } from "./view-state.ts";
import type { Message, ViewAction, ViewState } from "./view-state.ts";

/** How long the last line tells what happened, in ms. */
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
  const say = useEffectEvent((message: Message | null) => dispatch({ type: "say", message }));

  useEffect(() => {
    const messages = message$.subscribe(say);
    return () => messages.unsubscribe();
  }, [message$]);

  const { message } = state.current;
  useEffect(() => {
    if (message === null) return;
    const timer = setTimeout(() => say(null), messageMs);
    return () => clearTimeout(timer);
  }, [message]);
  return { current: () => state.current, dispatch };
}
