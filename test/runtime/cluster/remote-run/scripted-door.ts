import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import {
  remoteLineSchema,
  remotePaths,
} from "../../../../src/runtime/cluster/remote-run/protocol.ts";
import type {
  InboxAnswer,
  RemoteEnd,
  RemoteLine,
} from "../../../../src/runtime/cluster/remote-run/protocol.ts";
import { testCertificate } from "../../../helpers/certificate.ts";

/**
 * What becomes of a request that is not just answered: its connection is cut before or after it took effect, or after half
 * of its lines did; the scheduler is another one before or after it; or a scheduler ends that had not logged its lines.
 */
export type Fault =
  | "unavailable"
  | "cut-before"
  | "cut-after"
  | "half"
  | "restart-before"
  | "restart-after"
  | "forget"
  | "silent";

export type TakenLine = Extract<RemoteLine, { line: string }>;

export interface ScriptedDoorOptions {
  readonly job: Readonly<Record<string, unknown>>;
  readonly leaseSeconds?: number;
  readonly inboxMs?: number;
  /** Requests that are not the run's own, such as those by its socket. */
  readonly onOther?: (request: IncomingMessage, response: ServerResponse) => void;
}

const name = "al-0123456789abcdef01234567";

/** The scheduler's end of one run on another machine, as the contract has it, with faults on demand. */
export async function scriptedDoor(options: ScriptedDoorOptions) {
  const { job, leaseSeconds = 30, inboxMs = 300, onOther } = options;
  const secrets = { ticket: randomUUID(), token: "" };
  const state = { scheduler: randomUUID(), isFenced: false, claim: "" };
  const inbox: { stop: InboxAnswer["stop"] } = { stop: null };
  const sockets = new Set<TLSSocket>();
  const waiting = new Set<() => void>();
  const logged: string[] = [];
  let taken: TakenLine[] = [];
  const door = {
    ticket: { door: "", certificate: testCertificate.cert, name, ticket: secrets.ticket },
    /** The lines that the present scheduler took, each once. */
    taken: (): readonly TakenLine[] => taken,
    /** The lines in the log, in order, whichever scheduler took them. */
    log: (): readonly string[] => logged,
    claims: [] as string[],
    ends: [] as RemoteEnd[],
    counts: { requests: 0, connections: 0 },
    /** Decides over each request. */
    fault: (() => null) as (path: string) => Fault | null,
    /** Another scheduler takes over: all connections break. */
    restart: () => {
      state.scheduler = randomUUID();
      taken = [];
      for (const socket of sockets) socket.destroy();
    },
    stop: (order: NonNullable<InboxAnswer["stop"]>) => {
      inbox.stop = order;
      for (const wake of waiting) wake();
    },
    /** The scheduler knows the run no more. */
    fence: () => {
      state.isFenced = true;
      for (const wake of waiting) wake();
    },
    /** The door cannot be reached. */
    close: async (): Promise<void> => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => tls.close(resolve));
    },
    reopen: async () => {
      tls.listen(port, "127.0.0.1");
      await once(tls, "listening");
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      if (tls.listening) await door.close();
    },
  };

  const claim = (request: IncomingMessage, body: string) => {
    if (request.headers.authorization !== `Bearer ${secrets.ticket}`) return refuse(401);
    const { claim: id } = JSON.parse(body) as { claim: string };
    door.claims.push(id);
    if (state.claim !== "" && state.claim !== id) return refuse(409, "claimed");
    state.claim = id;
    secrets.token = randomUUID();
    const channel = { socket: "/run/al/channel.sock", token: secrets.token };
    return { status: 200, body: { job: { ...job, channel }, leaseSeconds } };
  };
  const takeLine = (given: TakenLine, isLogged: boolean) => {
    if (given.seq <= (taken.at(-1)?.seq ?? 0)) return;
    taken.push(given);
    if (given.seq > logged.length + 1 && isLogged) throw new Error(`${given.seq} is too early`);
    if (given.seq === logged.length + 1 && isLogged) logged.push(given.line);
  };
  const lines = (body: string, fault: Fault | null) => {
    const all = body.split("\n").filter(Boolean);
    for (const line of fault === "half" ? all.slice(0, all.length / 2) : all) {
      const given = remoteLineSchema.parse(JSON.parse(line));
      if (!("end" in given)) takeLine(given, fault !== "forget");
      else if (fault !== "forget") {
        door.ends.push(given.end);
        state.isFenced = true;
      }
    }
    if (state.isFenced) return refuse(401);
    return { status: 200, body: { stored: taken.at(-1)?.seq ?? 0, scheduler: state.scheduler } };
  };
  const inboxAnswer = async () => {
    if (inbox.stop === null && !state.isFenced) {
      await new Promise<void>((resolve) => {
        waiting.add(resolve);
        setTimeout(resolve, inboxMs);
      });
    }
    return state.isFenced ? refuse(401) : { status: 200, body: { stop: inbox.stop } };
  };
  const answerTo = (request: IncomingMessage, body: string, fault: Fault | null) => {
    if (request.url === remotePaths.claim) return claim(request, body);
    const isKnown = request.headers.authorization === `Bearer ${secrets.token}`;
    if (!isKnown || state.isFenced) return refuse(401);
    return request.url === remotePaths.lines ? lines(body, fault) : inboxAnswer();
  };
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const { url = "", socket } = request;
    if (!url.startsWith("/remote/")) return onOther?.(request, response);
    door.counts.requests += 1;
    const fault = door.fault(url);
    const body = await text(request);
    if (fault === "restart-before") return door.restart();
    if (fault === "unavailable") return send(response, refuse(503));
    if (fault === "cut-before") return void socket.destroy();
    if (fault === "silent") return;
    const answer = await answerTo(request, body, fault);
    if (fault === "restart-after" || fault === "forget") return door.restart();
    if (fault === "cut-after" || fault === "half") socket.destroy();
    else send(response, answer);
  };

  const http = createServer((request, response) => {
    handle(request, response).catch(() => request.socket.destroy());
  });
  const tls = createTlsServer({ ...testCertificate, minVersion: "TLSv1.3" }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).once("close", () => sockets.delete(socket));
    if (socket.servername === name) http.emit("connection", socket);
    else socket.destroy();
  });
  tls.on("connection", () => (door.counts.connections += 1));
  tls.on("tlsClientError", () => undefined);
  tls.listen(0, "127.0.0.1");
  await once(tls, "listening");
  const { port } = tls.address() as AddressInfo;
  return Object.assign(door, { ticket: { ...door.ticket, door: `127.0.0.1:${port}` } });
}

export type ScriptedDoor = Awaited<ReturnType<typeof scriptedDoor>>;

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

function refuse(status: number, error = "unavailable"): Answer {
  return { status, body: { error, detail: "refused by the script" } };
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
