import type { DenyReason } from "./deny-reasons.ts";
import type { AllowedHost } from "./network-allow.ts";

/** What a run may reach beside its models. */
export interface EgressPolicy {
  readonly agent: string;
  readonly allow: readonly AllowedHost[];
  /** The port of this machine that is refused whatever is listed: the gateway's own; null for none. */
  readonly ownPort: number | null;
  readonly bindings: readonly SecretBinding[];
}

/** A secret that stays outside of the run, and where it is put in. */
export interface SecretBinding {
  /** What the run has in its place. */
  readonly sentinel: string;
  readonly secret: string;
  /** Canonical hosts, on port 443. */
  readonly hosts: readonly string[];
}

/** A connection that a run asked for, at its end. */
export interface EgressAttempt {
  readonly instanceId: string;
  readonly agent: string;
  /** Canonical; as it was written when it can't be read, cut to 255 characters. */
  readonly host: string;
  /** 0 when it can't be read. */
  readonly port: number;
  /** Null when it was let through. */
  readonly denied: DenyReason | null;
  /** For a person: why, and what to do. Empty when it was let through. */
  readonly detail: string;
  /** From the run, and to it. */
  readonly bytesOut: number;
  readonly bytesIn: number;
}
