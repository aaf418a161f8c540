import { statSync } from "node:fs";
import { join } from "node:path";
import { filter, Observable } from "rxjs";
import { createFileTail } from "./file-tail.ts";
import type { FileTail, TailEvent } from "./file-tail.ts";
import { logFileOf, parseLogFileName } from "./log-files.ts";
import type { LogFile } from "./log-files.ts";

/** What tailing needs of its surroundings. */
export interface TailEdges {
  readonly dir: string;
  /** Names of files that may have changed; null for all. */
  readonly tick$: Observable<string | null>;
  /** Epoch ms. */
  readonly now: () => number;
}

const dayMs = 86_400_000;

/**
 * The files that lines of an agent may still come to: today's, and yesterday's around midnight. None for what is no
 * agent's name.
 */
export function currentFiles(agent: string, now: number): readonly LogFile[] {
  const files = [logFileOf(agent, now - dayMs), logFileOf(agent, now)];
  return files.filter(({ name }) => parseLogFileName(name) !== null);
}

/**
 * The new lines of an agent, over the change of file at midnight, from the moment of subscribing: what is in the
 * files by then is not told. Never completes; errors when a file can't be read.
 */
export function tailAgent(agent: string, { dir, tick$, now }: TailEdges): Observable<TailEvent> {
  return new Observable((subscriber) => {
    const tails = new Map<string, FileTail>();
    const emit = (event: TailEvent): void => subscriber.next(event);
    let looking = false;
    let lookAgain = false;

    const tailOf = (file: LogFile, start = { position: 0, inode: 0 }): FileTail => {
      const tail = tails.get(file.name) ?? createFileTail(dir, file, start, emit);
      tails.set(file.name, tail);
      return tail;
    };

    const look = async (): Promise<void> => {
      const files = currentFiles(agent, now());
      for (const name of tails.keys()) if (!files.some((file) => file.name === name)) drop(name);
      // Yesterday's lines before today's.
      for (const file of files) {
        if (subscriber.closed || (await tailOf(file).look()) === "growing") return;
      }
    };

    const lookWhileNeeded = async (): Promise<void> => {
      looking = true;
      try {
        while (lookAgain && !subscriber.closed) {
          lookAgain = false;
          await look();
        }
      } catch (error) {
        subscriber.error(error);
      }
      looking = false;
    };

    const drop = (name: string): void => {
      tails.get(name)?.stop();
      tails.delete(name);
    };

    for (const file of currentFiles(agent, now())) {
      const found = statSync(join(dir, file.name), { throwIfNoEntry: false });
      if (found) tailOf(file, { position: found.size, inode: found.ino });
    }
    subscriber.add(() => [...tails.keys()].forEach(drop));
    const mine$ = tick$.pipe(filter((name) => isOf(agent, name)));
    subscriber.add(
      mine$.subscribe(() => {
        lookAgain = true;
        if (!looking) void lookWhileNeeded();
      }),
    );
  });
}

function isOf(agent: string, name: string | null): boolean {
  if (name === null) return true;
  // The cheap test first: it is made for each followed agent at each write.
  return name.startsWith(`${agent}-`) && parseLogFileName(name)?.agent === agent;
}
