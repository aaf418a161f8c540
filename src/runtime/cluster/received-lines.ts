import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import type { LogEntry } from "../../../streams/vocabulary.ts";
import type { RemoteEnd, RemoteLine } from "../../foundation/contracts/remote-run.ts";
import type { RunOutput } from "../runners/run-output.ts";

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
  /** Number of the last line that an earlier scheduler has in the log; 0 for none. */
  readonly logged: number;
  readonly emit: (event: RunnerEvent) => void;
  readonly outputTo: (emit: (event: RunnerEvent) => void) => RunOutput;
}

/**
 * Turns the lines into events. Each log entry has the number of its line as `seq`, from which the next scheduler knows
 * where it was. Numbers grow, with gaps where an earlier scheduler has lines in the log: of those only what its memory
 * held is sent again.
 */
export function createReceivedLines(options: ReceivedLinesOptions): ReceivedLines {
  const { logged, emit, outputTo } = options;
  let taken = 0;
  let end: ReceivedEnd | null = null;
  const output = outputTo((event) => {
    if (event.type !== "output") return emit(event);
    if (taken > logged) emit({ ...event, entry: { ...event.entry, seq: taken } });
  });
  const take = (line: RemoteLine): void => {
    if (line.seq <= taken) return;
    taken = line.seq;
    // The clock of its machine may be ahead, and a run can write any time.
    const time = Math.min(line.time, Date.now());
    if ("end" in line) end = { ...line.end, time };
    else output.line(line.stream, line.line, time);
  };
  return {
    take: (lines) => lines.forEach(take),
    taken: () => taken,
    end: () => end,
    output,
  };
}

/** Which line of a run's output a log entry is; 0 for the scheduler's own, which have no number. */
export function numberOf({ seq }: LogEntry): number {
  return typeof seq === "number" ? seq : 0;
}
