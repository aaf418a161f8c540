import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Box, Text, render, useApp, useInput, usePaste, useWindowSize } from "ink";
import { createElement as h, useEffect, useEffectEvent, useRef, useState } from "react";
import type { ReactElement } from "react";
import { Subject, type Observable } from "rxjs";
import type { StatusSnapshot } from "../../../../streams/status/wire.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { keyNames, onKey } from "./keys.ts";
import { drawScreen } from "./screen.ts";
import {
  firstView,
  shownAgents,
  type Message,
  type ViewSource,
  type ViewState,
} from "./view-state.ts";

export type LiveView = ReturnType<typeof openLiveView>;

const framesPerSecond = 10;
/** How long the last line shows a message, in ms. */
const messageMs = 6000;
/** How long interrupts are ignored after a program's end, in ms: npm forwards its own. */
const lateInterruptMs = 100;

/** Takes the terminal for the live view, on a screen of its own. */
export function openLiveView(source: ViewSource) {
  const message$ = new Subject<Message>();
  // SIGHUP reports a closed terminal.
  process.stdin.on("error", ignore);
  wrapLines(false);
  const app = render(h(App, { source, message$ }), {
    alternateScreen: true,
    exitOnCtrlC: false,
    incrementalRendering: true,
    interactive: true,
    maxFps: framesPerSecond,
  });
  const giveBack = (): void => {
    process.off("exit", giveBack);
    process.off("uncaughtExceptionMonitor", giveBack);
    app.unmount();
    process.stdin.setRawMode(false);
    wrapLines(true);
  };
  process.on("exit", giveBack);
  // Runs before Node writes the error, which would be lost with this screen.
  process.on("uncaughtExceptionMonitor", giveBack);

  const over = app.waitUntilExit();
  return {
    /** Shows a message in the last line. */
    show: (message: Message) => message$.next(message),
    /** Restores the terminal. Resolves when that is done; a second call changes nothing. */
    close: async () => {
      giveBack();
      await over.catch(ignore);
    },
    /** Resolves with the error that broke the view, if any; the terminal is restored then. */
    broken: new Promise((resolve) => {
      over.catch((error: unknown) => {
        giveBack();
        resolve(error);
      });
    }),
  };
}

function ignore(): void {
  // Errors here can't be handled.
}

/** Lines that are too long end at the edge: a terminal may draw a character wider than assumed here. */
function wrapLines(isOn: boolean): void {
  process.stdout.write(isOn ? "\u001b[?7h" : "\u001b[?7l");
}

interface AppProps {
  readonly source: ViewSource;
  readonly message$: Observable<Message>;
}

/** The live view: the status as lines that fill the screen, and the keys. */
function App({ source, message$ }: AppProps): ReactElement {
  const { operations, colors } = source;
  const snapshot = useStatus(operations);
  const now = useNow();
  const { columns, rows } = useWindowSize();
  const { current, show } = useView(message$);
  const runProgram = useProgram();

  useInput((input, key) => {
    for (const name of keyNames(input, key)) {
      const agents = shownAgents(snapshot.agents, current());
      onKey(name, { source, view: current(), show, agents, rows, runProgram });
    }
  });
  // Pasted text must not act as keys.
  usePaste(() => undefined);

  const isStopping = operations.stopping.phase() === "draining";
  const facts = { ...source, snapshot, view: current(), isStopping };
  const lines = drawScreen(facts, { columns, rows, colors, now });
  return h(
    Box,
    { flexDirection: "column" },
    // A text without a character has no height.
    lines.map((line, index) => h(Text, { key: index, wrap: "truncate" }, line === "" ? " " : line)),
  );
}

