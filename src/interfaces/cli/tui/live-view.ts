import { render } from "ink";
import { createElement as h } from "react";
import { Subject } from "rxjs";
import { App } from "./app.ts";
import type { Message, ViewSource } from "./view-state.ts";

/** The live view on the terminal. */
export interface LiveView {
  /** Shows a message in the last line. */
  show(message: Message): void;
  /** Gives the terminal back. Resolves when it is as it was; again is nothing new. */
  close(): Promise<void>;
  /** Resolves with what broke the view, if that happens; the terminal is back then. */
  readonly broken: Promise<unknown>;
}

/** Lines that are too long end at the edge: a terminal may find a character wider than we do. */
const noLineWrap = "\u001b[?7l";
const lineWrap = "\u001b[?7h";

const framesPerSecond = 10;

/** Takes the terminal for the live view, on a screen of its own. */
export function openLiveView(source: ViewSource): LiveView {
  const message$ = new Subject<Message>();
  const enter = (): void => void process.stdout.write(noLineWrap);
  const leave = (): void => void process.stdout.write(lineWrap);
  // SIGHUP reports a terminal that went away.
  process.stdin.on("error", ignore);
  enter();
  // Ink does it too, but after the first frame: a Ctrl-Z right then would be the terminal's, not ours.
  process.stdin.setRawMode(true);
  const app = render(h(App, { source, message$, modes: { enter, leave } }), {
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
    leave();
  };
  process.on("exit", giveBack);
  // Before Node writes what broke, which would be lost with this screen.
  process.on("uncaughtExceptionMonitor", giveBack);

  const over = app.waitUntilExit();
  return {
    show: (message) => message$.next(message),
    close: async () => {
      giveBack();
      await over.catch(ignore);
    },
    broken: new Promise((resolve) => {
      over.catch((error: unknown) => {
        giveBack();
        resolve(error);
      });
    }),
  };
}

function ignore(): void {
  // Nothing can be done about it.
}
