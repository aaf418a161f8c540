import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { useApp } from "ink";
import { useEffect, useEffectEvent, useRef } from "react";
import { messageOf } from "../../../foundation/errors.ts";

/** What the terminal needs besides what Ink does with it. */
export interface TerminalModes {
  /** Sets the terminal up, and back as it was. */
  readonly enter: () => void;
  readonly leave: () => void;
}

/** Who else gets the terminal. */
export interface Suspend {
  /** Stops this process, as Ctrl-Z does. */
  readonly suspend: () => void;
  readonly redraw: () => void;
  /** Runs a program on the terminal until it ends; resolves with why it failed, null when it didn't. */
  readonly runProgram: (file: string, args: readonly string[]) => Promise<string | null>;
}

/**
 * Lets the shell have the terminal, cooked and with its own screen, while this process is stopped, and draws the view
 * again when it continues. Not if the scheduler was asked to stop meanwhile: a shell that ends a stopped job continues it
 * in the background, where the terminal isn't ours and taking it would stop us again.
 */
export function useSuspend({ enter, leave }: TerminalModes, isStopping: () => boolean): Suspend {
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
  const program = useRef<AbortController>(null);
  const stop = async (target: number): Promise<void> => {
    if (isStopped.current) return;
    isStopped.current = true;
    // A program on the terminal is stopped by the same signal, and the terminal is already given back.
    const stopped = () => stopBySignal(target);
    await (program.current === null ? handOver(stopped) : stopped()).finally(
      () => (isStopped.current = false),
    );
  };
  const runProgram: Suspend["runProgram"] = async (file, args) => {
    if (program.current !== null) return null;
    const ending = new AbortController();
    program.current = ending;
    const terminal = await suspendTerminal();
    leave();
    const problem = await runOnTerminal(file, args, ending.signal);
    program.current = null;
    // The view was closed meanwhile.
    if (ending.signal.aborted) return null;
    // The terminal echoes Ctrl-C, and Ink draws from the cursor's column on.
    process.stdout.write("\n");
    enter();
    await terminal.resume();
    return problem;
  };

  const asked = useEffectEvent(() => void stop(process.pid));
  // Another process stopped and continued us (SIGSTOP): the shell has had the terminal.
  const continued = useEffectEvent(() => {
    if (!isStopped.current && program.current === null) void redraw();
  });
  useEffect(() => {
    const onStop = (): void => asked();
    const onContinue = (): void => continued();
    process.on("SIGTSTP", onStop);
    process.on("SIGCONT", onContinue);
    return () => {
      process.off("SIGTSTP", onStop);
      process.off("SIGCONT", onContinue);
      program.current?.abort();
    };
  }, []);

  return {
    // As the terminal does it: npm, and whatever else is in front of us, stops too. Only once the terminal is given
    // back: the shell takes it as soon as one of them has stopped, and then it isn't ours to set.
    suspend: () => void stop(wholeGroup),
    redraw: () => void redraw(),
    runProgram,
  };
}

const wholeGroup = 0;

/** How long interrupts are ignored after the program's end, in ms: npm passes its own on. */
const lateInterruptMs = 100;

/** Runs a program on this terminal. A Ctrl-C, which the terminal gives to the whole group, ends only the program. */
async function runOnTerminal(
  file: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<string | null> {
  const listeners = process.listeners("SIGINT");
  const ignore = (): void => undefined;
  process.on("SIGINT", ignore);
  for (const listener of listeners) process.off("SIGINT", listener);
  try {
    const child = spawn(file, args, { stdio: "inherit", signal });
    const [code] = (await once(child, "exit")) as [number | null];
    await sleep(lateInterruptMs);
    return code === 0 || code === 130 || code === null ? null : `ended with exit code ${code}`;
  } catch (error) {
    return messageOf(error);
  } finally {
    for (const listener of listeners) process.on("SIGINT", listener);
    process.off("SIGINT", ignore);
  }
}

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
