import { randomUUID } from "node:crypto";
import { connect, type Socket } from "node:net";
import { pause } from "../../../helpers/pause.ts";

/** A run socket and its token. */
export interface HostileRun {
  readonly path: string;
  readonly token: string;
}

/** One request as a run may send it: its head, what comes after it, and how many of them are open at once. */
interface Shape {
  readonly count: number;
  readonly path: string;
  /** What the head announces; null for chunks. */
  readonly length: number | null;
  readonly body: Buffer;
}

const mebibyte = 1024 * 1024;
const model = "/model/never/127.0.0.1/v1/chat/completions";

function filled(begin: string, piece: string, end: string, bytes: number): Buffer {
  const count = Math.floor((bytes - begin.length - end.length) / Buffer.byteLength(piece));
  return Buffer.from(begin + piece.repeat(count) + end);
}

function whole(count: number, body: Buffer, path = model): Shape {
  return { count, path, length: body.length, body };
}

/** JSON of one object with so many keys, which begin with `name`. */
function objectOfKeys(count: number, name: string): string {
  return `{${Array.from({ length: count }, (_, n) => `"${name}${n}":0`).join(",")}}`;
}

/** The largest and the most requests that a run can send, of each shape that costs memory. */
export function hostileShapes(): readonly Shape[] {
  const message = '{"messages":[{"role":"user","content":"';
  const smallValues = filled('{"x":[', "{},", "1]}", 30 * mebibyte);
  const allowedValues = filled('{"x":[', '{"a":0},', "1]}", 390_000);
  return [
    whole(8, smallValues),
    whole(60, filled('{"x":[', "{},", "1]}", mebibyte - 1)),
    whole(60, allowedValues),
    whole(20, Buffer.from(`{"metadata":${objectOfKeys(33_000, "k")}}`)),
    // Twice as large as a string of JavaScript, for one letter.
    whole(4, filled(`${message}中`, "a", '"}]}', 31 * mebibyte)),
    whole(4, filled(message, "\\n", '"}]}', 31 * mebibyte)),
    whole(8, filled(message, "text \\n", '"}]}', 7 * mebibyte)),
    { count: 20, path: model, length: 30 * mebibyte, body: smallValues.subarray(0, 1_200_000) },
    { count: 20, path: model, length: null, body: Buffer.from("1\r\nx\r\n".repeat(60_000)) },
    { count: 20, path: "/run/lock", length: null, body: Buffer.from("1\r\nx\r\n".repeat(60_000)) },
    whole(60, filled('{"resource":["', "a", '"]}', 390_000), "/run/lock"),
  ];
}

/** Sends them all at once; each connection begins again when it is cut, until `signal` aborts. */
export function attack(run: HostileRun, shapes: readonly Shape[], signal: AbortSignal): void {
  for (const shape of shapes) {
    for (let n = 0; n < shape.count; n += 1) open(run, shape, signal);
  }
}

function open(run: HostileRun, shape: Shape, signal: AbortSignal): void {
  const connection: Socket = connect(run.path);
  const destroy = (): void => void connection.destroy();
  signal.addEventListener("abort", destroy, { once: true });
  connection.on("error", () => undefined).resume();
  // A refused request is followed by the next one.
  connection.once("data", () => void pause(500, "the answer is read").then(destroy));
  connection.once("close", () => {
    signal.removeEventListener("abort", destroy);
    void pause(500, "the next one comes later").then(
      () => signal.aborted || open(run, shape, signal),
    );
  });
  connection.write(headOf(run, shape));
  connection.write(shape.body);
}

function headOf({ token }: HostileRun, { path, length }: Shape): string {
  const framing = length === null ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`;
  return [
    `POST ${path} HTTP/1.1`,
    "Host: scheduler",
    `Authorization: Bearer ${token}`,
    "Content-Type: application/json",
    `Idempotency-Key: ${randomUUID()}`,
    framing,
    "\r\n",
  ].join("\r\n");
}
