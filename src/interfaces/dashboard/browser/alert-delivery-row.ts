import { attemptsText } from "../../../foundation/contracts/alert-words.ts";
import type { AlertDeliveryView } from "../../../foundation/contracts/alerts-report.ts";
import { create, setAttribute, setText } from "./dom.ts";
import { createRetryButton } from "./alert-retry.ts";
import { runLink } from "./run-parts.ts";
import { createTime } from "./time-cell.ts";
import type { View } from "./views.ts";

const pills: Readonly<Record<AlertDeliveryView["state"], string>> = {
  sent: "good",
  waiting: "held",
  dead: "error",
};

/** Makes the rows of deliveries; `done` is called after one was retried. */
export function createDeliveryRow(
  done: (words: string) => void,
): (first: AlertDeliveryView) => View<AlertDeliveryView> {
  return (first) => {
    const at = createTime("past");
    const title = create("div", "what");
    const why = create("div", "sub");
    const state = create("span");
    const attempts = create("span");
    const next = createTime("future");
    const error = create("td", "why");
    const retry = createRetryButton(first, done);
    const element = create(
      "tr",
      "",
      create("td", "", at.element),
      create("td", "alert", title, why),
      create("td", "", first.target),
      create("td", "state", state, create("div", "sub", attempts, " ", next.element)),
      error,
      create("td", "act", retry),
    );
    return {
      elements: () => [element],
      show: (now) => {
        at.show(now.at, "–");
        title.replaceChildren(now.title, ...runOf(now));
        setText(why, now.reason ?? "");
        setText(state, now.state);
        setAttribute(state, "class", `pill ${pills[now.state]}`);
        setText(attempts, attemptsText(now));
        next.show(now.nextAt, "");
        setText(error, now.state === "sent" ? "" : (now.lastError ?? ""));
        retry.hidden = now.state === "sent" || (now.state === "waiting" && now.attempts === 0);
      },
      tick: (now) => {
        at.tick(now);
        next.tick(now);
      },
    };
  };
}

function runOf({ agent, instanceId }: AlertDeliveryView): readonly (Node | string)[] {
  return agent === null || instanceId === null ? [] : [" ", runLink(agent, instanceId, "run")];
}
