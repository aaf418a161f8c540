import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { notAuthenticated, notReady, refuseRequest, refuseTunnel } from "./egress/answers.ts";
import type { EgressAnswer } from "./egress/answers.ts";
import type { Egress } from "./egress/egress.ts";
import type { RunSocket } from "./run-socket.ts";
import { carriesToken } from "./token.ts";

type Served = Pick<Egress, "connect" | "forward">;

/** Takes the requests for other hosts that come by a run's socket with its token. `egress` is null at the start. */
export function proxyRequests(egress: () => Served | null): {
  connect(socket: RunSocket, request: IncomingMessage, connection: Socket, head: Buffer): void;
  forward(socket: RunSocket, request: IncomingMessage, response: ServerResponse): void;
} {
  /** The proxy, or what is answered in its place; nothing but the headers has been read. */
  const proxyFor = (socket: RunSocket, request: IncomingMessage) => {
    const isToken = carriesToken(request.headers["proxy-authorization"], socket.tokens.tokenHash);
    if (!isToken || socket.ended === "over") return notAuthenticated;
    socket.markAuthenticated(request.socket);
    return socket.ended === "closing" ? notReady : (egress() ?? notReady);
  };
  return {
    connect: (socket, request, connection, head) => {
      const found = proxyFor(socket, request);
      if (isAnswer(found)) refuseTunnel(connection, found);
      else found.connect(socket, request, connection, head);
    },
    forward: (socket, request, response) => {
      const found = proxyFor(socket, request);
      if (isAnswer(found)) refuseRequest(request, response, found);
      else found.forward(socket, request, response);
    },
  };
}

function isAnswer(found: Served | EgressAnswer): found is EgressAnswer {
  return "status" in found;
}
