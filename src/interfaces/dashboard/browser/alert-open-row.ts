import { topicWords } from "../../../foundation/contracts/alert-words.ts";
import type { OpenAlertView } from "../../../foundation/contracts/alerts-report.ts";
import { create, setText } from "./dom.ts";
import { agentLink } from "./run-parts.ts";
import { createTime } from "./time-cell.ts";
import type { View } from "./views.ts";

/** Makes the row of what is wrong now. */
export function createOpenRow({ agent, topic }: OpenAlertView): View<OpenAlertView> {
  const since = createTime("past");
  const count = create("td", "number");
  const why = create("td", "why");
  const whose = agent === null ? create("span", "muted", "project") : agentLink(agent);
  const element = create(
    "tr",
    "",
    create("td", "what", topicWords[topic]),
    create("td", "", whose),
    create("td", "", since.element),
    count,
    why,
  );
  return {
    elements: () => [element],
    show: (now) => {
      since.show(now.since, "–");
      setText(count, now.count > 1 ? `${now.count} times` : "");
      setText(why, now.reason ?? "");
    },
    tick: (now) => since.tick(now),
  };
}
