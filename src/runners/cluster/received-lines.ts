import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import type { LogEntry } from "../../../streams/vocabulary.ts";
import type { RemoteEnd, RemoteLine } from "../../contracts/remote-run.ts";
import type { RunOutput } from "../run-output.ts";

/** The end of a run's process, and when it came, epoch ms. */
export interface ReceivedEnd extends RemoteEnd {
  readonly time: number;
}

/** The numbered lines of a run, each of which counts once however often it is sent. */
export interface ReceivedLines {
  readonly take: (lines: readonly RemoteLine[]) => void;
  /** Up to this number all lines were taken. */
  readonly taken: () => number;
  /** Null before it came. */
  readonly end: () => ReceivedEnd | null;
  readonly output: RunOutput;
}

export interface ReceivedLinesOptions {
  /** Whether an earlier scheduler took lines of it. */
  readonly isAdopted: boolean;
  /** Number of the last line in the log; 0 for none. */
  readonly logged: number;
  readonly emit: (event: RunnerEvent) => void;
  readonly outputTo: (emit: (event: RunnerEvent) => void) => RunOutput;
}

/**
 * Turns the lines into events. Each log entry has the number of its line as `seq`, from which the next scheduler knows
 * where it was.
 */
export function createReceivedLines(options: ReceivedLinesOptions): ReceivedLines {
  const { isAdopted, logged, emit, outputTo } = options;
  let taken: number | null = isAdopted ? null : 0;
  let end: ReceivedEnd | null = null;
  let seq = 0;
  let isOld = false;
  const output = outputTo((event) => {
    if (event.type !== "output") return emit(event);
    if (!isOld && seq > logged) emit({ ...event, entry: { ...event.entry, seq } });
  });
  const takeOne = (line: RemoteLine, before: number): number => {
    seq = line.seq;
    isOld = seq <= before;
    if (!("end" in line)) output.line(line.stream, line.line, line.time);
    else if (!isOld) end = { ...line.end, time: line.time };
    return Math.max(before, seq);
  };
  return {
    take: (lines) => {
      const [first] = lines;
      if (first === undefined) return;
      // The run doesn't know that the scheduler is another one: what only the earlier one's memory held comes next, and
      // then these lines again.
      if (taken === null) taken = first.seq - 1;
      else taken = lines.reduce((before, line) => takeOne(line, before), taken);
    },
    taken: () => taken ?? 0,
    end: () => end,
    output,
  };
}

/** Which line of a run's output a log entry is; 0 for the scheduler's own, which have no number. */
export function numberOf({ seq }: LogEntry): number {
  return typeof seq === "number" ? seq : 0;
}
