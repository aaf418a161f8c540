import { join } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Job } from "../../foundation/contracts/job.ts";
import {
  claimRequestSchema,
  maxLinesBytes,
  remoteLineSchema,
  remotePaths,
} from "../wire/remote-protocol.ts";
import type { ClaimAnswer, RemoteLine, RemoteRuns } from "../wire/remote-protocol.ts";
import { endedRun, mountedSocketDir, parsed, refusal, starting } from "../wire/protocol.ts";
import type { RunSocket } from "./run-socket.ts";
import { socketName } from "./socket-dir.ts";

export interface RemoteRoutesOptions {
  readonly socketOf: (request: FastifyRequest["raw"]) => RunSocket | undefined;
  /** Null while the scheduler starts. */
  readonly remote: () => RemoteRuns | null;
  /** If true, lines are rejected: the run keeps them, while the scheduler's full queue may drop lines. */
  readonly areLogsBehind: () => boolean;
}

type Perform = (
  socket: RunSocket,
  remote: RemoteRuns,
  request: FastifyRequest,
  signal: AbortSignal,
) => Promise<unknown>;

/** The socket that a run on another machine creates itself, if no engine mounts one. */
export const remoteSocketPath = join(mountedSocketDir, socketName);

/** The requests that only runs on other machines make. */
export function addRemoteRoutes(app: FastifyInstance, options: RemoteRoutesOptions): void {
  const performing = (perform: Perform) => (request: FastifyRequest, reply: FastifyReply) => {
    const socket = options.socketOf(request.raw);
    const remote = options.remote();
    if (socket === undefined || remote === null) throw starting();
    return socket.remoteRequests.answer(
      reply.raw,
      () => endedRun(socket.ended),
      (signal) => perform(socket, remote, request, signal),
    );
  };
  app.post(remotePaths.claim, performing(claim));
  app.get(
    remotePaths.inbox,
    performing(({ instanceId }, remote, _request, signal) => remote.inbox(instanceId, signal)),
  );
  void app.register((lines, _options, registered) => {
    lines.removeAllContentTypeParsers();
    lines.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) =>
      done(null, body),
    );
    lines.post(
      remotePaths.lines,
      { bodyLimit: maxLinesBytes },
      performing(async ({ instanceId }, remote, { body }) => {
        if (options.areLogsBehind()) throw refusal("unavailable", "The logs are behind.");
        return remote.lines(instanceId, linesIn(body));
      }),
    );
    registered();
  });
}

async function claim(
  socket: RunSocket,
  remote: RemoteRuns,
  { body }: FastifyRequest,
): Promise<ClaimAnswer> {
  const { instanceId } = socket;
  const request = parsed(claimRequestSchema, body, "the claim");
  const token = await socket.claim(request.claim);
  const { job, leaseSeconds } = await remote.claim(instanceId, request);
  return { job: withToken(job, token), leaseSeconds };
}

function withToken(job: Job, token: string): Job {
  // A job prepared again after a restart has no channel.
  return { ...job, channel: { socket: job.channel?.socket ?? remoteSocketPath, token } };
}

function linesIn(body: unknown): readonly RemoteLine[] {
  if (typeof body !== "string") return [];
  const texts = body.split("\n").filter((text) => text !== "");
  return texts.map((text, index) => parsed(remoteLineSchema, jsonIn(text), `line ${index + 1}`));
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw refusal("malformed", "a line is not JSON", { cause });
  }
}
