import type { HeldLock } from "../../../foundation/contracts/run-state.ts";
export interface AcquireCommand<R> {
  readonly type: "acquire";
  readonly request: R;
  readonly resource: string;
  readonly agent: string;
  readonly instanceId: string;
  /** How long it is held at most. */
  readonly ttlMs: number;
  /** How long to wait for it; 0 is not at all. */
  readonly waitMs: number;
}

/** Commands to the locks. `R` is the request of a run as the events that answer it name it. */
export type LockCommand<R> =
  | AcquireCommand<R>
  | {
      readonly type: "heartbeat";
      readonly request: R;
      readonly resource: string;
      readonly instanceId: string;
      readonly ttlMs: number;
    }
  | {
      readonly type: "release";
      readonly request: R;
      readonly resource: string;
      readonly instanceId: string;
    }
  /** The run cancelled its `acquire`. */
  | { readonly type: "cancel"; readonly request: R }
  | { readonly type: "ended"; readonly instanceId: string };

export type LockEvent<R> =
  /** A new holder, or the old one again. */
  | { readonly type: "granted"; readonly request: R; readonly lock: HeldLock }
  | { readonly type: "extended"; readonly request: R; readonly lock: HeldLock }
  | {
      readonly type: "released";
      /** Null when no run asked for it. */
      readonly request: R | null;
      readonly lock: HeldLock;
      readonly why: "released" | "expired" | "ended";
    }
  | { readonly type: "waiting"; readonly request: R; readonly holder: HeldLock }
  | ({ readonly type: "refused"; readonly request: R } & LockRefusal);

export type LockRefusal =
  | { readonly why: "held" | "wait_timeout"; readonly holder: HeldLock }
  /** `path` goes from the run that asked back to itself. */
  | { readonly why: "deadlock"; readonly holder: HeldLock; readonly path: readonly string[] }
  /** `holder` is null when the resource is free. */
  | { readonly why: "not_holder"; readonly holder: HeldLock | null }
  /** The resource is free, but the run holds so many others. */
  | { readonly why: "too_many_locks"; readonly holder: null };
