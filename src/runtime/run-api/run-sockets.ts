import type { IncomingMessage } from "node:http";
import { isAbsoluteForm } from "../../foundation/contracts/http-proxy.ts";
import { messageOf } from "../../foundation/errors.ts";
import { runApiApp } from "./app.ts";
import type { Served } from "./app.ts";
import { createLocalSockets } from "./local-sockets.ts";
import type { LocalSocketsDeps } from "./local-sockets.ts";
import { proxyRequests } from "./proxy-requests.ts";
import { createRemoteSockets } from "../cluster/door/remote-sockets.ts";
import type { RemoteSocketsDeps } from "../cluster/door/remote-sockets.ts";
import { RunSocket } from "./run-socket.ts";
import type { SocketOwner } from "./run-socket.ts";

/** A socket that was made for a run. */
export interface OpenedSocket {
  readonly runSocket: RunSocket;
  /** For the run alone; only its hash is stored. Of a run on another machine it is the ticket. */
  readonly token: string;
  /** Absolute path as this process sees it, or as the run does that makes it on another machine. */
  readonly path: string;
  /**
   * Records that the run begins, and how a later scheduler serves it; its process is asked for nothing before this
   * resolves. Absent for a run on another machine, whose claim of its ticket is that.
   */
  readonly begin?: () => Promise<void>;
}

/** The way of runs to the scheduler: a Unix socket or connections by the door, and a token for each run. */
export interface RunSockets {
  /** Starts to answer; until then the client of a run retries its requests. */
  serve(served: Served): void;
  /** Makes a run's socket in a folder of its own below `baseDir`, which must exist. Rejects with a UserError. */
  open(instanceId: string, baseDir: string): Promise<OpenedSocket>;
  /** Expects a run on another machine, by the TLS server name that it will have. */
  openRemote(instanceId: string, name: string): Promise<OpenedSocket>;
  /** Takes the connections with this TLS server name; refuses all requests when no run that lives has it. */
  find(name: string): Pick<RunSocket, "accept">;
  /** Opens the sockets of runs that live on at their places, by instance, and removes those of all others. */
  restore(alive: ReadonlySet<string>): Promise<ReadonlyMap<string, RunSocket>>;
  /** The scheduler stops: requests that wait are refused. Folders of live runs stay, as the runs may. */
  close(): Promise<void>;
}

export interface RunSocketsDeps extends Pick<LocalSocketsDeps, "redactor" | "onProblem"> {
  readonly records: {
    readonly local: LocalSocketsDeps["records"];
    readonly remote: RemoteSocketsDeps["records"];
  };
}

/** The sockets of one scheduler's runs. */
export function createRunSockets({ records, redactor, onProblem }: RunSocketsDeps): RunSockets {
  let served: Served | null = null;
  const origins = new WeakMap<IncomingMessage, RunSocket>();
  const app = runApiApp({
    socketOf: (request) => origins.get(request),
    served: () => served,
    onUnexpected: (instanceId, error) => onProblem(`${instanceId}: ${messageOf(error)}`),
  });
  const proxy = proxyRequests(() => served?.egress ?? null);
  const ready = app.ready();

  const create = (owner: SocketOwner, onDispose: (socket: RunSocket) => void): RunSocket => {
    const socket = new RunSocket(
      owner,
      {
        onRequest: (request, response) => {
          if (isAbsoluteForm(request.url ?? "")) return proxy.forward(socket, request, response);
          origins.set(request, socket);
          app.routing(request, response);
        },
        onConnect: (request, connection, head) => proxy.connect(socket, request, connection, head),
      },
      onDispose,
    );
    return socket;
  };
  const local = createLocalSockets({ records: records.local, redactor, create, onProblem });
  const remote = createRemoteSockets({ records: records.remote, redactor, create, onProblem });

  return {
    serve: (given) => (served = given),
    open: async (instanceId, baseDir) => {
      await ready;
      return local.open(instanceId, baseDir);
    },
    openRemote: async (instanceId, name) => {
      await ready;
      return remote.open(instanceId, name);
    },
    find: (name) => remote.find(name),
    restore: async (alive) => {
      await ready;
      return new Map([...(await local.restore(alive)), ...remote.restore(alive)]);
    },
    close: async () => {
      await Promise.all([local.close(), remote.close()]);
      await app.close();
    },
  };
}
