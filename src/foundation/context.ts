import type { Clock } from "../../streams/clock.ts";
import type { LogLevel, WorkItem } from "../../streams/vocabulary.ts";
import type { Credential } from "./credentials/load-credential.ts";
import type { Redactor } from "./credentials/redactor.ts";
import type { LogWriter } from "./logs/log-writer.ts";
import type { Inputs } from "./scheduler/inputs.ts";
import type { StatusStore } from "./scheduler/status-store.ts";
import type { Stopping } from "./scheduler/stopping.ts";
import type { Switches } from "./scheduler/switches.ts";
import type { Store } from "./store/store.ts";

/** Everything that the services of one scheduler share. It is created once per start and passed whole. */
export interface SchedulerContext {
  /** Absolute. */
  readonly projectDir: string;
  /** Absolute path of `~/.almanac`. */
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  /** The version of this package. */
  readonly version: string;
  /** True for `al run` without a scheduler: no schedules, no webhooks, no alerts, no TCP. */
  readonly onDemand: boolean;
  readonly store: Store;
  /** `redactor.redact(text)` removes known secrets from a text. */
  readonly redactor: Redactor;
  /** Loads `type` or `type:instance` and adds its secrets to the redactor. Rejects with a Problem that has a hint. */
  readonly credential: (reference: string) => Promise<Credential>;
  readonly inputs: Inputs;
  /** `inputs.project$`: the active `config.toml`, now (`.value`) and after each reload. */
  readonly project$: Inputs["project$"];
  /** `dispatchTo(inputs)`: passes committed work to its agent's queue. */
  readonly dispatch: (items: readonly WorkItem[]) => void;
  readonly switches: Switches;
  readonly stopping: Stopping;
  /** The fold of all events: the agents' records, and the snapshot for readers. */
  readonly status: StatusStore;
  readonly clock: Clock;
  readonly logWriter: LogWriter;
  /** Writes a line to the scheduler's log, to the terminal and to the status, without known secrets. */
  readonly log: (level: LogLevel, message: string) => void;
  /** `log` at level 40. */
  readonly warn: (message: string) => void;
}
