import { useApp } from "ink";
import { useEffect, useEffectEvent, useRef } from "react";

/** What the terminal needs besides what Ink does with it. */
export interface TerminalModes {
  /** Sets the terminal up, and back as it was. */
  readonly enter: () => void;
  readonly leave: () => void;
}

/**
 * Lets the shell have the terminal, cooked and with its own screen, while this process is stopped, and draws the view
 * again when it continues. Not if the scheduler was asked to stop meanwhile: a shell that ends a stopped job continues it
 * in the background, where the terminal isn't ours and taking it would stop us again.
 */
export function useSuspend(
  { enter, leave }: TerminalModes,
  isStopping: () => boolean,
): { readonly suspend: () => void; readonly redraw: () => void } {
  const { suspendTerminal } = useApp();

  const handOver = async (meanwhile: () => Promise<void>): Promise<void> => {
    const terminal = await suspendTerminal();
    const wasStopping = isStopping();
    leave();
    await meanwhile();
    if (isStopping() && !wasStopping) return;
    enter();
    await terminal.resume();
  };
  const redraw = (): Promise<void> => handOver(() => Promise.resolve());
  const isStopped = useRef(false);
  const stop = async (target: number): Promise<void> => {
    if (isStopped.current) return;
    isStopped.current = true;
    await handOver(() => stopBySignal(target)).finally(() => (isStopped.current = false));
  };

  const asked = useEffectEvent(() => void stop(process.pid));
  // Another process stopped and continued us (SIGSTOP): the shell has had the terminal.
  const continued = useEffectEvent(() => (isStopped.current ? undefined : void redraw()));
  useEffect(() => {
    const onStop = (): void => asked();
    const onContinue = (): void => continued();
    process.on("SIGTSTP", onStop);
    process.on("SIGCONT", onContinue);
    return () => {
      process.off("SIGTSTP", onStop);
      process.off("SIGCONT", onContinue);
    };
  }, []);

  return {
    // As the terminal does it: npm, and whatever else is in front of us, stops too. Only once the terminal is given
    // back: the shell takes it as soon as one of them has stopped, and then it isn't ours to set.
    suspend: () => void stop(wholeGroup),
    redraw: () => void redraw(),
  };
}

const wholeGroup = 0;

/**
 * Without a listener the signal does what it does to any program; nothing when there is no shell to come back to.
 * The line after it runs once we continue; signals that came meanwhile are handled before the promise resolves.
 */
async function stopBySignal(target: number): Promise<void> {
  const listeners = process.listeners("SIGTSTP");
  for (const listener of listeners) process.off("SIGTSTP", listener);
  process.kill(target, "SIGTSTP");
  await new Promise((resolve) => setTimeout(resolve, 20));
  for (const listener of listeners) process.on("SIGTSTP", listener);
}
