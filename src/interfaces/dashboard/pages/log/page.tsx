import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { AgentStatus } from "../../../../../streams/status/wire.ts";
import { dollars } from "../../../../features/spend/spend-text.ts";
import { counted } from "../../../../foundation/contracts/format.ts";
import type { HistoryPage } from "../../../../foundation/contracts/history.ts";
import { useAgent } from "../../live/agents.ts";
import { showToast } from "../../live/toasts.ts";
import { useDocument, type FirstDocument } from "../../live/use-document.ts";
import type { FirstPart, Side } from "../../log/log-session.ts";
import { useFollow, useLog, emptyText, reachedText, type LogState } from "../../log/use-log.ts";
import { Action } from "../../kit/action.tsx";
import { AgentState, KillRuns, RunAgent } from "../../runs/agent-head.tsx";
import { LogLines } from "../../log/log-lines.tsx";
import { LogToolbar, useSwitch } from "./toolbar.tsx";
import { Failed } from "../../kit/panel.tsx";
import { frameStyles, Notice, Site, type Frame } from "../../kit/site.tsx";
import type { LivePage } from "../../send-page.tsx";
import { agentAddress, lineAddress, triggersAddress, withQuery } from "../../text/addresses.ts";
import { isFiltered, type LogChoice } from "../../kit/list-view.ts";

interface LogData {
  readonly frame: Frame;
  readonly agent: string;
  /** Null for a removed agent, and for the scheduler. */
  readonly status: AgentStatus | null;
  readonly choice: LogChoice;
  /** The agent's last runs. */
  readonly runs: FirstDocument<HistoryPage>;
  /** The lines to begin with; null if finding them takes longer. */
  readonly lines: FirstPart | null;
}

/** The live log of one agent, or of one run of it. */
export const page: LivePage<LogData> = {
  name: "log",
  title: ({ agent }) => `${agent} · log`,
  styles: [...frameStyles, "markdown", "log", "log-row"],
  view: Log,
};

/** The address of the API for the runs that a log can be narrowed to. */
export function logRunsPath(agent: string): string {
  return withQuery("/api/stats/triggers", { agent, limit: 50 });
}

function Log({ frame, agent, choice: firstChoice, ...data }: LogData) {
  const isAgent = agent !== "scheduler";
  const [choice, setChoice] = useState(firstChoice);
  const status = useAgent(agent, data.status);
  const wrap = useSwitch("log-wrap", true);
  const raw = useSwitch("log-raw", false);
  const runs = useDocument(() => logRunsPath(agent), { ...data.runs, agent, isQuiet: true });
  const log = useLog(agent, choice, { first: data.lines });
  const choose = (change: Partial<LogChoice>): void => {
    const next = { ...choice, at: "", ...change };
    setChoice(next);
    history.replaceState(null, "", withQuery(location.pathname, { ...next }));
  };
  const place = usePlace(log, () => choose({}));
  const goTo = (found: string | null | undefined, what: string, matches = {}): void => {
    if (found === null) showToast(`There is no ${what} in this log.`);
    else if (found !== undefined) choose({ at: found, ...matches });
  };
  const toMatch = async (side: Side) =>
    goTo(await log.session.current?.matchBeside(choice.at, side), words[side]);
  const toError = async () =>
    goTo(await log.session.current?.errorPosition(), "error", { q: "", level: "error" });
  const clear = (): void => {
    log.session.current?.clear();
    place.set(true);
  };
  const follow = { isOn: place.isFollowing, toggle: place.toggle };
  return (
    <Site
      frame={frame}
      title={`${agent} · log`}
      heading={
        <>
          {isAgent ? <a href={agentAddress(agent)}>{agent}</a> : agent}{" "}
          <span class="muted">log</span>
        </>
      }
      head={isAgent && <Head name={agent} agent={status} />}
      current={isAgent ? "agents" : null}
      isBelow
      fillsScreen
    >
      <Notice kind="warning" id="line-gone" text={log.isGone ? goneText : null} />
      <Failed failure={log.failure} retry={log.retry} />
      <LogToolbar
        agent={agent}
        choice={choice}
        runs={isAgent ? (runs.value?.triggers ?? []) : null}
        choose={choose}
        toMatch={toMatch}
        toError={toError}
        wrap={wrap}
        raw={raw}
        follow={follow}
        clear={clear}
      />
      <div class="log-box">
        <p
          class="muted"
          id="log-empty"
          role="status"
          hidden={log.lines.length > 0 || log.failure !== ""}
        >
          {emptyText(log, isAgent)}
        </p>
        <LogBox agent={agent} log={log} place={place} isWrapped={wrap.isOn} isRaw={raw.isOn} />
        <button
          class="button primary"
          type="button"
          id="jump"
          hidden={place.isFollowing}
          onClick={place.jump}
        >
          {place.missed <= 0 ? "Jump to the newest" : `${counted(place.missed, "new line")} ↓`}
        </button>
      </div>
    </Site>
  );
}

