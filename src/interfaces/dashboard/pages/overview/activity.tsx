import type { RecentLog } from "../../../../../streams/status/wire.ts";
import { plainText } from "../../../../foundation/contracts/plain-text.ts";
import { useIsLocal } from "../../live/clock.ts";
import { status } from "../../live/status.ts";
import { useStore } from "../../live/store.ts";
import { Panel } from "../../kit/panel.tsx";
import { agentAddress, logAddress, runAddress } from "../../text/addresses.ts";
import { clockTime, exactTime, levelName } from "../../text/format.ts";

/** The latest events of all agents, the newest first; `first` is in the order of the log. */
export function Activity({ first }: { readonly first: readonly RecentLog[] }) {
  const lines = useStore(status, (now) => now?.recentLogs ?? first);
  return (
    <Panel id="recent" title="Recent Activity">
      <ol id="activity">
        {lines.toReversed().map((line) => (
          <ActivityLine line={line} key={line.seq} />
        ))}
      </ol>
      <p class="muted" id="activity-empty" hidden={lines.length > 0}>
        Nothing has happened yet.
      </p>
    </Panel>
  );
}

function ActivityLine({ line }: { readonly line: RecentLog }) {
  const { level, agent, instanceId } = line;
  const text = plainText(line.msg);
  // The scheduler has a log, but no page.
  const address = agent === "scheduler" ? logAddress(agent) : agentAddress(agent);
  return (
    <li class={`activity-line ${levelName(level)}`}>
      <time
        class="muted"
        dateTime={line.time}
        title={useIsLocal() ? exactTime(line.time) : undefined}
      >
        {clockTime(line.time)}
      </time>
      <a class="activity-agent" href={address}>
        {agent}
      </a>
      {instanceId === null ? (
        <span class="activity-text">{text}</span>
      ) : (
        <a class="activity-text" href={runAddress(agent, instanceId)}>
          {text}
        </a>
      )}
    </li>
  );
}
