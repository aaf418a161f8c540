import type { LogSource } from "../../contracts/log-source.ts";
import type { Operations } from "../../contracts/operations.ts";
import type { Colors } from "../terminal/output.ts";

/** What the live view reads and asks for: the scheduler's own status and operations, and the way to end it. */
export interface ViewSource {
  readonly operations: Pick<
    Operations,
    "snapshot" | "update$" | "phase" | "setPaused" | "setEnabled" | "trigger" | "killAgent"
  >;
  readonly logs: Pick<LogSource, "follow">;
  readonly webUi: boolean;
  /** As it is shown. */
  readonly apiKeyPath: string;
  /** How long running runs get when it stops. */
  readonly graceSeconds: number;
  readonly colors: Colors;
  /** Lets runs finish, then ends; again is nothing new. */
  readonly stop: () => void;
  /** What Ctrl-C does: stops, and the second time at once. */
  readonly interrupt: () => void;
}
