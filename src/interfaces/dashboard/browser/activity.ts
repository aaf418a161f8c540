import type { RecentLog } from "../../../../streams/status/wire.ts";
import { plainText } from "../../../foundation/contracts/plain-text.ts";
import { agentAddress, logAddress, runAddress } from "./addresses.ts";
import { byId, create, createLink } from "./dom.ts";
import { clockTime, exactTime, levelName } from "./format.ts";

const shownLines = 20;

/** The latest events of all agents, the newest first. */
export interface Activity {
  /** A snapshot's lines, and the start of the scheduler that numbers them. */
  begin(startedAt: string, lines: readonly RecentLog[]): void;
  add(lines: readonly RecentLog[]): void;
}

/** Fills the page's list. A line that a snapshot repeats is shown once. */
export function createActivity(): Activity {
  const list = byId("activity");
  let countedSince = "";
  let lastSeq = -1;
  const add = (lines: readonly RecentLog[]): void => {
    const fresh = lines.filter(({ seq }) => seq > lastSeq);
    lastSeq = fresh.at(-1)?.seq ?? lastSeq;
    list.prepend(...fresh.slice(-shownLines).reverse().map(activityLine));
    while (list.childElementCount > shownLines) list.lastElementChild?.remove();
    byId("activity-empty").hidden = list.childElementCount > 0;
  };
  return {
    begin(startedAt, lines) {
      // Another scheduler counts anew, and what it begins with holds what is shown.
      if (startedAt !== countedSince) {
        list.replaceChildren();
        lastSeq = -1;
      }
      countedSince = startedAt;
      add(lines);
    },
    add,
  };
}

function activityLine({ time, level, agent, instanceId, msg }: RecentLog): HTMLElement {
  const at = create("time", "muted", clockTime(Date.parse(time)));
  at.title = exactTime(Date.parse(time));
  at.dateTime = time;
  // The scheduler has a log, but no page.
  const address = agent === "scheduler" ? logAddress(agent) : agentAddress(agent);
  const name = createLink(address, "activity-agent", agent);
  const text =
    instanceId === null
      ? create("span", "activity-text", plainText(msg))
      : createLink(runAddress(agent, instanceId), "activity-text", plainText(msg));
  return create("li", `activity-line ${levelName(level)}`, at, name, text);
}
