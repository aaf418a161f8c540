import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { lineSplitter } from "../../../src/contracts/line-splitter.ts";
import type { RemoteLine, RemoteRuns } from "../../../src/contracts/remote-run.ts";
import type { Launch } from "../../../src/runners/cluster/cluster-engine.ts";
import { killRun, signalGroup } from "../../../src/runners/end-processes.ts";
import type { EngineProcess } from "../../helpers/process-engine.ts";

/** What a scheduler that does not answer throws. */
export const noAnswer = new Error("no answer");

/** Asks again and again, as the real one does, until the run is over. */
async function persistently<T>(ask: () => Promise<T>, killed: AbortSignal): Promise<T | null> {
  while (!killed.aborted) {
    try {
      return await ask();
    } catch (error) {
      if (isOver(error)) return null;
      await wait(10);
    }
  }
  return null;
}

function isOver(error: unknown): boolean {
  const { problem } = error as { problem?: { error?: string } };
  return problem?.error === "unauthorized";
}

/**
 * What `al _remote-run` is to the runner, without the door: a process of this machine, whose client calls the
 * scheduler's functions. `requests` is asked each time, as the scheduler may be another one.
 */
export function standInRun(launch: Launch, requests: () => RemoteRuns): EngineProcess {
  const killed = new AbortController();
  const { instanceId } = launch;
  const kill = (): void => {
    killed.abort();
    void killRun(instanceId);
  };
  return { ended: run(launch, requests, killed.signal), kill };
}

async function run(launch: Launch, requests: () => RemoteRuns, killed: AbortSignal) {
  const { instanceId, command, env } = launch;
  const request = { claim: randomUUID(), node: "here" };
  const claimed = await persistently(() => requests().claim(instanceId, request), killed);
  if (claimed === null) return 0;
  const [file = "", ...args] = command;
  const child = spawn(file, args, { env: { ...process.env, ...env }, detached: true });
  child.stdin.on("error", () => undefined);
  child.stdin.write(`${JSON.stringify(claimed.job)}\n`);
  const lines = sender(launch, requests, killed);
  const closed = [lines.from(child.stdout, "stdout"), lines.from(child.stderr, "stderr")];
  const done = new AbortController();
  void obey(child, instanceId, requests, AbortSignal.any([killed, done.signal]));
  const [exitCode, signal] = (await once(child, "exit")) as [number | null, string | null];
  signalGroup(child.pid ?? 0, "SIGKILL");
  await killRun(instanceId);
  done.abort();
  await Promise.all(closed);
  if (killed.aborted) return 137;
  await lines.end({ exitCode, signal, outOfMemory: false, rejected: null });
  return 0;
}

function sender({ instanceId }: Launch, requests: () => RemoteRuns, killed: AbortSignal) {
  let seq = 0;
  let scheduler = "";
  const stored: RemoteLine[] = [];
  let waiting: RemoteLine[] = [];
  let isSending = false;
  const over = Promise.withResolvers<null>();
  const send = async (): Promise<void> => {
    if (isSending) return;
    isSending = true;
    while (waiting.length > 0 && !killed.aborted) {
      const answer = await persistently(() => requests().lines(instanceId, waiting), killed);
      if (answer === null) return over.resolve(null);
      stored.push(...waiting.filter((line) => line.seq <= answer.stored));
      waiting = waiting.filter((line) => line.seq > answer.stored);
      if (scheduler !== "" && answer.scheduler !== scheduler) {
        waiting = [...stored.filter(isState), ...waiting];
      }
      ({ scheduler } = answer);
    }
    isSending = false;
  };
  const add = (line: RemoteLine): void => {
    waiting.push(line);
    void send();
  };
  return {
    from: async (source: Readable, stream: "stdout" | "stderr") => {
      const splitter = lineSplitter(256 * 1024, (line) =>
        add({ seq: ++seq, time: Date.now(), stream, line }),
      );
      source.on("data", (chunk: Buffer) => splitter.push(chunk));
      await once(source, "close");
      splitter.end();
    },
    end: (end: Extract<RemoteLine, { end: unknown }>["end"]) => {
      add({ seq: ++seq, time: Date.now(), end });
      return over.promise;
    },
  };
}

function isState(line: RemoteLine): boolean {
  return "line" in line && /^\{"type":"(status|return|rerun|end|ready)"/.test(line.line);
}

async function obey(
  child: ChildProcess,
  instanceId: string,
  requests: () => RemoteRuns,
  over: AbortSignal,
): Promise<void> {
  while (!over.aborted) {
    const answer = await persistently(() => requests().inbox(instanceId, over), over);
    if (answer?.stop == null) continue;
    signalGroup(child.pid ?? 0, "SIGTERM");
    const isInTime = await wait(answer.stop.graceMs, false, { signal: over }).catch(() => true);
    if (!isInTime) signalGroup(child.pid ?? 0, "SIGKILL");
    return;
  }
}
