import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";
import { isAbsoluteForm } from "../wire/http-proxy.ts";
import { messageOf } from "../../foundation/errors.ts";
import { runApiApp, type Served } from "./app.ts";
import { bridgeKey } from "../../foundation/contracts/model-gateway.ts";
import { fixedTokens } from "./run-tokens.ts";
import { createRemoteSockets, type RemoteSocketsDeps } from "./remote-sockets.ts";
import { RunSocket, type SocketOwner, type StoredSocket } from "./run-socket.ts";
import {
  notAuthenticated,
  notReady,
  refuseRequest,
  refuseTunnel,
  unauthorized,
} from "./egress/answers.ts";
import type { EgressAnswer } from "./egress/answers.ts";
import { carriesToken, hashOf, makeSocketDir, newToken, removeSocketDir } from "./socket-dir.ts";

/** A socket that was created for a run. */
export interface OpenedSocket {
  readonly runSocket: RunSocket;
  /** Secret of the run; only its hash is stored. For a run on another machine, this is the ticket. */
  readonly token: string;
  /** Absolute path of the socket, on the machine of the run. */
  readonly path: string;
  /**
   * Records the run's start and how a later scheduler serves it; must resolve before the run's process is used. Absent
   * for a run on another machine, which is recorded when it claims its ticket.
   */
  readonly begin?: () => Promise<void>;
}

interface LocalSocketsDeps {
  readonly records: {
    /** Resolves once committed, as `remove` does. */
    add(socket: StoredSocket): Promise<void>;
    remove(instanceId: string): Promise<void>;
    all(): readonly StoredSocket[];
  };
  readonly redactor: RemoteSocketsDeps["redactor"];
  readonly onProblem: (message: string) => void;
}

export interface RunSocketsDeps {
  readonly records: {
    readonly local: LocalSocketsDeps["records"];
    readonly remote: RemoteSocketsDeps["records"];
  };
  readonly redactor: RemoteSocketsDeps["redactor"];
  readonly onProblem: (message: string) => void;
}

type OnDispose = (socket: RunSocket) => void;

/** The sockets of one scheduler's runs. */
export function createRunSockets({ records, redactor, onProblem }: RunSocketsDeps) {
  let served: Served | null = null;
  const started = Promise.withResolvers<undefined>();
  const origins = new WeakMap<IncomingMessage, RunSocket>();
  const createApp = async (): Promise<FastifyInstance> => {
    const app = runApiApp(
      (request) => origins.get(request),
      () => served,
      (instanceId, error) => onProblem(`${instanceId}: ${messageOf(error)}`),
    );
    await app.ready();
    return app;
  };
  /** Created for the first request of a run: a start does without it. */
  let created: Promise<FastifyInstance> | undefined;

  /** Passes on a request that is streamed, once the scheduler has started. Only the headers have been read. */
  const pass = async (
    socket: RunSocket,
    request: IncomingMessage,
    serve: (served: Served) => void,
    refuse: (answer: EgressAnswer) => void,
    isForProxy = true,
  ): Promise<void> => {
    const login = request.headers[isForProxy ? "proxy-authorization" : "authorization"];
    const isToken = carriesToken(login, socket.tokens.tokenHash);
    if (!isToken || socket.ended === "over") {
      return refuse(isForProxy ? notAuthenticated : unauthorized);
    }
    socket.markAuthenticated(request.socket);
    await started.promise;
    // The client hung up meanwhile: nothing would end a request that begins now.
    if (request.socket.destroyed) return;
    if (served === null || socket.ended === "closing") return refuse(notReady);
    serve(served);
  };
  const create = (owner: SocketOwner, onDispose: OnDispose): RunSocket => {
    const socket = new RunSocket(
      owner,
      (request, response) => {
        const { url = "" } = request;
        const isForProxy = isAbsoluteForm(url);
        const toModel = url.startsWith("/model/");
        const withFiles = url.startsWith("/files/");
        if (!toModel && !withFiles && !isForProxy) {
          origins.set(request, socket);
          return void (created ??= createApp()).then((app) => app.routing(request, response));
        }
        const serve = ({ models, files, egress }: Served): void => {
          if (toModel) void models.handle(socket.instanceId, request, response);
          else if (withFiles) void files?.handle(socket.instanceId, request, response);
          else void egress.forward(socket, request, response);
        };
        const refuse = (answer: EgressAnswer) => refuseRequest(request, response, answer);
        void pass(socket, request, serve, refuse, isForProxy);
      },
      (request, connection, head) => {
        connection.on("error", () => connection.destroy());
        const serve = ({ egress }: Served) => egress.connect(socket, request, connection, head);
        void pass(socket, request, serve, (answer) => refuseTunnel(connection, answer));
      },
      onDispose,
    );
    return socket;
  };
  const local = createLocalSockets({ records: records.local, redactor, onProblem }, create);
  const remote = createRemoteSockets({ records: records.remote, redactor, create, onProblem });

  return {
    /** Starts to answer requests; until then runs wait for hosts, and retry other requests. */
    serve: (given: Served) => {
      served = given;
      started.resolve(undefined);
    },
    /** Creates a run's socket in a new folder below `baseDir`, which must exist. Rejects with a Problem. */
    open: (instanceId: string, baseDir: string): Promise<OpenedSocket> =>
      local.open(instanceId, baseDir),
    /** Prepares for a run on another machine, which will connect with this TLS server name. */
    openRemote: (instanceId: string, name: string): Promise<OpenedSocket> =>
      remote.open(instanceId, name),
    /** The receiver of connections with this TLS server name; refuses all requests if no live run has the name. */
    find: (name: string): { readonly accept: RunSocket["accept"] } => remote.find(name),
    /** Reopens the sockets of live runs at their paths, by instance, and removes the sockets of all others. */
    restore: async (alive: ReadonlySet<string>): Promise<ReadonlyMap<string, RunSocket>> =>
      new Map([...(await local.restore(alive)), ...remote.restore(alive)]),
    /** Stops serving: waiting requests are refused. Folders of live runs stay, because the runs may continue. */
    close: async () => {
      await Promise.all([local.close(), remote.close()]);
      await (await created)?.close();
    },
  };
}

