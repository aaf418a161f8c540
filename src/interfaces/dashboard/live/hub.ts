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

export type PageMessage =
  /** The page follows the status and these logs from now on, or nothing. */
  | readonly FollowedLog[]
  | null
  /** The machine lost its network, over which it receives nothing, not even an end, or has it again. */
  | "offline"
  | "online"
  /** Asks whether the hub is there. */
  | "there?";

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
  let snapshot: StatusSnapshot | null = null;
  let statusId = "";
  let state: LiveState = "connecting";
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
  const ofStatus: Handlers = {
    snapshot: (data, id) => {
      [snapshot, statusId] = [JSON.parse(data) as StatusSnapshot, id];
      current.clear();
      for (const page of pages.keys()) sendStatus(page, null);
    },
    update: (data, id) => {
      const update = JSON.parse(data) as StatusUpdate;
      [snapshot, statusId] = [snapshot && applyUpdate(snapshot, update), id];
      for (const page of pages.keys()) sendStatus(page, update);
    },
  };
  const ofLog = ({ page, log: { number, query } }: PageLog, index: number) => {
    const handle: Handlers[string] = (data, position) => {
      query.after = position;
      sendLine(page, { number, position, entry: JSON.parse(data) as LogEntry });
    };
    return [`log-${index}`, handle] as const;
  };
  const lost = (): void => {
    clearTimeout(timer);
    setState("lost");
    // Retried later: a page that logs out has to leave first.
    timer = setTimeout(() => void retry(), retryMs);
  };
  const stream = createStream(api, () => setState("live"), lost);
  const retry = async (): Promise<void> => {
    const status = await probe(api);
    if (stream.isOpen()) return;
    if (status === 401) send({ type: "logged-out" });
    else if (status === 0 || status >= 500) lost();
    else open();
  };
  const open = (): void => {
    if (pages.size === 0) {
      clearTimeout(timer);
      state = "connecting";
      return stream.close();
    }
    const { logs, query } = fittingLogs(pages, mostLength);
    if (snapshot !== null) query.set("since", statusId);
    stream.open(query, { ...ofStatus, ...Object.fromEntries(logs.map(ofLog)) });
  };
  const openSoon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(open);
  };
  const follow = (page: FollowingPage, asked: readonly FollowedLog[] | null): void => {
    const known = pages.get(page) ?? [];
    const isSame = known.length + (asked?.length ?? 0) === 0;
    if (asked === null) {
      pages.delete(page);
      current.delete(page);
    } else {
      // The positions of logs that the page already followed may have advanced since its request.
      pages.set(
        page,
        asked.map((log) => known.find(({ number }) => number === log.number) ?? log),
      );
      page({ type: "state", state });
      if (state === "live" && !current.has(page)) sendStatus(page, null);
    }
    // Pages that follow only the status need no new stream.
    if (!isSame || !stream.isOpen() || pages.size === 0) openSoon();
  };
  return {
    receive: (page: FollowingPage, message: PageMessage): void => {
      if (message === "there?") return page({ type: "state", state });
      if (message === "online") return openSoon();
      if (message !== "offline") return follow(page, message);
      clearTimeout(timer);
      stream.close();
      setState("lost");
    },
  };
}

/** Called for the events of a stream, by their names. */
type Handlers = Readonly<Record<string, (data: string, id: string) => void>>;

/**
 * One event stream at a time. `open` replaces it without a gap; the events of a replaced stream are dropped. `lost` is called
 * after it ended, or after its gateway was silent: it is closed.
 */
function createStream(api: string, opened: () => void, lost: () => void) {
  let source: EventSource | null = null;
  /** The stream before, until this one is open: with both, the gateway knows which changes are missed. */
  let last: EventSource | null = null;
  let isReceived = false;
  const close = (): void => {
    last?.close();
    source?.close();
    last = source = null;
  };
  const lose = (): void => {
    close();
    lost();
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
  const open = (query: URLSearchParams, handlers: Handlers): void => {
    const next = new EventSource(`${api}status-stream?${query.toString()}`);
    // An origin has six connections: one that did not open yet is given up.
    if (source?.readyState === 1) {
      last?.close();
      last = source;
    } else source?.close();
    source = next;
    const all: Handlers = {
      ...handlers,
      open: () => {
        last?.close();
        opened();
      },
      // The browser's own reconnect would request lines again that it already received.
      error: lose,
    };
    for (const [event, handle] of Object.entries(all)) {
      next.addEventListener(event, (received) => {
        // The next stream repeats the events that this one sends meanwhile.
        if (source !== next) return;
        isReceived = true;
        const { data, lastEventId } = received as MessageEvent<string>;
        handle(data, lastEventId);
      });
    }
  };
  return { isOpen: () => source !== null, open, close };
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

/** A log, and the page that follows it. */
interface PageLog {
  readonly page: FollowingPage;
  readonly log: FollowedLog;
}

/** The logs that an address has room for, and their part of it. Pages whose logs do not fit get `alone`. */
function fittingLogs(pages: ReadonlyMap<FollowingPage, readonly FollowedLog[]>, most: number) {
  let query = new URLSearchParams();
  const logs: PageLog[] = [];
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
