import type { IncomingMessage } from "node:http";
import { isAbsoluteForm } from "../../foundation/contracts/http-proxy.ts";

const lengthRequired = "HTTP/1.1 411 Length Required\r\nConnection: close\r\n\r\n";

/**
 * Ends a request with a body in chunks that is not on its way to another host: the memory for a body is reserved by its
 * length, and 64 KiB of chunks would take the parser 10 ms, for each of many connections.
 */
export function refuseChunked({ headers, url = "", socket }: IncomingMessage): boolean {
  const isChunked = /chunked\s*$/i.test(headers["transfer-encoding"] ?? "");
  if (!isChunked || isAbsoluteForm(url)) return false;
  // One that was sent ahead may find its connection ended.
  if (socket.writable) socket.end(lengthRequired);
  return true;
}
