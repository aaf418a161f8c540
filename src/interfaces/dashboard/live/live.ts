import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { publicPath } from "../text/base-path.ts";
import { createHub } from "./hub.ts";
import type { FollowedLog, FollowingPage, HubMessage, PageMessage } from "./hub.ts";

/** A tab that stays hidden this long follows nothing. */
const hiddenMs = 1_000;
/** A navigation under way, such as a logout's, is given this long: another one would cut it off. */
const leaveMs = 10_000;
/** A shared worker that took longer to answer was ended. */
const answerMs = 5_000;

type ToHub = (message: PageMessage) => void;
type Receive = (line: { readonly position: string; readonly entry: LogEntry }) => void;

const logs = new Map<number, { readonly log: FollowedLog; readonly receive: Receive }>();
let lastNumber = 0;
let toHub: ToHub | null = null;
let isFollowing = false;
let leftAt = -Infinity;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Follows the logs that the page asks for; nothing while it is hidden. */
function sync(isChanged: boolean): void {
  clearTimeout(timer);
  // A tab that is opened behind another, or hidden meanwhile, waits until it is looked at.
  const isSeen = document.visibilityState !== "hidden";
  if (isSeen === isFollowing && !isChanged) return;
  isFollowing = isSeen;
  toHub?.(isSeen ? [...logs.values()].map(({ log }) => log) : null);
}

function syncSoon(ms = 0): void {
  clearTimeout(timer);
  timer = setTimeout(() => sync(ms === 0), ms);
}

/** Follows the scheduler's status while the page is seen, and the logs that are asked for, until the session ends. */
export function openLive(receive: (message: HubMessage) => void): void {
  const onMessage = (message: HubMessage): void => {
    if (message.type === "logged-out") return goToLogin();
    if (message.type !== "lines") return receive(message);
    for (const line of message.lines) {
      const followed = logs.get(line.number);
      if (followed !== undefined) followed.log.query.after = line.position;
      followed?.receive(line);
    }
  };
  /** Leaves the hub that pages share, if it is there, for one of its own. */
  const leave = (): void => {
    toHub?.(null);
    toHub = ownHub(onMessage);
    sync(true);
  };
  toHub = connect(onMessage, leave);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") syncSoon(hiddenMs);
    else sync(false);
  });
  addEventListener("beforeunload", () => {
    leftAt = Date.now();
  });
  addEventListener("pagehide", () => {
    clearTimeout(timer);
    isFollowing = false;
    toHub?.(null);
  });
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) sync(true);
  });
  addEventListener("offline", () => toHub?.("offline"));
  addEventListener("online", () => toHub?.("online"));
  syncSoon();
}

/** A hub of the page's own. */
function ownHub(receive: FollowingPage): ToHub {
  const hub = createHub(new URL(publicPath("/dashboard/api/"), location.href).href);
  return (message) => hub.receive(receive, message);
}

/** The hub that all pages of the browser share, or one of its own if the browser has no shared workers. */
function connect(receive: FollowingPage, leave: () => void): ToHub {
  try {
    const { live = "" } = document.documentElement.dataset;
    const worker = new SharedWorker(publicPath(`/dashboard/live.js?v=${live}`));
    const leaveWorker = (): void => {
      clearInterval(watch);
      leave();
      worker.port.close();
    };
    worker.addEventListener("error", leaveWorker);
    let isThere = true;
    // A browser may end a worker silently, for example for lack of memory.
    const watch = setInterval(() => {
      if (!isFollowing) return void (isThere = true);
      if (!isThere) return leaveWorker();
      isThere = false;
      worker.port.postMessage("there?");
    }, answerMs);
    worker.port.addEventListener("message", ({ data }: MessageEvent<HubMessage>) => {
      isThere = true;
      if (data.type === "alone") leaveWorker();
      else receive(data);
    });
    worker.port.start();
    return (message) => worker.port.postMessage(message);
  } catch {
    return ownHub(receive);
  }
}

/** Follows a log after its last position; each line of it is received. */
export function followLog(query: FollowedLog["query"], receive: Receive): { close(): void } {
  const number = (lastNumber += 1);
  logs.set(number, { log: { number, query }, receive });
  syncSoon();
  return {
    close: () => {
      if (logs.delete(number)) syncSoon();
    },
  };
}

/** Leaves for the login page, which leads back here. */
export function goToLogin(): void {
  const next = encodeURIComponent(location.pathname + location.search);
  const leave = (): void => location.assign(publicPath(`/login?next=${next}`));
  setTimeout(leave, leftAt + leaveMs - Date.now());
}
