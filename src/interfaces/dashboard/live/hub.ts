import type { StatusSnapshot, StatusUpdate } from "../../../../streams/status/wire.ts";
import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { withQuery } from "../text/addresses.ts";
import { applyUpdate } from "./apply-update.ts";

export type LiveState = "connecting" | "live" | "lost";

/** A log that a page follows. */
export interface FollowedLog {
  /** Names it among the page's logs. */
  readonly number: number;
  /** The parameters of its stream; `after` moves on with each line. */
  readonly query: Record<string, string | number | null>;
}

/** A line of the log with that number. */
interface FollowedLine {
  readonly number: number;
  readonly position: string;
  readonly entry: LogEntry;
}

/**
 * From a page: it follows the status and these logs from now on, or nothing; or the machine lost its network, over which
 * it receives nothing, not even an end, or has it again; or it asks whether the hub is there.
 */
export type PageMessage = readonly FollowedLog[] | null | "offline" | "online" | "there?";

/** To a page. */
export type HubMessage =
  | { readonly type: "state"; readonly state: LiveState }
  | { readonly type: "snapshot"; readonly snapshot: StatusSnapshot }
  | { readonly type: "update"; readonly update: StatusUpdate }
  | { readonly type: "lines"; readonly lines: readonly FollowedLine[] }
  /** The address of a stream has no room for its logs beside those of other pages: it needs a hub of its own. */
  | { readonly type: "alone" }
  | { readonly type: "logged-out" };

/** A page that follows the status and some logs, by its way to receive. */
export type FollowingPage = (message: HubMessage) => void;

const retryMs = 2_000;
/** After this time without an event the gateway is probed: the stream of a scheduler that hangs does not end. */
const silentMs = 20_000;
const answerMs = 5_000;
/** A message for each of many lines would be a rendering for each. */
const gatherMs = 20;

/**
 * Follows the status and logs over one stream, over lost connections and restarts, for pages of one browser: all of them
 * in a SharedWorker, or one in itself. `api` is the address that the stream's own is relative to; the logs of all pages
 * take at most `mostLength` characters of it.
 */
