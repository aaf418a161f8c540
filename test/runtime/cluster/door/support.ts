import { openStore } from "../../../../src/features/open-store.ts";
import { once } from "node:events";
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { request } from "node:https";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import type { Served } from "../../../../src/runtime/run-api/app.ts";
import { remotePaths } from "../../../../src/runtime/wire/remote-protocol.ts";
import type {
  ClaimAnswer,
  ClaimRequest,
  InboxAnswer,
  LinesAnswer,
  RemoteLine,
} from "../../../../src/runtime/wire/remote-protocol.ts";
import { createRedactor } from "../../../../src/foundation/credentials/redactor.ts";
import { createDoor } from "../../../../src/runtime/cluster/door/door.ts";
import type { DoorOptions } from "../../../../src/runtime/cluster/door/door.ts";
import { doorIdentity } from "../../../../src/runtime/cluster/door/door-identity.ts";
import { createRunSockets } from "../../../../src/runtime/run-api/run-sockets.ts";
import type { RunSocket } from "../../../../src/runtime/run-api/run-socket.ts";
import { openChannel } from "../../../../src/runtime/cluster/remote-run/pipe-channel.ts";
import type { Channel } from "../../../../src/runtime/cluster/remote-run/pipe-channel.ts";
import { type Store } from "../../../../src/foundation/store/store.ts";
import { aJob } from "../../harness/jobs.ts";
import { hostGateway } from "../../harness/model-host.ts";
import { fakeAbilities } from "../../../helpers/fake-abilities.ts";
import { noEgress } from "../../run-api/no-egress.ts";
import { resource } from "../../run-api/support.ts";
import { perTest } from "../../../helpers/per-test.ts";

/** Stands in for the runner behind the door: it notes what it is asked. */
function fakeRemoteRuns(scheduler: string) {
  const fake = {
    claims: [] as (ClaimRequest & { readonly instanceId: string })[],
    received: [] as RemoteLine[],
    /** Of requests for the inbox. */
    signals: [] as AbortSignal[],
    onLines: (): Promise<LinesAnswer> =>
      Promise.resolve({ stored: fake.received.at(-1)?.seq ?? 0, scheduler }),
    onInbox: (): Promise<InboxAnswer> => Promise.resolve({ stop: null }),
    claim: (instanceId: string, claim: ClaimRequest): Promise<ClaimAnswer> => {
      fake.claims.push({ ...claim, instanceId });
      const channel = { socket: "/run/al/channel.sock", token: "the ticket" };
      const job = aJob("/workspace", { instanceId, channel });
      return Promise.resolve({ job, leaseSeconds: 90 });
    },
    lines: (_instanceId: string, lines: readonly RemoteLine[]): Promise<LinesAnswer> => {
      fake.received.push(...lines);
      return fake.onLines();
    },
    inbox: (_instanceId: string, signal: AbortSignal): Promise<InboxAnswer> => {
      fake.signals.push(signal);
      return fake.onInbox();
    },
  };
  return fake;
}

/** A scheduler's end with a real door and a real store. */
export async function doorSide(limits: Partial<DoorOptions> = {}) {
  const dir = await mkdtemp(join(tmpdir(), "al-door-"));
  const identity = await doorIdentity(join(dir, "door.pem"));
  const problems: string[] = [];
  const store = openStore(dir);
  const start = async (store: Store, port: number, alive: readonly string[]) => {
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
    return { sockets, restored, remote, abilities, door, redactor, port: listens, stop };
  };
  const side = {
    dir,
    certificate: identity.certificate,
    problems,
    store,
    /** The scheduler that runs. */
    now: await start(store, 0, []),
    /** Stops it, and starts another over the same files, at the same port, for these runs; it serves nobody yet. */
    restart: async (alive: readonly string[]): Promise<ReadonlyMap<string, RunSocket>> => {
      await side.now.stop();
      side.store.close();
      side.store = openStore(dir);
      side.now = await start(side.store, side.now.port, alive);
      return side.now.restored;
    },
    serve: (more: Partial<Served> = {}): void => {
      const { sockets, abilities, remote } = side.now;
      sockets.serve({ runApi: abilities, models: hostGateway, egress: noEgress, remote, ...more });
    },
    remove: async (): Promise<void> => {
      await side.now.stop();
      side.store.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
  side.serve();
  return side;
}

export type DoorSide = Awaited<ReturnType<typeof doorSide>>;

export async function expectRun(side: DoorSide, instanceId: string) {
  const name = `al-${instanceId}`;
  const { runSocket, token } = await side.now.sockets.openRemote(instanceId, name);
  return { name, ticket: token, runSocket };
}

/** A run as its ticket has it. */
export type TicketHolder = Awaited<ReturnType<typeof expectRun>>;

/** Connects as a run does: it trusts the door's own certificate alone. */
export function connectToDoor(
  { certificate: ca, now: { port } }: Pick<DoorSide, "certificate" | "now">,
  servername: string,
  options: ConnectionOptions = {},
): TLSSocket {
  return connect({
    host: "127.0.0.1",
    port,
    servername,
    minVersion: "TLSv1.3",
    ca,
    checkServerIdentity: () => undefined,
    // As TCP has it: one direction may end before the other.
    allowHalfOpen: true,
    ...options,
  } as ConnectionOptions);
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
async function ask(side: DoorSide, path: string, options: AskOptions) {
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

export const claimA = "7d444840-9dc0-41d1-b245-5ffdce74fad2";
export const claimB = "9e107d9d-372b-4b6a-8f0e-3c2b1d5a6f70";

/** A door for each test, which the run `dev-1` is expected at, and the requests of runs. */
export function aDoor(limits: Partial<DoorOptions> = {}) {
  const side = perTest(
    () => doorSide(limits),
    (side) => side.remove(),
  );
  const run = perTest(() => expectRun(side(), "dev-1"));
  const claim = ({
    id: claim = claimA,
    ...given
  }: Partial<TicketHolder> & { id?: string } = {}) => {
    const { name, ticket: token } = { ...run(), ...given };
    return ask(side(), remotePaths.claim, { name, token, body: { claim, node: "n1" } });
  };
  return {
    side,
    run,
    expectRun: (instanceId: string) => expectRun(side(), instanceId),
    ask: (path: string, options: Partial<AskOptions>) =>
      ask(side(), path, { name: run().name, token: run().ticket, ...options }),
    claim,
    /** The token of a claim. */
    tokenOf: async (given?: TicketHolder): Promise<string> => {
      const { body } = await claim(given);
      return (body.job as { channel: { token: string } }).channel.token;
    },
    /** The status of a request that needs the token of a run. */
    unlock: async (token: string, name = run().name): Promise<number> =>
      (await ask(side(), "/run/unlock", { name, token, body: { resource } })).status,
    /** The real end of the run on another machine: its socket, by which it reaches the door. */
    openChannel: (): Promise<Channel> => {
      const { dir, certificate, now } = side();
      const { name } = run();
      return openChannel(join(dir, name), { door: `127.0.0.1:${now.port}`, certificate, name });
    },
  };
}
