import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type {
  EgressAttempt,
  EgressPolicy,
  TransferredBytes,
} from "../../../foundation/contracts/network-allow.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { cutTunnel, failed, refuseRequest, refuseTunnel } from "./answers.ts";
import { connectTunnel, type TunnelDeps } from "./connect-tunnel.ts";
import { assertAllowed, EgressRefusal, parseAuthority } from "./decide.ts";
import type { Attempt, Authority, Denial } from "./decide.ts";
import { forwardRequest, parseHttpTarget } from "./forward-http.ts";

/** The requesting run, as its socket knows it. */
interface EgressRun {
  readonly instanceId: string;
  /** The run's connections to hosts, aborted when the run ends. */
  readonly tunnels: Set<AbortController>;
}

export interface EgressDeps extends TunnelDeps {
  /** The hosts that a run may reach now. Rejects if the run has ended. */
  readonly policy: (instanceId: string) => Promise<EgressPolicy>;
  /** Whether the run's gates hold a host now. */
  readonly isHeld: (asked: Authority, instanceId: string) => boolean;
  /** Called at the end of each connection, and for each refusal. */
  readonly onAttempt: (attempt: EgressAttempt) => void;
  /** Called for errors of the scheduler itself, which concern the operator. */
  readonly onProblem: (message: string) => void;
}

/** The most connections of one run, including those that are not established yet. */
const maxTunnels = 128;

/** One connection of a run: a tunnel or a forwarded request. */
interface Passage {
  /** The address as the request spells it. */
  readonly written: string;
  /** Null if the address can't be parsed. */
  readonly asked: Authority | null;
  /** Serves the connection to its end. Rejects with an `EgressRefusal`. */
  readonly serve: (attempt: Attempt, policy: EgressPolicy, signal: AbortSignal) => Promise<void>;
  /** Answers with the refusal; null for an error of the scheduler itself. */
  readonly refuse: (refusal: EgressRefusal | null) => void;
  readonly cut: () => void;
}

/** A passage that is served. */
interface OpenPassage {
  readonly asked: Authority | null;
  readonly instanceId: string;
  /** Whether a gate held the host when it was opened. */
  readonly wasHeld: boolean;
  readonly served: Promise<void>;
}

const longestHost = 255;
const noBytes = { bytesOut: 0, bytesIn: 0 };

/** The forward proxy of all runs. */
export function createEgress(deps: EgressDeps) {
  const open = new Map<AbortController, OpenPassage>();

  const begin = (run: EgressRun, passage: Passage): void => {
    const cut = new AbortController();
    cut.signal.addEventListener("abort", passage.cut);
    const { asked } = passage;
    const { instanceId } = run;
    const wasHeld = asked !== null && deps.isHeld(asked, instanceId);
    const served = serve(run, passage, cut, deps)
      .catch((error: unknown) => deps.onProblem(messageOf(error)))
      .finally(() => open.delete(cut));
    open.set(cut, { instanceId, asked, wasHeld, served });
  };

  const isAllowed = async ({ instanceId, asked, wasHeld }: OpenPassage): Promise<boolean> => {
    if (asked === null) return false;
    assertAllowed(await deps.policy(instanceId), asked);
    return wasHeld || !deps.isHeld(asked, instanceId);
  };

  return {
    /** After a change of a config: cuts the connections that it no longer allows, or that a new gate holds. */
    recheck: () => {
      for (const [cut, passage] of open) {
        void isAllowed(passage).then(
          (isStill) => isStill || cut.abort(),
          () => cut.abort(),
        );
      }
    },
    /** Serves a CONNECT. */
    connect: (run: EgressRun, { url = "" }: IncomingMessage, client: Socket, head: Buffer) => {
      takeOver(client, head);
      let isAccepted = false;
      begin(run, {
        written: url,
        asked: parseAuthority(url),
        cut: () => client.destroy(),
        serve: (attempt, policy, signal) => {
          const onAccepted = (): void => void (isAccepted = true);
          const onDenied = (refusal: Denial): void =>
            deps.onAttempt(reportOf(attempt, policy.agent, noBytes, refusal));
          return connectTunnel({ attempt, policy, client, signal, onAccepted, onDenied }, deps);
        },
        refuse: (refusal) => {
          if (isAccepted) cutTunnel(client, refusal);
          else refuseTunnel(client, refusal ?? failed);
        },
      });
    },
    /** Serves a request with an absolute URL, `http://…`. */
    forward: (run: EgressRun, request: IncomingMessage, response: ServerResponse) => {
      const { url = "" } = request;
      const target = parseHttpTarget(url);
      begin(run, {
        written: url,
        asked: target?.asked ?? null,
        cut: () => response.destroy(),
        serve: (attempt, policy, signal) =>
          forwardRequest(
            { attempt, path: target?.path ?? "/", policy, request, response, signal },
            deps,
          ),
        refuse: (refusal) => {
          if (response.headersSent) response.destroy();
          else refuseRequest(request, response, refusal ?? failed);
        },
      });
    },
    /** Cuts all open connections; resolves when they are reported. */
    close: async () => {
      for (const cut of open.keys()) cut.abort();
      await Promise.all([...open.values()].map(({ served }) => served));
    },
  };
}

/** Connects runs to the hosts of their allow lists. Requests are already authenticated. */
export type Egress = ReturnType<typeof createEgress>;

async function serve(
  { instanceId, tunnels }: EgressRun,
  { written, asked, serve, refuse }: Passage,
  cut: AbortController,
  deps: EgressDeps,
) {
  const attempt: Attempt = {
    instanceId,
    asked: asked ?? { host: written.slice(0, longestHost), port: 0 },
    bytes: () => noBytes,
  };
  const isOver = tunnels.size >= maxTunnels;
  if (!isOver) tunnels.add(cut);
  let agent = "";
  const report = (bytes: typeof noBytes, refusal?: EgressRefusal | null) =>
    deps.onAttempt(reportOf(attempt, agent, bytes, refusal));
  try {
    const policy = await deps.policy(instanceId);
    agent = policy.agent;
    if (isOver) throw new EgressRefusal("too_many_tunnels", attempt.asked);
    if (asked === null) {
      throw new EgressRefusal("malformed", attempt.asked, JSON.stringify(attempt.asked.host));
    }
    await serve(attempt, policy, cut.signal);
    report(attempt.bytes());
  } catch (error) {
    const refusal = error instanceof EgressRefusal ? error : null;
    refuse(refusal);
    // An abort at the run's end is not a refusal.
    if (cut.signal.aborted) report(attempt.bytes());
    else if (refusal !== null) report(noBytes, refusal);
    else deps.onProblem(`${instanceId}: ${attempt.asked.host}: ${messageOf(error)}`);
  } finally {
    tunnels.delete(cut);
  }
}

function reportOf(
  { instanceId, asked: { host, port } }: Attempt,
  agent: string,
  bytes: TransferredBytes,
  refusal?: Denial | null,
): EgressAttempt {
  const { code: denied = null, detail = "" } = refusal ?? {};
  return { instanceId, agent, host, port, denied, detail, ...bytes };
}

/** Prepares a connection that the HTTP server has handed over. */
function takeOver(client: Socket, head: Buffer): void {
  client.setTimeout(0);
  client.setNoDelay(true);
  if (head.length > 0) client.unshift(head);
}
