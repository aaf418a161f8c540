import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { createRedactor } from "../../../../src/foundation/credentials/redactor.ts";
import type {
  EgressAttempt,
  EgressPolicy,
} from "../../../../src/foundation/contracts/network-allow.ts";
import { allowedHosts } from "../../../../src/foundation/contracts/network-allow.ts";
import { createEgress } from "../../../../src/runtime/run-api/egress/egress.ts";
import type { EgressDeps } from "../../../../src/runtime/run-api/egress/egress.ts";
import { createRunSockets } from "../../../../src/runtime/run-api/run-sockets.ts";
import { fakeAbilities } from "../../../helpers/fake-abilities.ts";
import { perTest } from "../../../helpers/per-test.ts";
import { hostGateway } from "../../harness/model-host.ts";
import { openSocket, socketRecords, type SocketOfRun } from "../support.ts";
import { outsideHosts, type OutsideHosts } from "./hosts.ts";

const allowed = "api.allowed.test *.allowed.test api.allowed.test:80 api.allowed.test:22";

/** Runs with their sockets, the proxy behind them, and the hosts outside. */
export async function egressSide(changed: Partial<EgressDeps> = {}) {
  const hosts = await outsideHosts();
  const base = await mkdtemp(join(tmpdir(), "al-eg-"));
  const attempts: EgressAttempt[] = [];
  const problems: string[] = [];
  const onProblem = (message: string) => void problems.push(message);
  let policy: EgressPolicy = {
    agent: "dev",
    allow: allowedHosts(allowed.split(" ")),
    ownPort: 8080,
    bindings: [],
  };
  const egress = createEgress({
    policy: () => Promise.resolve(policy),
    resolve: hosts.resolve,
    dial: hosts.dial,
    approve: () => Promise.resolve(null),
    isHeld: () => false,
    ownAddresses: () => new Set(["192.168.7.7"]),
    proxyEnv: {},
    intercept: () => Promise.reject(new Error("no secret is bound")),
    onAttempt: (attempt) => attempts.push(attempt),
    onProblem,
    ...changed,
  });
  const records = socketRecords();
  const sockets = createRunSockets({ records, redactor: createRedactor(), onProblem });
  sockets.serve({ runApi: fakeAbilities(), models: hostGateway, egress });
  return {
    hosts,
    egress,
    /** The reports, in order. */
    attempts,
    problems,
    /** Resolves to the newest attempt once there are exactly `count`. */
    reported: async (count: number) => {
      await expect.poll(() => attempts.length).toBe(count);
      return attempts.at(-1);
    },
    /** Changes the policy of all runs. */
    allow: (entries: readonly string[], more: Partial<EgressPolicy> = {}): void =>
      void (policy = { ...policy, allow: allowedHosts(entries), ...more }),
    open: (instanceId: string) => openSocket({ sockets, base }, instanceId),
    close: async () => {
      await egress.close();
      await sockets.close();
      await hosts.close();
      await rm(base, { recursive: true, force: true });
    },
  };
}

export type EgressSide = Awaited<ReturnType<typeof egressSide>>;

/** Each test has its own side, and a run. */
export function egressPerTest() {
  const side = perTest(egressSide, (side) => side.close());
  return { side, run: perTest(() => side().open("dev-1")) };
}

type Run = Pick<SocketOfRun, "socket" | "token">;

/** Asks for a tunnel. */
export async function connectTo(
  { socket: socketPath, token }: Run,
  path: string,
  headers: OutgoingHttpHeaders = {},
) {
  const own = { "proxy-authorization": `Bearer ${token}`, ...headers };
  const asked = request({ socketPath, method: "CONNECT", path, headers: own });
  asked.end();
  const [answer, socket, head] = (await once(asked, "connect")) as [
    IncomingMessage,
    Socket,
    Buffer,
  ];
  socket.on("error", () => undefined);
  if (head.length > 0) socket.unshift(head);
  const { statusCode: status = 0, statusMessage: phrase = "" } = answer;
  /** The data after a refusal. */
  const detail = status === 200 ? "" : await text(socket);
  return { status, phrase, headers: answer.headers, socket, detail };
}

/** TLS over a tunnel, with any server name; empty for none. */
export function tlsOver(socket: Socket, servername: string, ca: string): TLSSocket {
  return connectTls({ socket, servername, ca, checkServerIdentity: () => undefined });
}

interface Sent {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

/** An HTTPS request through a tunnel. */
export async function getThrough(
  socket: Socket,
  url: string,
  { ca, method = "GET", headers = {}, body }: Pick<OutsideHosts, "ca"> & Sent,
) {
  const { hostname } = new URL(url);
  const createConnection = () => tlsOver(socket, hostname, ca);
  const own = { host: hostname, connection: "close", ...headers };
  const sent = httpsRequest(url, { createConnection, method, headers: own });
  sent.end(body);
  return answerTo(sent);
}

/** A request with a whole address. */
export async function forward(
  { socket: socketPath, token }: Run,
  path: string,
  { method = "GET", headers = {}, body }: Sent = {},
) {
  const own = { "proxy-authorization": `Bearer ${token}`, ...headers };
  const sent = request({ socketPath, method, path, headers: own, agent: false });
  sent.end(body);
  return answerTo(sent);
}

/** The answer, whole. */
async function answerTo(sent: ClientRequest) {
  // A refused body is not read to its end.
  sent.on("error", () => undefined);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return {
    status: answer.statusCode ?? 0,
    phrase: answer.statusMessage ?? "",
    headers: answer.headers,
    body: await text(answer),
  };
}
