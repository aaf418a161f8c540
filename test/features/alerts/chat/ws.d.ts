declare module "ws" {
  import type { IncomingMessage, Server } from "node:http";
  export interface ServerSocket {
    send(text: string): void;
    close(): void;
    ping(): void;
    on(event: "message" | "pong", listener: (data: Buffer) => void): void;
  }
  export class WebSocketServer {
    readonly clients: ReadonlySet<ServerSocket>;
    constructor(options: {
      readonly server: Server;
      readonly verifyClient: (info: { readonly req: IncomingMessage }) => boolean;
    });
    on(event: "connection", listener: (socket: ServerSocket) => void): void;
    close(): void;
  }
}
