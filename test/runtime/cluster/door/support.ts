import { once } from "node:events";
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { request } from "node:https";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import type { Served } from "../../../../src/runtime/run-api/app.ts";
import { remotePaths } from "../../../../src/runtime/cluster/remote-run/protocol.ts";
import type {
  ClaimRequest,
  InboxAnswer,
  LinesAnswer,
  RemoteLine,
  RemoteRuns,
} from "../../../../src/runtime/cluster/remote-run/protocol.ts";
import { createRedactor, type Redactor } from "../../../../src/foundation/credentials/redactor.ts";
import { createDoor } from "../../../../src/runtime/cluster/door/door.ts";
import type { Door, DoorOptions } from "../../../../src/runtime/cluster/door/door.ts";
import { doorIdentity } from "../../../../src/runtime/cluster/door/door-identity.ts";
import { createRunSockets, type RunSockets } from "../../../../src/runtime/run-api/run-sockets.ts";
import type { RunSocket } from "../../../../src/runtime/run-api/run-socket.ts";
import { openChannel } from "../../../../src/runtime/cluster/remote-run/pipe-channel.ts";
import type { Channel } from "../../../../src/runtime/cluster/remote-run/pipe-channel.ts";
import { openStore, type Store } from "../../../../src/foundation/store/store.ts";
import { aJob } from "../../harness/jobs.ts";
import { hostGateway } from "../../harness/model-host.ts";
import { fakeAbilities, type FakeAbilities } from "../../../helpers/fake-abilities.ts";
import { noEgress } from "../../run-api/no-egress.ts";
import { resource } from "../../run-api/support.ts";

/** Stands in for the runner behind the door: it notes what it is asked. */
export interface FakeRemoteRuns extends RemoteRuns {
  readonly claims: (ClaimRequest & { readonly instanceId: string })[];
  readonly received: RemoteLine[];
  /** Of requests for the inbox. */
  readonly signals: AbortSignal[];
  onLines: () => Promise<LinesAnswer>;
  onInbox: () => Promise<InboxAnswer>;
}

function fakeRemoteRuns(scheduler: string): FakeRemoteRuns {
  const fake: FakeRemoteRuns = {
    claims: [],
    received: [],
    signals: [],
    onLines: () => Promise.resolve({ stored: fake.received.at(-1)?.seq ?? 0, scheduler }),
    onInbox: () => Promise.resolve({ stop: null }),
    claim: (instanceId, claim) => {
      fake.claims.push({ ...claim, instanceId });
      const channel = { socket: "/run/al/channel.sock", token: "the ticket" };
      return Promise.resolve({
        job: aJob("/workspace", { instanceId, channel }),
        leaseSeconds: 90,
      });
    },
    lines: (_instanceId, lines) => {
      fake.received.push(...lines);
      return fake.onLines();
    },
    inbox: (_instanceId, signal) => {
      fake.signals.push(signal);
      return fake.onInbox();
    },
  };
  return fake;
}

/** One scheduler, as far as runs on other machines see it. */
export interface DoorScheduler {
  readonly sockets: RunSockets;
  readonly remote: FakeRemoteRuns;
  readonly abilities: FakeAbilities;
  readonly door: Door;
  readonly redactor: Redactor;
  port: number;
  readonly stop: () => Promise<void>;
}

export interface DoorSide {
  readonly dir: string;
  readonly certificate: string;
  readonly problems: string[];
  store: Store;
  /** The scheduler that runs. */
  now: DoorScheduler;
  /** Stops it, and starts another over the same files, at the same port, for these runs; it serves nobody yet. */
  restart(alive: readonly string[]): Promise<ReadonlyMap<string, RunSocket>>;
  serve(more?: Partial<Served>): void;
  remove(): Promise<void>;
}

