import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface Received {
  readonly id: string;
  readonly body: string;
}

/** How long it is up, and then down, in ms. */
const phaseMs = 350;

/** What it does while it is down, in turn. */
const faults: readonly ((response: ServerResponse) => void)[] = [
  (response) => response.writeHead(503).end(),
  (response) => response.destroy(),
  (response) => response.writeHead(200).flushHeaders(),
];

/** `onId` is called with the id of each request before it is answered. */
export async function flakyReceiver(onId: (id: string) => void) {
  const accepted: Received[] = [];
  let refused = 0;
  let isFlaky = true;
  const isDown = (): boolean => isFlaky && Math.floor(Date.now() / phaseMs) % 2 === 1;
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const id = String(request.headers["webhook-id"]);
    onId(id);
    const body = await text(request);
    if (isDown()) return faults[refused++ % faults.length]?.(response);
    accepted.push({ id, body });
    response.writeHead(204).end();
  };
  const server = createServer((request, response) => {
    take(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/alerts`,
    /** Each delivery that was accepted, in order: its id and its body. */
    accepted,
    /** How often one was refused, cut or left without an answer. */
    refused: (): number => refused,
    /** From now on it accepts everything. */
    stayUp: () => (isFlaky = false),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
