import type { IncomingMessage } from "node:http";

/** Cuts a request off whose client sends nothing of its body for so long, in ms: it holds room that others wait for. */
export function cutIfSilent(request: IncomingMessage, silentMs: number): void {
  const { socket } = request;
  let seen = socket.bytesRead;
  const look = (): void => {
    if (request.complete) return clearInterval(timer);
    if (socket.bytesRead === seen) request.destroy();
    seen = socket.bytesRead;
  };
  const timer = setInterval(look, silentMs);
  request.once("close", () => clearInterval(timer));
}