/** A scheduler's end with a real door and a real store. */
export async function doorSide(limits: Partial<DoorOptions> = {}): Promise<DoorSide> {
  const dir = await mkdtemp(join(tmpdir(), "al-door-"));
  const identity = await doorIdentity(join(dir, "door.pem"));
  const problems: string[] = [];
  let store = openStore(dir);
  const start = async (port: number, alive: readonly string[]) => {
    const redactor = createRedactor();
    const onProblem = (message: string) => problems.push(message);
    const records = { local: store.channels, remote: store.remoteRuns };
    const sockets = createRunSockets({ records, redactor, onProblem });
    const restored = await sockets.restore(new Set(alive));
    const find = (name: string) => sockets.find(name);
    const door = createDoor({ identity, find, onProblem, ...limits });
    const listens = (await door.listen({ host: "127.0.0.1", port })) ?? 0;
    const stop = async () => {
      door.close();
      await sockets.close();
    };
    const remote = fakeRemoteRuns(`scheduler of ${alive.length}`);
    const abilities = fakeAbilities();
    const made = { sockets, remote, abilities, door, redactor, port: listens, stop };
    return { made, restored };
  };
  const side: DoorSide = {
    dir,
    certificate: identity.certificate,
    problems,
    store,
    now: (await start(0, [])).made,
    restart: async (alive) => {
      await side.now.stop();
      store.close();
      side.store = store = openStore(dir);
      const { made, restored } = await start(side.now.port, alive);
      side.now = made;
      return restored;
    },
    serve: (more = {}) => {
      const { sockets, abilities, remote } = side.now;
      sockets.serve({ runApi: abilities, models: hostGateway, egress: noEgress, remote, ...more });
    },
    remove: async () => {
      await side.now.stop();
      store.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
  side.serve();
  return side;
}

/** A run as its ticket has it. */
export interface TicketHolder {
  readonly name: string;
  readonly ticket: string;
  readonly runSocket: RunSocket;
}

export async function expectRun(side: DoorSide, instanceId: string): Promise<TicketHolder> {
  const name = `al-${instanceId}`;
  const { runSocket, token } = await side.now.sockets.openRemote(instanceId, name);
  return { name, ticket: token, runSocket };
}

/** Connects as a run does: it trusts the door's own certificate alone. */
export function connectToDoor(
  { certificate, now: { port } }: Pick<DoorSide, "certificate" | "now">,
  servername: string,
  options: ConnectionOptions = {},
): TLSSocket {
  const trust = { ca: certificate, checkServerIdentity: () => undefined };
  const where = { host: "127.0.0.1", port, servername, minVersion: "TLSv1.3" as const };
  // As TCP has it: one direction may end before the other.
  return connect({ ...where, ...trust, allowHalfOpen: true, ...options } as ConnectionOptions);
}

export interface AskOptions {
  readonly name: string;
  readonly token: string;
  readonly body?: unknown;
  readonly headers?: OutgoingHttpHeaders;
  readonly method?: string;
  readonly signal?: AbortSignal;
}

/** A request over a connection of its own. A text is sent as it is. */
export async function ask(side: DoorSide, path: string, options: AskOptions) {
  const { name, token, body, headers = {}, method = "POST", signal } = options;
  const isText = typeof body === "string";
  const sent = request({
    method,
    path,
    ...(signal && { signal }),
    createConnection: () => connectToDoor(side, name),
    headers: {
      host: "scheduler",
      connection: "close",
      authorization: `Bearer ${token}`,
      "idempotency-key": claimA,
      "content-type": isText ? "application/x-ndjson" : "application/json",
      ...headers,
    },
  });
  sent.end(isText || body === undefined ? body : JSON.stringify(body));
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  const given = await text(answer);
  return { status: answer.statusCode ?? 0, body: JSON.parse(given) as Record<string, unknown> };
}

/** The status of a request that needs the token of a run. */
export async function unlock(side: DoorSide, name: string, token: string): Promise<number> {
  return (await ask(side, "/run/unlock", { name, token, body: { resource } })).status;
}

export const claimA = "7d444840-9dc0-41d1-b245-5ffdce74fad2";
export const claimB = "9e107d9d-372b-4b6a-8f0e-3c2b1d5a6f70";

export function claim(side: DoorSide, { name, ticket }: TicketHolder, id = claimA) {
  return ask(side, remotePaths.claim, { name, token: ticket, body: { claim: id, node: "n1" } });
}

/** The token of a claim. */
export async function tokenOf(side: DoorSide, run: TicketHolder, id = claimA): Promise<string> {
  const { body } = await claim(side, run, id);
  return (body.job as { channel: { token: string } }).channel.token;
}

/** The real end of a run on another machine: its socket, by which it reaches the door. */
export function channelOf(
  { dir, certificate, now: { port } }: DoorSide,
  name: string,
): Promise<Channel> {
  return openChannel(join(dir, name), { door: `127.0.0.1:${port}`, certificate, name });
}
