import type { AgentStatus } from "../../../streams/status/wire.ts";

/** What the files and the store of a project have of its state while no scheduler runs it. */
export interface StoredStatus {
  /** As against the snapshot of a scheduler. */
  readonly scheduler: null;
  /** The project directory's name. */
  readonly project: string;
  readonly paused: boolean;
  /** When a scheduler was last alive, ISO 8601 UTC; null before the first. */
  readonly lastAliveAt: string | null;
  /** Why the project's config.toml can't be used; null when it can. */
  readonly error: string | null;
  readonly warnings: readonly string[];
  readonly agents: readonly AgentStatus[];
}
