import type { WhyNot } from "../../../foundation/contracts/why-not.ts";
import { plainText } from "../../../foundation/contracts/plain-text.ts";
import { fetchJson } from "./api.ts";
import { byId, create, setText, showText } from "./dom.ts";
import { soonOnce } from "./soon-once.ts";
import { createTime } from "./time-cell.ts";
import { createViews } from "./views.ts";
import type { View } from "./views.ts";
import { keyOf, whyGroups } from "./why-groups.ts";
import type { WhyGroup } from "./why-groups.ts";

/** Why an agent did not run. */
export interface AgentWhyView {
  /** Reads it again, soon. */
  read(): void;
  tick(now: number): void;
}

const days = 7;
const dayMs = 86_400_000;
/** How many entries of each kind are read: deliveries are compared with the agent's filters anew. */
const mostEntries = 60;
const maxShown = 12;

/** Fills the page's panel. */
export function createAgentWhy(name: string): AgentWhyView {
  const groups = createViews<WhyGroup>(byId("why-list"), keyOf, createItem);
  const show = (why: WhyNot): void => {
    const found = whyGroups(why);
    groups.show(found.slice(0, maxShown));
    const now = why.now.map((text) => create("li", "", plainText(text)));
    byId("why-now").replaceChildren(...now);
    byId("why-now").hidden = now.length === 0;
    showText("why-note", noteOf(why, found.length));
  };
  const read = soonOnce(async () => {
    const since = new Date(Date.now() - days * dayMs).toISOString();
    const query = new URLSearchParams({ since, limit: String(mostEntries) }).toString();
    const path = `/api/agents/${encodeURIComponent(name)}/why-not?${query}`;
    const fetched = await fetchJson<WhyNot>(path);
    if (fetched.ok) show(fetched.value);
  });
  return { read, tick: groups.tick };
}

function noteOf({ lookedBackTo, now }: WhyNot, count: number): string {
  if (count === 0 && now.length === 0)
    return `Nothing kept it from running in the last ${days} days.`;
  const more = count > maxShown ? [`and ${count - maxShown} more reasons`] : [];
  const back =
    lookedBackTo === null
      ? []
      : [`older deliveries than of ${new Date(lookedBackTo).toLocaleString()} were not looked at`];
  return [...more, ...back].join("; ");
}

function createItem(): View<WhyGroup> {
  const [what, trigger, why] = [create("span", "outcome"), create("span"), create("div", "why")];
  const times = create("span");
  const at = createTime("past");
  const head = create("div", "why-head", what, trigger);
  const element = create("li", "", head, why, create("div", "sub", times, at.element));
  return {
    elements: () => [element],
    show: (group) => {
      setText(what, group.what);
      setText(trigger, group.trigger);
      setText(why, group.why);
      const { count } = group;
      setText(times, count === 1 ? "once · " : `${count.toLocaleString("en")} times · last `);
      at.show(group.lastAt, "–");
    },
    tick: (now) => at.tick(now),
  };
}
