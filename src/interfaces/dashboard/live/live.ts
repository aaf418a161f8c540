import { publicPath } from "../text/base-path.ts";

/** After this time without an event the gateway is probed. */
const silentMs = 20_000;
const answerMs = 5_000;

/**
 * Notices that the scheduler behind an open stream hangs, as such a stream does not end: probes the gateway while the
 * stream is silent, and calls `onGone` when it does not respond. Returns a function to call at each event.
 */
function watchSilence(isOpen: () => boolean, onGone: () => void): () => void {
  let isReceived = true;
  setInterval(() => {
    const wasReceived = isReceived;
    isReceived = false;
    if (wasReceived || !isOpen()) return;
    void isThere().then((answered) => {
      if (!answered && !isReceived && isOpen()) onGone();
    });
  }, silentMs);
  return () => {
    isReceived = true;
  };
}

/** Any response will do, but that of a proxy whose gateway is down. */
async function isThere(): Promise<boolean> {
  try {
    return (
      (await fetch(publicPath("/health"), { signal: AbortSignal.timeout(answerMs) })).status < 500
    );
  } catch {
    return false;
  }
}

export type LiveState = "connecting" | "live" | "lost";

/** A stream of the gateway that a page shows. */
interface LiveStream {
  /** Address of the stream; `lastId` is the last event's id, empty at first. */
  readonly url: (lastId: string) => string;
  /** Handlers by event. */
  readonly on: Readonly<Record<string, (data: string, id: string) => void>>;
  readonly onState: (state: LiveState) => void;
}

/** A stream that is kept open. */
export interface LiveConnection {
  /** Ends it for good. */
  close(): void;
}

/** A tab that stays hidden this long gives its connection back: an origin has six of them, and tabs open fast. */
const hiddenMs = 1_000;
const retryMs = 3_000;

/** Keeps a stream open while the page is seen, over lost connections and restarts, until the session ends. */
export function openLive(stream: LiveStream): LiveConnection {
  let source: EventSource | null = null;
  let lastId = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;

  const close = (): void => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };
  const open = (): void => {
    close();
    // A tab that is opened behind another, or hidden meanwhile, waits until it is looked at.
    if (isOver || document.visibilityState === "hidden") return;
    const opened = new EventSource(publicPath(stream.url(lastId)));
    source = opened;
    opened.addEventListener("open", () => stream.onState("live"));
    opened.addEventListener("error", () => {
      stream.onState("lost");
      // The browser tries again by itself, unless the answer was an error.
      if (opened.readyState === 2) void afterRefusal();
    });
    for (const [event, handle] of Object.entries(stream.on)) {
      opened.addEventListener(event, ({ data, lastEventId }: MessageEvent<string>) => {
        onReceived();
        lastId = lastEventId;
        handle(data, lastEventId);
      });
    }
  };
  const afterRefusal = async (): Promise<void> => {
    close();
    if (await isLoggedOut()) goToLogin();
    else timer = setTimeout(open, retryMs);
  };

  const onReceived = watchSilence(
    () => source?.readyState === 1,
    () => {
      stream.onState("lost");
      open();
    },
  );

  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (document.visibilityState === "hidden") timer = setTimeout(close, hiddenMs);
    else if (source === null) open();
  });
  addEventListener("pagehide", close);
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) open();
  });
  // A machine that loses its network receives nothing, not even an end.
  addEventListener("offline", () => {
    close();
    stream.onState("lost");
  });
  addEventListener("online", open);
  stream.onState("connecting");
  open();
  return {
    close: () => {
      isOver = true;
      close();
    },
  };
}

async function isLoggedOut(): Promise<boolean> {
  try {
    return (await fetch(publicPath("/control/status"), { method: "HEAD" })).status === 401;
  } catch {
    // Without a response the scheduler is down, and the session may still be valid.
    return false;
  }
}

/** Leaves for the login page, which leads back here. */
export function goToLogin(): void {
  const next = encodeURIComponent(location.pathname + location.search);
  location.assign(publicPath(`/login?next=${next}`));
}
