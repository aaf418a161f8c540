import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { EgressAttempt, EgressPolicy } from "../../../foundation/contracts/egress.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { cutTunnel, failed, refuseRequest, refuseTunnel } from "./answers.ts";
import { Attempt } from "./attempt.ts";
import type { EgressRun } from "./attempt.ts";
import { parseAuthority } from "./authority.ts";
import { connectTunnel } from "./connect-tunnel.ts";
import type { TunnelDeps } from "./connect-tunnel.ts";
import { EgressRefusal } from "./decide.ts";
import { forwardRequest, parseHttpTarget } from "./forward-http.ts";

export interface EgressDeps extends TunnelDeps {
  /** What a run may reach as of now. Rejects when it is over. */
  readonly policy: (instanceId: string) => Promise<EgressPolicy>;
  /** Takes each connection at its end, and each refusal. */
  readonly onAttempt: (attempt: EgressAttempt) => void;
  /** What an operator may want to know of: an error that is the scheduler's own. */
  readonly onProblem: (message: string) => void;
}

/** The way of runs to the hosts of their allow lists. Requests are already authenticated. */
export interface Egress {
  /** Serves a CONNECT. */
  connect(run: EgressRun, request: IncomingMessage, client: Socket, head: Buffer): void;
  /** Serves a request with a whole address, `http://…`. */
  forward(run: EgressRun, request: IncomingMessage, response: ServerResponse): void;
  /** Cuts what is open; resolves when all of it is reported. */
  close(): Promise<void>;
}

/** Connections of one run, those that are not established yet among them. */
const maxTunnels = 128;

/** One connection of a run, in the way that it asked for. */
interface Passage {
  readonly run: EgressRun;
  readonly attempt: Attempt;
  /** Serves it to its end. Rejects with an `EgressRefusal`. */
  readonly serve: (policy: EgressPolicy, signal: AbortSignal) => Promise<void>;
  /** Answers in its place; null for an error of the scheduler's own. */
  readonly refuse: (refusal: EgressRefusal | null) => void;
  readonly cut: () => void;
}

/** The forward proxy of all runs. */
export function createEgress(deps: EgressDeps): Egress {
  const open = new Map<AbortController, Promise<void>>();

  const serve = async ({ run, attempt, serve, refuse }: Passage, cut: AbortController) => {
    const { instanceId, tunnels } = run;
    const isOver = tunnels.size >= maxTunnels;
    if (!isOver) tunnels.add(cut);
    try {
      const policy = await deps.policy(instanceId);
      attempt.agent = policy.agent;
      if (isOver) throw new EgressRefusal("too_many_tunnels", attempt.asked);
      await serve(policy, cut.signal);
      deps.onAttempt(attempt.passed());
    } catch (error) {
      const refusal = error instanceof EgressRefusal ? error : null;
      refuse(refusal);
      // The run ended, and was refused nothing.
      if (cut.signal.aborted) deps.onAttempt(attempt.passed());
      else if (refusal !== null) deps.onAttempt(attempt.refused(refusal));
      else deps.onProblem(`${instanceId}: ${attempt.asked.host}: ${messageOf(error)}`);
    } finally {
      tunnels.delete(cut);
    }
  };
  const begin = (passage: Passage): void => {
    const cut = new AbortController();
    cut.signal.addEventListener("abort", passage.cut);
    const served = serve(passage, cut)
      .catch((error: unknown) => deps.onProblem(messageOf(error)))
      .finally(() => open.delete(cut));
    open.set(cut, served);
  };

  return {
    connect: (run, { url = "" }, client, head) => {
      takeOver(client, head);
      const asked = parseAuthority(url);
      const attempt = new Attempt(run, asked, url);
      let isAccepted = false;
      begin({
        run,
        attempt,
        cut: () => client.destroy(),
        serve: (policy, signal) => {
          if (asked === null) throw malformed(attempt);
          const onAccepted = (): void => void (isAccepted = true);
          const onDenied = (refusal: Pick<EgressRefusal, "reason" | "detail">): void =>
            deps.onAttempt(attempt.refused(refusal));
          const request = { attempt, asked, policy, client, signal, onAccepted, onDenied };
          return connectTunnel(request, deps);
        },
        refuse: (refusal) => {
          if (isAccepted) cutTunnel(client, refusal);
          else refuseTunnel(client, refusal ?? failed);
        },
      });
    },
    forward: (run, request, response) => {
      const { url = "" } = request;
      const target = parseHttpTarget(url);
      const attempt = new Attempt(run, target?.asked ?? null, url);
      begin({
        run,
        attempt,
        cut: () => response.destroy(),
        serve: (policy, signal) => {
          if (target === null) throw malformed(attempt);
          return forwardRequest({ attempt, target, policy, request, response, signal }, deps);
        },
        refuse: (refusal) => {
          if (response.headersSent) response.destroy();
          else refuseRequest(request, response, refusal ?? failed);
        },
      });
    },
    close: async () => {
      for (const cut of open.keys()) cut.abort();
      await Promise.all(open.values());
    },
  };
}

function malformed({ asked }: Attempt): EgressRefusal {
  return new EgressRefusal("malformed", asked, { more: JSON.stringify(asked.host) });
}

/** The HTTP server has let go of the connection. */
function takeOver(client: Socket, head: Buffer): void {
  client.on("error", () => client.destroy());
  client.setTimeout(0);
  client.setNoDelay(true);
  if (head.length > 0) client.unshift(head);
}
