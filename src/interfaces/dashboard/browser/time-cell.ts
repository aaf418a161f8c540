import { relativeTime } from "../../../foundation/contracts/format.ts";
import { create, setAttribute, setText } from "./dom.ts";
import { exactTime } from "./format.ts";

/** A moment, shown by its distance, with the exact time where the pointer rests. */
export interface TimeCell {
  readonly element: HTMLElement;
  /** ISO 8601, or null to show the other text. */
  show(iso: string | null, otherwise: string): void;
  /** Shows the distance from `now`, epoch ms. */
  tick(now: number): void;
}

/**
 * Makes an empty one. Two clocks never agree: a moment of the past is not shown to come, nor one to come as past.
 */
export function createTime(side: "past" | "future"): TimeCell {
  const element = create("time");
  let time: number | null = null;
  const tick = (now: number): void => {
    if (time === null) return;
    const shown = side === "past" ? Math.min(time, now) : Math.max(time, now);
    setText(element, relativeTime(shown, now));
  };
  return {
    element,
    show(iso, otherwise) {
      time = iso === null ? null : Date.parse(iso);
      setAttribute(element, "datetime", iso);
      setAttribute(element, "title", time === null ? null : exactTime(time));
      element.classList.toggle("muted", time === null);
      if (time === null) setText(element, otherwise);
      else tick(Date.now());
    },
    tick,
  };
}
