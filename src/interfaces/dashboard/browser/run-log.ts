import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { lineAddress, logAddress, withQuery } from "./addresses.ts";
import { byId, setText } from "./dom.ts";
import { createFollow } from "./follow.ts";
import { openLive } from "./live.ts";
import { wireCopy } from "./log-copy.ts";
import { createLogView } from "./log-view.ts";
import type { PlacedEntry } from "./log-view.ts";

/** The log of a run on its page. */
export interface RunLog {
  /** The run has ended: what it logged at its end is still waited for, then the stream is closed. */
  end(): void;
}

/** The last lines; the log page has all. */
const shownLines = 200;
/** The first lines of a long log take their time; then the page gives its connection back. */
const lastLinesMs = 15_000;
const emptyMs = 1_000;

/** Shows the last lines of a run's log, and new ones while it runs. */
export function openRunLog(agent: string, instance: string): RunLog {
  const box = byId("log");
  const view = createLogView(box, {
    run: (id) => logAddress(agent, id),
    line: (position) => lineAddress(agent, position, instance),
  });
  const follow = createFollow(box, () => undefined);
  let waiting: PlacedEntry[] = [];
  let isEnded = false;
  const flush = (): void => {
    view.add(waiting);
    waiting = [];
    showNote();
    follow.contentChanged();
  };
  const showNote = (): void => {
    const isEmpty = view.count() === 0;
    box.hidden = isEmpty;
    byId("log-empty").hidden = !isEmpty;
    const nothing = "No lines: it logged nothing, or its log is no longer kept.";
    setText(byId("log-empty"), isEnded ? nothing : "No lines yet.");
    const isCut = view.count() >= shownLines;
    setText(byId("log-note"), isCut ? `From the last ${shownLines} lines on.` : "");
  };
  wireCopy(box);
  const live = openLive({
    url: (lastId) => streamUrl(agent, instance, lastId),
    on: {
      log: (data, position) => {
        waiting.push({ position, entry: JSON.parse(data) as LogEntry });
        if (waiting.length === 1) requestAnimationFrame(flush);
      },
    },
    onState: () => undefined,
  });
  return {
    end: () => {
      if (isEnded) return;
      isEnded = true;
      setTimeout(showNote, emptyMs);
      setTimeout(() => live.close(), lastLinesMs);
    },
  };
}

function streamUrl(agent: string, instance: string, lastId: string): string {
  const path = `/dashboard/api/logs/${encodeURIComponent(agent)}/stream`;
  return withQuery(path, { instance, lines: shownLines, after: lastId });
}
