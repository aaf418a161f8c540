import { useApp } from "ink";
import { useEffect, useEffectEvent } from "react";

/** What the terminal needs besides what Ink does with it. */
export interface TerminalModes {
  /** Sets the terminal up, and back as it was. */
  readonly enter: () => void;
  readonly leave: () => void;
}

/**
 * Lets the shell have the terminal, cooked and with its own screen, while this process is stopped, and draws the view
 * again when it goes on. Not if the scheduler was told to stop meanwhile: a shell that ends a stopped job lets it go on
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
  const stopped = useEffectEvent(() => handOver(stopOurselves));
  const continued = useEffectEvent(redraw);

  useEffect(() => {
    let isStopped = false;
    const onStop = (): void => {
      if (isStopped) return;
      isStopped = true;
      process.off("SIGTSTP", onStop);
      void stopped().finally(() => {
        isStopped = false;
        process.on("SIGTSTP", onStop);
      });
    };
    // Somebody else stopped and continued us (SIGSTOP): the shell has had the terminal.
    const onContinue = (): void => {
      if (!isStopped) void continued();
    };
    process.on("SIGTSTP", onStop);
    process.on("SIGCONT", onContinue);
    return () => {
      process.off("SIGTSTP", onStop);
      process.off("SIGCONT", onContinue);
    };
  }, []);

  return {
    // As the terminal does it: npm, and whatever else is in front of us, stops too.
    suspend: () => process.kill(0, "SIGTSTP"),
    redraw: () => void redraw(),
  };
}

/**
 * Without a listener the signal does what it does to any program; nothing when there is no shell to come back to.
 * The next line runs once we go on; signals that came meanwhile are handled before the promise resolves.
 */
function stopOurselves(): Promise<void> {
  process.kill(process.pid, "SIGTSTP");
  return new Promise((resolve) => setTimeout(resolve, 20));
}
