/** A resource that one run has for itself. Times are epoch ms. */
export interface HeldLock {
  /** A URI. */
  readonly resource: string;
  readonly agent: string;
  readonly instanceId: string;
  /** Higher than that of any earlier holder of any resource. */
  readonly fencingToken: number;
  readonly heldSince: number;
  readonly expiresAt: number;
}

export interface AcquireCommand {
  readonly type: "acquire";
  readonly key: string;
  readonly resource: string;
  readonly agent: string;
  readonly instanceId: string;
  /** How long it is held at most. */
  readonly ttlMs: number;
  /** How long to wait for it; 0 is not at all. */
  readonly waitMs: number;
}

/** What is asked of the locks. `key` names the request in the events that answer it; it must be unique. */
export type LockCommand =
  | AcquireCommand
  | {
      readonly type: "heartbeat";
      readonly key: string;
      readonly resource: string;
      readonly instanceId: string;
      readonly ttlMs: number;
    }
  | {
      readonly type: "release";
      readonly key: string;
      readonly resource: string;
      readonly instanceId: string;
    }
  /** Nobody waits for the answer of an `acquire` any more. */
  | { readonly type: "cancel"; readonly key: string }
  | { readonly type: "ended"; readonly instanceId: string };

export type LockEvent =
  /** A new holder, or the old one again. */
  | { readonly type: "granted"; readonly key: string; readonly lock: HeldLock }
  | { readonly type: "extended"; readonly key: string; readonly lock: HeldLock }
  | {
      readonly type: "released";
      /** Null when nobody asked for it. */
      readonly key: string | null;
      readonly lock: HeldLock;
      readonly why: "released" | "expired" | "ended";
    }
  | { readonly type: "waiting"; readonly key: string; readonly holder: HeldLock }
  | LockRefusal;

export type LockRefusal = { readonly type: "refused"; readonly key: string } & (
  | { readonly why: "held" | "wait_timeout"; readonly holder: HeldLock }
  /** `path` goes from who asked back to itself. */
  | { readonly why: "deadlock"; readonly holder: HeldLock; readonly path: readonly string[] }
  /** `holder` is null when nobody holds it. */
  | { readonly why: "not_holder"; readonly holder: HeldLock | null }
  /** Nobody holds it, but the run holds so many others. */
  | { readonly why: "too_many_locks"; readonly holder: null }
);
