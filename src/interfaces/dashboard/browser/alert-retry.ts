import type {
  AlertDeliveryView,
  AlertsRetried,
} from "../../../foundation/contracts/alerts-report.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { onPress, post } from "./actions.ts";
import { askFirst } from "./ask-first.ts";
import { byId, createButton } from "./dom.ts";

/** Makes the button that sends one delivery again, or sooner; `done` is called after it. */
export function createRetryButton(
  { id, target, title }: AlertDeliveryView,
  done: (words: string) => void,
): HTMLElement {
  const button = createButton("link acts", "Retry");
  button.setAttribute("aria-label", `Retry ${title} to ${target}`);
  onPress(button, async () => {
    const answer = await post(`/api/alerts/${encodeURIComponent(id)}/retry`);
    if (answer !== null) done(`${title} is sent to ${target} again`);
  });
  return button;
}

/** The button that sends everything again that was given up. */
export interface RetryAll {
  /** Offers it for so many deliveries. */
  readonly show: (dead: number) => void;
}

export function wireRetryAll(done: (words: string) => void): RetryAll {
  const button = byId("retry-all");
  const asking = askFirst(button, async () => {
    const answer = await post<AlertsRetried>("/api/alerts/retry");
    if (answer !== null) done(`${counted(answer.retried, "dead alert")} sent again`);
  });
  return {
    show: (dead) => {
      button.hidden = dead === 0;
      const text =
        dead === 1 ? "Retry the dead one" : `Retry all ${dead.toLocaleString("en")} dead`;
      asking.show({ text, label: text, question: "Send them again?" });
    },
  };
}