/** Connects runs to the scheduler: by a Unix socket or by TLS from another machine, and with a token for each run. */
export type RunSockets = ReturnType<typeof createRunSockets>;

/** The Unix sockets of runs on this machine, each in a folder of its own. */
function createLocalSockets(
  { records, redactor, onProblem }: LocalSocketsDeps,
  create: (owner: SocketOwner, onDispose: OnDispose) => RunSocket,
) {
  const live = new Set<RunSocket>();
  const removals = new Set<Promise<void>>();

  const removeRecord = (instanceId: string): void => {
    records.remove(instanceId).catch((error: unknown) => {
      onProblem(`the socket of ${instanceId} stays recorded: ${messageOf(error)}`);
    });
  };
  const remove = (socket: RunSocket, dir: string): void => {
    if (!live.delete(socket)) return;
    void socket.end("over");
    const removal = removeSocketDir(dir)
      .catch((error: unknown) => onProblem(`${dir} could not be removed: ${messageOf(error)}`))
      .finally(() => removals.delete(removal));
    removals.add(removal);
    removeRecord(socket.instanceId);
  };
  const listen = async ({ instanceId, dir, tokenHash }: StoredSocket, onDispose: OnDispose) => {
    const runSocket = create({ instanceId, dir, tokens: fixedTokens(tokenHash) }, onDispose);
    const path = await runSocket.listen(dir, (error) => {
      onProblem(`${instanceId}: ${messageOf(error)}`);
    });
    live.add(runSocket);
    return { runSocket, path };
  };

  return {
    open: async (instanceId: string, baseDir: string) => {
      const dir = makeSocketDir(baseDir);
      const token = newToken();
      const stored: StoredSocket = { instanceId, dir, tokenHash: hashOf(token) };
      const forgetToken = redactor.add([token, bridgeKey(token)]);
      const onDispose = (socket: RunSocket): void => {
        // The token is invalid from now on, and each registered secret slows redaction down.
        forgetToken();
        remove(socket, dir);
      };
      const opened = await listen(stored, onDispose).catch(async (error: unknown) => {
        forgetToken();
        await removeSocketDir(dir);
        throw error;
      });
      return { ...opened, token, begin: () => records.add(stored) };
    },
    restore: async (alive: ReadonlySet<string>): Promise<ReadonlyMap<string, RunSocket>> => {
      const restored = new Map<string, RunSocket>();
      for (const stored of records.all()) {
        const { instanceId, dir } = stored;
        if (!alive.has(instanceId)) {
          await removeSocketDir(dir);
          removeRecord(instanceId);
          continue;
        }
        try {
          const { runSocket } = await listen(stored, (socket) => remove(socket, dir));
          restored.set(instanceId, runSocket);
        } catch (error) {
          onProblem(`${instanceId} can no longer send requests: ${messageOf(error)}`);
        }
      }
      return restored;
    },
    close: async (): Promise<void> => {
      await Promise.all([...live].map((socket) => socket.end("closing")));
      live.clear();
      await Promise.all(removals);
    },
  };
}