/** The view's own state, also current between two keys that were read together. Messages disappear by themselves. */
function useView(message$: Observable<Message>) {
  const state = useRef(firstView);
  const [, render] = useState(firstView);
  const show = (change: Partial<ViewState>): void => {
    state.current = { ...state.current, ...change };
    render(state.current);
  };
  const showMessage = useEffectEvent((message: Message | null) => show({ message }));
  useEffect(() => {
    const messages = message$.subscribe(showMessage);
    return () => messages.unsubscribe();
  }, [message$]);
  const { message } = state.current;
  useEffect(() => {
    if (message === null) return;
    const timer = setTimeout(() => showMessage(null), messageMs);
    return () => clearTimeout(timer);
  }, [message]);
  return { current: () => state.current, show };
}

/** The status as the scheduler holds it, read again on every update. */
function useStatus(operations: ViewSource["operations"]): StatusSnapshot {
  const [snapshot, setSnapshot] = useState(() => operations.status.snapshot());
  useEffect(() => {
    const updates = operations.status.update$.subscribe(() =>
      setSnapshot(operations.status.snapshot()),
    );
    // The status may have changed before the subscription.
    setSnapshot(operations.status.snapshot());
    return () => updates.unsubscribe();
  }, [operations]);
  return snapshot;
}

/** The time, epoch ms, updated every second: the times on the screen are relative to it. */
function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** Gives the terminal to one program at a time; closing the view ends the program. */
function useProgram() {
  const { suspendTerminal } = useApp();
  const program = useRef<AbortController>(null);
  useEffect(() => () => program.current?.abort(), []);
  return async (file: string, args: readonly string[]): Promise<string | null> => {
    if (program.current !== null) return null;
    const ending = new AbortController();
    program.current = ending;
    const terminal = await suspendTerminal();
    wrapLines(true);
    const problem = await runOnTerminal(file, args, ending.signal);
    program.current = null;
    // The view was closed meanwhile.
    if (ending.signal.aborted) return null;
    // Ink draws from the cursor's column on.
    process.stdout.write("\n");
    wrapLines(false);
    await terminal.resume();
    return problem;
  };
}

/** Runs a program on this terminal above a last line with the keys that end it. Another process's Ctrl-C ends only it. */
async function runOnTerminal(
  file: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<string | null> {
  const listeners = process.listeners("SIGINT");
  process.on("SIGINT", ignore);
  for (const listener of listeners) process.off("SIGINT", listener);
  try {
    const child = spawn(file, args, { stdio: ["ignore", "inherit", "inherit"], signal });
    const release = takeKeys(() => child.kill("SIGINT"));
    const [code] = (await once(child, "exit").finally(release)) as [number | null];
    await sleep(lateInterruptMs);
    return code === 0 || code === 130 || code === null ? null : `ended with exit code ${code}`;
  } catch (error) {
    return messageOf(error);
  } finally {
    for (const listener of listeners) process.on("SIGINT", listener);
    process.off("SIGINT", ignore);
  }
}

const leavingKeys = "Ctrl-C or q: back";

/** Reads all keys, so that none is echoed, and keeps the terminal's last line for those that leave. */
function takeKeys(leave: () => void): () => void {
  const { stdin, stdout } = process;
  const next = (): string | null => stdin.read() as string | null;
  const onKeys = (): void => {
    // Read until there is nothing left: only then the stream reports the next keys.
    for (let keys = next(); keys !== null; keys = next()) {
      if (keys === "\u001b" || /[q\u0003]/.test(keys)) leave();
    }
  };
  // The program's lines scroll above the last one.
  const draw = (): void => {
    const { rows } = stdout;
    stdout.write(`\r\n\u001b[A\u001b7\u001b[1;${rows - 1}r\u001b[${rows};1H`);
    stdout.write(`\u001b[2K\u001b[2m${leavingKeys}\u001b[22m\u001b8`);
  };
  stdin.setRawMode(true);
  stdin.setEncoding("utf8");
  stdin.on("readable", onKeys);
  stdin.ref();
  stdout.on("resize", draw);
  draw();
  return () => {
    stdin.off("readable", onKeys);
    stdout.off("resize", draw);
    stdin.setRawMode(false);
    stdout.write(`\u001b7\u001b[r\u001b[${stdout.rows};1H\u001b[2K\u001b8`);
  };
}
