import type { EgressAttempt } from "../../../foundation/contracts/egress.ts";
import type { Authority } from "./authority.ts";
import type { EgressRefusal } from "./decide.ts";

/** The run that asks, as its socket has it. */
export interface EgressRun {
  readonly instanceId: string;
  /** Its connections to hosts: they are aborted when it ends. */
  readonly tunnels: Set<AbortController>;
}

type Bytes = Pick<EgressAttempt, "bytesOut" | "bytesIn">;

const longestHost = 255;
const noBytes: Bytes = { bytesOut: 0, bytesIn: 0 };

/** One connection that a run asked for, as it is reported. */
export class Attempt {
  /** Empty until the run's policy is read. */
  agent = "";
  readonly asked: Authority;
  /** What has passed so far. */
  bytes: () => Bytes = () => noBytes;
  readonly instanceId: string;

  /** `written` is the address as the request has it, which `asked` is null for when it can't be read. */
  constructor({ instanceId }: EgressRun, asked: Authority | null, written: string) {
    this.instanceId = instanceId;
    this.asked = asked ?? { host: written.slice(0, longestHost), port: 0 };
  }

  passed(): EgressAttempt {
    return this.#report({ denied: null, detail: "" }, this.bytes());
  }

  /** An attempt that was refused: no bytes passed. */
  refused({ reason, detail }: Pick<EgressRefusal, "reason" | "detail">): EgressAttempt {
    return this.#report({ denied: reason, detail }, noBytes);
  }

  #report(
    { denied, detail }: Pick<EgressAttempt, "denied" | "detail">,
    { bytesOut, bytesIn }: Bytes,
  ): EgressAttempt {
    const { host, port } = this.asked;
    const { instanceId, agent } = this;
    return { instanceId, agent, host, port, denied, detail, bytesOut, bytesIn };
  }
}
