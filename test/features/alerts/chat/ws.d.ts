declare module "ws" {
  import type { Server } from "node:http";
  export interface ServerSocket {
    send(text: string): void;
    close(): void;
    on(event: "message", listener: (data: Buffer) => void): void;
  }
  export class WebSocketServer {
    constructor(options: { readonly server: Server });
    on(event: "connection", listener: (socket: ServerSocket) => void): void;
    close(): void;
  }
}
