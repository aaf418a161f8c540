import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A run as the scheduler sees it at its socket. */
export interface HostileRun {
  readonly socket: string;
  readonly token: string;
}

export interface Upload {
  /** The path after `/files/`. */
  readonly tree?: string;
  readonly body?: Iterable<string | Buffer>;
  /** Length that the head announces. */
  readonly length?: number | "Transfer-Encoding: chunked";
  readonly method?: string;
  readonly head?: string;
}

/** As long as a tree may be by default. */
const usual = { tree: "out", body: [], length: 50 * 1024 ** 2, method: "PUT", head: "" };

/** The line before a file's content. */
export const fileLine = (path: string, bytes: unknown = 0, more: object = {}): string =>
  `${JSON.stringify({ path, bytes, isExecutable: false, ...more })}\n`;
export const endLine = '{"end":true}\n';

/** Sends exactly these bytes, as fast as they are read; resolves to the answer, "" if the connection was cut without one. */
export async function upload(
  { socket, token }: HostileRun,
  given: Upload,
  signal?: AbortSignal,
): Promise<string> {
  const { tree, body, length, method, head } = { ...usual, ...given };
  const connection = connect(socket);
  let answer = "";
  connection.setEncoding("latin1").on("data", (text: string) => (answer += text));
  // Cut off is what the other side may do.
  const closed = new Promise((resolve) => connection.on("error", resolve).once("close", resolve));
  signal?.addEventListener("abort", () => connection.destroy());
  const answered = new Promise((resolve) => connection.once("data", resolve));
  const framing = typeof length === "number" ? `Content-Length: ${length}` : length;
  connection.write(
    `${method} /files/${tree} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${framing}\r\n${head}\r\n`,
  );
  for (const part of body) {
    if (connection.destroyed || answer !== "") break;
    if (!connection.write(part)) await Promise.race([drained(connection), answered, closed]);
  }
  if (answer === "") await Promise.race([answered, closed]);
  connection.destroy();
  return answer;
}

async function drained(connection: Socket): Promise<void> {
  await once(connection, "drain").catch(() => undefined);
}
