import type { RunnerEvent } from "../../../../streams/runs/runner.ts";
import { blockedExit, endedExit, rejectedExit } from "../run-exit.ts";
import type { RunOutput } from "../run-output.ts";
import { openWarning } from "./closed-network.ts";
import { parseRunLogLine, recordIn } from "./run-log.ts";
import type { EndRecord, BeginRecord } from "./run-log.ts";

/** Lines of a start that failed. */
const maxLinesBefore = 5;

/** Hands a run's output on to `output`, and keeps its end; `onBegin` is called with how the run is isolated. */
export function runAccount(output: RunOutput, onBegin: (record: BeginRecord) => void) {
  let begun = false;
  let end: { readonly record: EndRecord; readonly time: number } | null = null;
  const linesBefore: string[] = [];

  const stray = (line: string) => {
    if (begun) output.line("stderr", line, Date.now());
    else if (line.trim() !== "" && linesBefore.length < maxLinesBefore)
      linesBefore.push(line.trim());
  };
  const begin = (text: string, time: number) => {
    begun = true;
    const record = recordIn(text) as BeginRecord | null;
    if (record === null) return;
    onBegin(record);
    const { unconfined, notClosed = null } = record;
    if (unconfined !== null) output.line("stderr", unconfinedWarning(unconfined), time);
    if (notClosed !== null) output.line("stderr", openWarning(notClosed), time);
  };

  return {
    take: (line: string): void => {
      const parsed = parseRunLogLine(line);
      if (parsed === null) return stray(line);
      const { kind, text, time } = parsed;
      if (kind === "out") output.line("stdout", text, time);
      if (kind === "err") output.line("stderr", text, time);
      if (kind === "keeper") begin(text, time);
      if (kind !== "end") return;
      const record = recordIn(text) as EndRecord | null;
      if (record !== null) end = { record, time };
      if (record?.leftover != null) output.line("stderr", leftoverWarning(record.leftover), time);
    },
    /** The exit by the log; null when the log has no end. */
    exit: () => (end === null ? null : exitEvent(end.record, end.time, output)),
    /** Null when the run began; otherwise the lines that came instead, such as sudo's reason. */
    notBegun: (): readonly string[] | null => (begun ? null : linesBefore),
  };
}

function unconfinedWarning(why: string): string {
  return `the kernel gives this run no PID namespace (${why}): a process that leaves its session and cleans its environment may outlive it`;
}

function leftoverWarning(why: string): string {
  return `the run's working directory could not be removed: ${why}`;
}

function exitEvent(record: EndRecord, endedAt: number, output: RunOutput): RunnerEvent {
  const { exitCode, signal, rejected, blocked = false } = record;
  if (rejected !== null) return blocked ? blockedExit(rejected) : rejectedExit(rejected);
  const ending = { exitCode, signal, outOfMemory: false, endedAt };
  return endedExit(ending, output.end(), output.handedBack());
}
