import type { IncomingMessage, ServerResponse } from "node:http";
import { Transform, type TransformCallback } from "node:stream";
import { mayPush, type RefChange } from "../../../../foundation/contracts/git-names.ts";
import { Problem } from "../../../../foundation/errors.ts";
import { readPushCommands, UnreadablePush } from "./push-commands.ts";

/** A push to a ref that the agent's `[workspace].push` does not list. */
export class RefusedPush extends Problem {
  /** The answer by which git shows the reason; null if git does not ask for one. */
  readonly report: Buffer | null;

  constructor(why: string, report: Buffer | null = null) {
    super("push", `${why}. The agent's [workspace].push lists what its runs may push.`, {
      status: 403,
    });
    this.report = report;
  }
}

/**
 * The guard of a request that pushes with git; null for another one. A program could write the address in several ways, so
 * each request with a body that names the service counts.
 */
export function pushGuard(
  { method = "", url = "", headers }: IncomingMessage,
  allowed: readonly string[] | undefined,
): PushGuard | null {
  const service = "git-receive-pack";
  const names = [plainUrl(url), headers["content-type"]?.toLowerCase() ?? ""];
  if (allowed === undefined || method === "GET" || method === "HEAD") return null;
  if (!names.some((name) => name.includes(service))) return null;
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding !== "identity") throw new RefusedPush("a compressed list of refs is not read");
  return new PushGuard(allowed);
}

function plainUrl(url: string): string {
  let text = url;
  for (let left = 3; left > 0 && text.includes("%"); left -= 1) {
    text = text.replaceAll(/%([0-9a-f]{2})/gi, (_whole, hex: string) =>
      String.fromCharCode(parseInt(hex, 16)),
    );
  }
  return text.toLowerCase();
}

/** Forwards a push unchanged once all of its refs are allowed; else fails before a byte of it leaves. */
export class PushGuard extends Transform {
  readonly #allowed: readonly string[];
  #held: Buffer[] | null = [];
  #heldBytes = 0;
  /** Is read again at twice the size: a head in many small pieces must not cost more than one in a piece. */
  #readAt = 0;

  constructor(allowed: readonly string[]) {
    super();
    this.#allowed = allowed;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    if (this.#held === null) return done(null, chunk);
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes < this.#readAt) return done();
    this.#readAt = 2 * this.#heldBytes;
    this.#decide(false, done);
  }

  override _flush(done: TransformCallback): void {
    if (this.#held === null || this.#held.length === 0) return done();
    this.#decide(true, done);
  }

  #decide(isWhole: boolean, done: TransformCallback): void {
    const body = Buffer.concat(this.#held ?? []);
    this.#held = [body];
    try {
      const commands = readPushCommands(body, isWhole);
      if (commands === null) return done();
      const refused = commands.changes.filter((change) => !mayPush(change, this.#allowed));
      if (refused.length > 0)
        throw new RefusedPush(
          `${refused.map(changeText).join(" and ")} is not allowed`,
          report(commands.changes, commands.capabilities, this.#reasonFor(refused)),
        );
      this.#held = null;
      done(null, body);
    } catch (error) {
      done(
        error instanceof UnreadablePush
          ? new RefusedPush(`a push can't be read: ${error.message}`)
          : (error as Error),
      );
    }
  }

  #reasonFor(refused: readonly RefChange[]): (change: RefChange) => string {
    const list = this.#allowed.length === 0 ? "nothing" : this.#allowed.join(", ");
    return (change) =>
      refused.includes(change)
        ? `this agent may push ${list} only, see [workspace].push`
        : "another ref of this push is refused";
  }
}

function changeText({ ref, isDeletion }: RefChange): string {
  return isDeletion ? `deletion of ${ref}` : `push to ${ref}`;
}

/** The report of a server that refused the refs, as git asked for it (gitprotocol-pack(5), "Report Status"). */
function report(
  changes: readonly RefChange[],
  capabilities: readonly string[],
  reason: (change: RefChange) => string,
): Buffer | null {
  if (!capabilities.some((name) => /^report-status(-v2)?$/.test(name))) return null;
  const lines = changes.map((change) => packet(`ng ${change.ref} ${reason(change)}\n`));
  const status = Buffer.concat([packet("unpack ok\n"), ...lines, flush]);
  if (!capabilities.includes("side-band-64k")) return status;
  const bands: Buffer[] = [];
  for (let at = 0; at < status.length; at += maxBandBytes)
    bands.push(packet(Buffer.concat([statusBand, status.subarray(at, at + maxBandBytes)])));
  return Buffer.concat([...bands, flush]);
}

const flush = Buffer.from("0000");
const statusBand = Buffer.from([1]);
const maxBandBytes = 60_000;

function packet(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, "0")), bytes]);
}

/** Answers a refused push in git's protocol. */
export function answerPush(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  response
    .writeHead(200, {
      "content-type": "application/x-git-receive-pack-result",
      "cache-control": "no-cache",
      "content-length": body.length,
      connection: "close",
    })
    .end(body);
  request.resume();
}
