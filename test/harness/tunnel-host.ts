import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";

type OnConnect = (request: IncomingMessage, client: Duplex, head: Buffer) => void;

/** What a scheduler does with a run's CONNECT, by a list of hosts (`host:port`) and their ports on this machine. */
export function tunnelsTo(ports: Readonly<Record<string, number>>): OnConnect {
  return ({ url = "", headers }, client, head) => {
    client.on("error", () => undefined);
    const isRun = /^Bearer run-\d+$/.test(headers["proxy-authorization"] ?? "");
    const port = isRun ? ports[url] : undefined;
    if (port === undefined) {
      const why = `${url.replace(/:443$/, "")} is not in [network].allow`;
      return void client.end(
        `HTTP/1.1 403 ${why}\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${why}: add it.\n`,
      );
    }
    const upstream = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
    upstream.on("error", () => client.destroy());
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    upstream.write(head);
    client.pipe(upstream).pipe(client);
  };
}