export function createHub(api: string, mostLength = Infinity) {
  const pages = new Map<FollowingPage, readonly FollowedLog[]>();
  /** Pages that have the status as of the last event. */
  const current = new Set<FollowingPage>();
  let source: EventSource | null = null;
  /** The stream before, until this one is open: with both, the gateway knows which changes are missed. */
  let last: EventSource | null = null;
  let snapshot: StatusSnapshot | null = null;
  let statusId = "";
  let state: LiveState = "connecting";
  let isReceived = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const sendLine = gatherLines();
  const send = (message: HubMessage): void => {
    for (const page of pages.keys()) page(message);
  };
  const setState = (next: LiveState): void => {
    state = next;
    send({ type: "state", state });
  };
  const sendStatus = (page: FollowingPage, update: StatusUpdate | null): void => {
    if (snapshot === null) return;
    if (update !== null && current.has(page)) return page({ type: "update", update });
    current.add(page);
    page({ type: "snapshot", snapshot });
  };
  const close = (): void => {
    clearTimeout(timer);
    last?.close();
    source?.close();
    last = source = null;
  };
  const openIn = (ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(open, ms);
  };
  const lose = (): void => {
    close();
    setState("lost");
    // Retried later: a page that logs out has to leave first.
    timer = setTimeout(() => void retry(), retryMs);
  };
  const retry = async (): Promise<void> => {
    const status = await probe(api);
    if (source !== null) return;
    if (status === 401) send({ type: "logged-out" });
    else if (status === 0 || status >= 500) lose();
    else open();
  };
  const open = (): void => {
    if (pages.size === 0) {
      state = "connecting";
      return close();
    }
    const { logs, query } = fittingLogs(pages, mostLength);
    if (snapshot !== null) query.set("since", statusId);
    const opened = new EventSource(`${api}status-stream?${query.toString()}`);
    // An origin has six connections: one that did not open yet is given up.
    if (source?.readyState === 1) {
      last?.close();
      last = source;
    } else source?.close();
    source = opened;
    const on = (event: string, handle: (data: string, id: string) => void): void =>
      opened.addEventListener(event, (received) => {
        // The next stream repeats the events that this one sends meanwhile.
        if (source !== opened) return;
        isReceived = true;
        const { data, lastEventId } = received as MessageEvent<string>;
        handle(data, lastEventId);
      });
    on("open", () => {
      last?.close();
      setState("live");
    });
    // The browser's own reconnect would request lines again that it already received.
    on("error", lose);
    on("snapshot", (data, id) => {
      [snapshot, statusId] = [JSON.parse(data) as StatusSnapshot, id];
      current.clear();
      for (const page of pages.keys()) sendStatus(page, null);
    });
    on("update", (data, id) => {
      const update = JSON.parse(data) as StatusUpdate;
      [snapshot, statusId] = [snapshot && applyUpdate(snapshot, update), id];
      for (const page of pages.keys()) sendStatus(page, update);
    });
    logs.forEach(({ page, log: { number, query: asked } }, index) =>
      on(`log-${index}`, (data, position) => {
        asked.after = position;
        sendLine(page, { number, position, entry: JSON.parse(data) as LogEntry });
      }),
    );
  };

  setInterval(() => {
    const [wasReceived, watched] = [isReceived, source];
    isReceived = false;
    if (wasReceived || watched?.readyState !== 1) return;
    void probe(api).then((status) => {
      const isThere = (status > 0 && status < 500 && status !== 401) || isReceived;
      if (!isThere && source === watched) lose();
    });
  }, silentMs);
  const follow = (page: FollowingPage, logs: readonly FollowedLog[] | null): void => {
    const known = pages.get(page) ?? [];
    const isSame = known.length + (logs?.length ?? 0) === 0;
    if (logs === null) {
      pages.delete(page);
      current.delete(page);
    } else {
      // The positions of logs that the page already followed may have advanced since its request.
      pages.set(
        page,
        logs.map((log) => known.find(({ number }) => number === log.number) ?? log),
      );
      page({ type: "state", state });
      if (state === "live" && !current.has(page)) sendStatus(page, null);
    }
    // Pages that follow only the status need no new stream.
    if (!isSame || source === null || pages.size === 0) openIn(0);
  };
  return {
    receive: (page: FollowingPage, message: PageMessage): void => {
      if (message === "there?") return page({ type: "state", state });
      if (message === "online") return openIn(0);
      if (message !== "offline") return follow(page, message);
      close();
      setState("lost");
    },
  };
}

/** Sends the lines of logs to their pages: those of a moment together. */
function gatherLines(): (page: FollowingPage, line: FollowedLine) => void {
  const gathered = new Map<FollowingPage, FollowedLine[]>();
  const send = (): void => {
    for (const [page, lines] of gathered) page({ type: "lines", lines });
    gathered.clear();
  };
  return (page, line) => {
    if (gathered.size === 0) setTimeout(send, gatherMs);
    const lines = gathered.get(page) ?? [];
    lines.push(line);
    gathered.set(page, lines);
  };
}

/** The logs that an address has room for, and their part of it. A page of others is told, and soon follows nothing. */
function fittingLogs(pages: ReadonlyMap<FollowingPage, readonly FollowedLog[]>, most: number) {
  let query = new URLSearchParams();
  const logs: { readonly page: FollowingPage; readonly log: FollowedLog }[] = [];
  for (const [page, followed] of pages) {
    const longer = new URLSearchParams(query);
    for (const log of followed) longer.append("log", textOf(log));
    if (longer.toString().length > most) page({ type: "alone" });
    else {
      query = longer;
      logs.push(...followed.map((log) => ({ page, log })));
    }
  }
  return { logs, query };
}

/** The parameters of a log's stream, with letters that only the address they become part of encodes. */
function textOf({ query }: FollowedLog): string {
  return withQuery("", query).replace(/(?:%[89A-F][0-9A-F])+/g, decodeURIComponent);
}

/** The status of the gateway's response to a question that prolongs no session; 0 without one. */
async function probe(api: string): Promise<number> {
  try {
    const init = { method: "HEAD", signal: AbortSignal.timeout(answerMs) };
    return (await fetch(`${api}scheduler`, init)).status;
  } catch {
    return 0;
  }
}
