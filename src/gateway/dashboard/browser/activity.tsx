import { render } from "preact";
import type { RecentLog } from "../../../../streams/status/wire.ts";
import { plainText } from "../../../contracts/plain-text.ts";
import { byId } from "./dom.ts";
import { clockTime, exactTime, levelName } from "./format.ts";
import { agentAddress } from "./addresses.ts";

const maxShown = 20;

/** The last log lines across all agents. */
export interface Activity {
  /** A snapshot's lines, and the start of the scheduler that numbers them. */
  begin(startedAt: string, lines: readonly RecentLog[]): void;
  add(lines: readonly RecentLog[]): void;
}

/** Fills the page's list. A line that a snapshot repeats is shown once. */
export function createActivity(): Activity {
  let shown: readonly RecentLog[] = [];
  let countedSince = "";
  const add = (lines: readonly RecentLog[]): void => {
    const lastSeq = shown.at(-1)?.seq ?? -1;
    shown = [...shown, ...lines.filter(({ seq }) => seq > lastSeq)].slice(-maxShown);
    render(shown.map(activityLine), byId("activity"));
    byId("activity-empty").hidden = shown.length > 0;
  };
  return {
    begin(startedAt, lines) {
      // Another scheduler counts anew, and what it begins with holds what is shown.
      if (startedAt !== countedSince) shown = [];
      countedSince = startedAt;
      add(lines);
    },
    add,
  };
}

function activityLine({ seq, time, level, agent, msg }: RecentLog) {
  const at = Date.parse(time);
  return (
    <li key={seq} class={`activity-line ${levelName(level)}`}>
      <time class="muted" title={exactTime(at)} dateTime={time}>
        {clockTime(at)}
      </time>
      <a class="activity-agent" href={`${agentAddress(agent)}/logs`}>
        {agent}
      </a>
      <span class="activity-text">{plainText(msg)}</span>
    </li>
  );
}
