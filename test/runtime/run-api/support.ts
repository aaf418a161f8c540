import { hostGateway, hostVerdict } from "../harness/model-host.ts";
import { noEgress } from "./no-egress.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRunSockets } from "../../../src/runtime/run-api/run-sockets.ts";
import type { RunSocketsDeps } from "../../../src/runtime/run-api/run-sockets.ts";
import type { StoredRemoteRun } from "../../../src/runtime/run-api/run-tokens.ts";
import type { StoredSocket } from "../../../src/runtime/run-api/run-socket.ts";
import { createRedactor } from "../../../src/foundation/credentials/redactor.ts";
import { createRunApiClient } from "../../../src/runtime/harness/run-api/client.ts";
import { postJson } from "../../../src/runtime/wire/post-json.ts";
import type { RequestAnswer } from "../../../src/runtime/wire/protocol.ts";
import { fakeAbilities, held } from "../../helpers/fake-abilities.ts";

export const resource = "github:acme/app/issues/7";
export const never = new AbortController().signal;

/** Opens the socket of a run. */
export async function openSocket(
  { sockets, base }: Pick<SocketSide, "sockets" | "base">,
  instanceId: string,
  baseDir = base,
) {
  const { runSocket, token, path, begin } = await sockets.open(instanceId, baseDir);
  await begin?.();
  return {
    socket: path,
    token,
    dir: runSocket.dir ?? "",
    /** The run is over. */
    dispose: () => runSocket[Symbol.dispose](),
  };
}

/** A run socket with its token, as the run has it. */
export type SocketOfRun = Awaited<ReturnType<typeof openSocket>>;

/** The sockets that a scheduler has stored, in memory. */
export function socketRecords(): RunSocketsDeps["records"] {
  return { local: recordsOf<StoredSocket>(), remote: remoteRecords() };
}

function recordsOf<T extends { readonly instanceId: string }>() {
  const stored = new Map<string, T>();
  return {
    add: (record: T) => Promise.resolve(void stored.set(record.instanceId, record)),
    remove: (instanceId: string) => Promise.resolve(void stored.delete(instanceId)),
    all: () => [...stored.values()],
  };
}

/** As the store has them. */
function remoteRecords(): RunSocketsDeps["records"]["remote"] {
  const runs = recordsOf<StoredRemoteRun>();
  const claims = new Map<string, string>();
  return {
    remove: runs.remove,
    all: runs.all,
    add: (run) => runs.add({ ...run, tokenHash: null }),
    claim: async (instanceId, claimId, tokenHash) => {
      const run = runs.all().find((each) => each.instanceId === instanceId);
      if (run === undefined || (claims.get(instanceId) ?? claimId) !== claimId) return false;
      claims.set(instanceId, claimId);
      await runs.add({ ...run, tokenHash });
      return true;
    },
  };
}

/** A scheduler's end of sockets, in a folder of its own. */
export async function socketSide() {
  const base = await mkdtemp(join(tmpdir(), "al-ch-"));
  /** Lines of the scheduler's log. */
  const problems: string[] = [];
  const abilities = fakeAbilities({
    "model-verdict": ({ request: { call = "" } }) => ({ ok: true, verdict: hostVerdict(call) }),
  });
  const records = socketRecords();
  const onProblem = (message: string) => problems.push(message);
  /** Another scheduler, which serves nobody yet. */
  const successor = () => createRunSockets({ records, redactor: createRedactor(), onProblem });
  const sockets = successor();
  sockets.serve({ runApi: abilities, models: hostGateway, egress: noEgress });
  const remove = async (): Promise<void> => {
    await side.sockets.close();
    await rm(base, { recursive: true, force: true });
  };
  const side = { base, abilities, problems, sockets, successor, remove };
  return side;
}

export type SocketSide = Awaited<ReturnType<typeof socketSide>>;

/** A bare request; what is not given is right. */
export function post(
  { socket, token }: Pick<SocketOfRun, "socket" | "token">,
  ability: string,
  { body = { resource }, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
) {
  const key = "7d444840-9dc0-41d1-b245-5ffdce74fad2";
  return postJson({
    socketPath: socket,
    path: `/run/${ability}`,
    headers: { authorization: `Bearer ${token}`, "idempotency-key": key, ...headers },
    body,
  });
}

export function clientOf({ socket, token }: SocketOfRun, pauses?: number) {
  return createRunApiClient({ socket, token }, pauses);
}

/** A wait of the run that the scheduler answers when `resolve` is called. */
export async function waitingRun(side: Pick<SocketSide, "abilities">, run: SocketOfRun) {
  const { promise, resolve } = held<RequestAnswer<"wait">>();
  side.abilities.answers.wait = () => promise;
  const waiting = clientOf(run).ask("wait", { kind: "webhook" }, never);
  await expect.poll(() => side.abilities.asked.length).toBe(1);
  return { waiting, resolve: () => resolve(waitOver) };
}

export const waitOver: RequestAnswer<"wait"> = { ok: true, timedOut: true, trigger: null };