const words = { before: "earlier match", after: "later match" };
const goneText = "The line of this link is no longer in the log. These are the newest lines.";

/** The place of the reader in the log: at the newest line, or elsewhere. */
function usePlace(log: LogState, toNewest: () => void) {
  const follow = useFollow();
  const seen = useRef(0);
  if (follow.isOn) seen.current = log.received;
  useLayoutEffect(() => {
    if (log.isReading) return;
    const marked = follow.box.current?.querySelector(".marked") ?? null;
    follow.set(marked === null);
    marked?.scrollIntoView({ block: "center" });
  }, [log.choice, log.isReading]);
  const isAtEnd = log.newer === null;
  const isFollowing = follow.isOn && isAtEnd;
  const jump = (): void => {
    if (isAtEnd) follow.set(true);
    else toNewest();
  };
  return {
    ...follow,
    isFollowing,
    /** How many lines came while the reader was elsewhere. */
    missed: log.received - seen.current,
    jump,
    toggle: (): void => {
      if (isFollowing) follow.set(false);
      else jump();
    },
  };
}

function Head({ name, agent }: { readonly name: string; readonly agent: AgentStatus | null }) {
  const { endsAt, usd = 0 } = agent?.spentToday ?? {};
  const isToday = endsAt !== undefined && Date.parse(endsAt) > Date.now();
  return (
    <>
      <AgentState agent={agent} more={isToday ? [`${dollars(usd)} today`] : []} />
      <div class="end" role="group" aria-label="Actions">
        <a class="button" href={triggersAddress(name)}>
          Triggers
        </a>
        <KillRuns name={name} running={agent?.running ?? 0} />
        <RunAgent name={name} agent={agent} />
      </div>
    </>
  );
}

interface LogBoxProps {
  readonly agent: string;
  readonly log: LogState;
  readonly place: ReturnType<typeof usePlace>;
  readonly isWrapped: boolean;
  readonly isRaw: boolean;
}

function LogBox({ agent, log, place, isWrapped, isRaw }: LogBoxProps) {
  const { choice, lines, older, newer, isReading, isSearching, isCleared, session } = log;
  const { box, onScroll, keepPlace, set } = place;
  const { instance, q, level } = choice;
  const links = useMemo(
    () => ({
      run: (id: string) => withQuery(`${agentAddress(agent)}/logs`, { instance: id, q, level }),
      line: (position: string) => lineAddress(agent, position, instance, { q, level }),
    }),
    [choice],
  );
  const hasEarlier = older !== null && !isReading;
  return (
    <div
      id="log"
      class={isWrapped ? "" : "nowrap"}
      role="log"
      aria-live="off"
      aria-label={`Log of ${agent}`}
      tabIndex={0}
      ref={box}
      onScroll={onScroll}
    >
      <div
        class="log-edge"
        id="older-edge"
        hidden={isReading || (!hasEarlier && (lines.length === 0 || isCleared))}
      >
        <Action
          act={async () => session.current?.earlier(keepPlace)}
          id="earlier"
          class="button"
          hidden={!hasEarlier || isSearching}
        >
          {isFiltered(choice) ? "Search earlier lines" : "Earlier lines"}
        </Action>
        <span class="muted" id="reached" role="status">
          {reachedText(log)}
        </span>
      </div>
      <LogLines
        lines={lines}
        links={links}
        isRaw={isRaw}
        sought={q.trim().toLowerCase()}
        marked={choice.at}
      />
      <div class="log-edge" id="newer-edge" hidden={newer === null}>
        <Action
          act={async () => session.current?.later(() => set(false))}
          id="later"
          class="button"
        >
          Later lines
        </Action>
      </div>
    </div>
  );
}
