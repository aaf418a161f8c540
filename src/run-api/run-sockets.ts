import type { IncomingMessage } from "node:http";
import { bridgeKey } from "../contracts/bridge-key.ts";
import { isAbsoluteForm } from "../contracts/http-proxy.ts";
import { messageOf } from "../errors.ts";
import { runApiApp } from "./app.ts";
import type { Served } from "./app.ts";
import { proxyRequests } from "./proxy-requests.ts";
import { RunSocket } from "./run-socket.ts";
import type { StoredSocket } from "./run-socket.ts";
import { makeSocketDir, removeSocketDir } from "./socket-dir.ts";
import { hashOf, newToken } from "./token.ts";

/** A socket that was made for a run. */
export interface OpenedSocket {
  readonly runSocket: RunSocket;
  /** For the run alone; only its hash is stored. */
  readonly token: string;
  /** Absolute path as this process sees it. */
  readonly path: string;
}

/** By which runs reach the scheduler: a Unix socket and a token for each of them. */
export interface RunSockets {
  /** Starts to answer; until then the client of a run retries its requests. */
  serve(served: Served): void;
  /** Makes a run's socket in a folder of its own below `baseDir`, which must exist. Rejects with a UserError. */
  open(instanceId: string, baseDir: string): Promise<OpenedSocket>;
  /** Opens the sockets of runs that live on at their places, by instance, and removes those of all others. */
  restore(alive: ReadonlySet<string>): Promise<ReadonlyMap<string, RunSocket>>;
  /** The scheduler stops: requests that wait are refused. Folders of live runs stay, as the runs may. */
  close(): Promise<void>;
}

export interface RunSocketsDeps {
  readonly records: {
    /** Resolves once committed, as `remove` does. */
    add(socket: StoredSocket): Promise<void>;
    remove(instanceId: string): Promise<void>;
    all(): readonly StoredSocket[];
  };
  /** Makes tokens known before their runs are; forgets them by the function that it returns. */
  readonly redactor: { add(secrets: readonly string[]): () => void };
  readonly onProblem: (message: string) => void;
}

/** The sockets of one scheduler's runs. */
export function createRunSockets({ records, redactor, onProblem }: RunSocketsDeps): RunSockets {
  let served: Served | null = null;
  const live = new Set<RunSocket>();
  const removals = new Set<Promise<void>>();
  const origins = new WeakMap<IncomingMessage, RunSocket>();
  const app = runApiApp({
    socketOf: (request) => origins.get(request),
    served: () => served,
    onUnexpected: (instanceId, error) => onProblem(`${instanceId}: ${messageOf(error)}`),
  });
  const proxy = proxyRequests(() => served?.egress ?? null);
  const ready = app.ready();

  const removeRecord = (instanceId: string): void => {
    records.remove(instanceId).catch((error: unknown) => {
      onProblem(`the socket of ${instanceId} stays recorded: ${messageOf(error)}`);
    });
  };
  const remove = (socket: RunSocket): void => {
    if (!live.delete(socket)) return;
    void socket.end("over");
    const removal = removeSocketDir(socket.dir)
      .catch((error: unknown) => onProblem(`${socket.dir} is left: ${messageOf(error)}`))
      .finally(() => removals.delete(removal));
    removals.add(removal);
    removeRecord(socket.instanceId);
  };
  const listen = async (stored: StoredSocket, onDispose: (socket: RunSocket) => void) => {
    await ready;
    const runSocket = new RunSocket(
      stored,
      {
        onRequest: (request, response) => {
          if (isAbsoluteForm(request.url ?? "")) {
            return proxy.forward(runSocket, request, response);
          }
          origins.set(request, runSocket);
          app.routing(request, response);
        },
        onConnect: (request, connection, head) =>
          proxy.connect(runSocket, request, connection, head),
      },
      onDispose,
    );
    const path = await runSocket.listen((error) => {
      onProblem(`${stored.instanceId}: ${messageOf(error)}`);
    });
    live.add(runSocket);
    return { runSocket, path };
  };

  return {
    serve: (given) => (served = given),
    open: async (instanceId, baseDir) => {
      const dir = makeSocketDir(baseDir);
      const token = newToken();
      const stored: StoredSocket = { instanceId, dir, tokenHash: hashOf(token) };
      const forgetToken = redactor.add([token, bridgeKey(token)]);
      const onDispose = (socket: RunSocket): void => {
        // Worth nothing from now on, and each known secret makes looking through a text slower.
        forgetToken();
        remove(socket);
      };
      const opened = await listen(stored, onDispose).catch(async (error: unknown) => {
        forgetToken();
        await removeSocketDir(dir);
        throw error;
      });
      await records.add(stored).catch((error: unknown) => {
        opened.runSocket[Symbol.dispose]();
        throw error;
      });
      return { ...opened, token };
    },
    restore: async (alive) => {
      const restored = new Map<string, RunSocket>();
      for (const stored of records.all()) {
        const { instanceId, dir } = stored;
        if (!alive.has(instanceId)) {
          await removeSocketDir(dir);
          removeRecord(instanceId);
          continue;
        }
        try {
          restored.set(instanceId, (await listen(stored, remove)).runSocket);
        } catch (error) {
          onProblem(`${instanceId} can send no request any more: ${messageOf(error)}`);
        }
      }
      return restored;
    },
    close: async () => {
      await Promise.all([...live].map((socket) => socket.end("closing")));
      live.clear();
      await Promise.all([app.close(), ...removals]);
    },
  };
}
