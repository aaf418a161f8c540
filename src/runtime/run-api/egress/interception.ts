import type { Socket } from "node:net";
import type { DenyReason } from "../../../foundation/contracts/deny-reasons.ts";
import type { SecretBinding } from "../../../foundation/contracts/egress.ts";

/** A tunnel to a host that a secret is bound to: allowed, its addresses checked, its TLS server name the host's. */
export interface Interception {
  readonly instanceId: string;
  /** Canonical. */
  readonly host: string;
  readonly port: number;
  /** The run's end: paused, its TLS hello not read yet. It is the interceptor's now, to its close. */
  readonly client: Socket;
  /** Connects to one of the host's checked addresses. No second lookup. Rejects with an `EgressRefusal`. */
  readonly dial: () => Promise<Socket>;
  /** All bindings of the run, those of other hosts among them: no sentinel may leave. */
  readonly bindings: readonly SecretBinding[];
  /** Reports a request that was refused. The bytes of the tunnel are counted at `client`, and need no report. */
  readonly onDenied: (reason: DenyReason, detail: string) => void;
}

/** Opens a tunnel's TLS in place of passing it through. Resolves when `client` is closed, or rejects: then it is cut. */
export type Intercept = (interception: Interception) => Promise<void>;
