import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { buffer, text } from "node:stream/consumers";
import type { TreeEntry } from "../../../src/foundation/contracts/file-tree.ts";
import { fileLine, lastLines } from "../../../src/runtime/wire/file-frames.ts";
import { pause } from "../../helpers/pause.ts";
import { treeLimits, treeSide } from "../harness/tree-side.ts";
import type { SocketOfRun } from "./support.ts";

type TreeSide = Awaited<ReturnType<typeof treeSide>>;

let side: TreeSide;
async function open(limits: Parameters<typeof treeSide>[0] = {}): Promise<SocketOfRun> {
  side = await treeSide(limits);
  return side.run;
}
afterEach(() => side.remove());

interface Asked {
  readonly method?: string;
  readonly tree?: string;
  readonly length?: number;
}

/** A request of which nothing is sent yet. */
function ask(
  { socket, token }: Pick<SocketOfRun, "socket" | "token">,
  { method = "PUT", tree = "out", length }: Asked,
) {
  const asked = request({
    socketPath: socket,
    path: `/files/${tree}`,
    method,
    agent: false,
    headers: {
      authorization: `Bearer ${token}`,
      ...(length !== undefined && { "content-length": length }),
    },
  });
  const answer = once(asked, "response").then(([given]) => given as IncomingMessage);
  answer.catch(() => undefined);
  return { asked, answer };
}

async function answerOf(
  run: Pick<SocketOfRun, "socket" | "token">,
  asked: Asked,
  body: Buffer | string = "",
) {
  const given = ask(run, { length: Buffer.byteLength(body), ...asked });
  given.asked.end(body);
  const answer = await given.answer;
  return { status: answer.statusCode, text: await text(answer) };
}

const whole = Buffer.concat([
  fileLine({ path: "a", bytes: 1, isExecutable: false }),
  Buffer.from("x"),
  lastLines([]),
]);
/** An upload of a file of 400,000 bytes, up to its content. */
const head = fileLine({ path: "a", bytes: 400_000, isExecutable: false });
const longUpload = { length: head.length + 400_000 + lastLines([]).length };

describe("the file door", () => {
  test("opens for a run's own token only", async () => {
    const run = await open();
    const other = await side.openRun("dev-2");
    expect(await answerOf(run, {}, whole)).toEqual({
      status: 200,
      text: '{"kept":0,"problems":[]}',
    });
    for (const token of ["", "A".repeat(43), other.token]) {
      expect(await answerOf({ ...run, token }, {}, whole)).toMatchObject({ status: 401 });
      expect(await answerOf({ ...run, token }, { method: "GET" })).toMatchObject({ status: 401 });
    }
    expect(side.trees.uploads).toBe(1);
    run.dispose();
    await expect(answerOf(run, {}, whole)).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("refuses other methods, names that are not encoded and chunked uploads", async () => {
    const run = await open();
    for (const method of ["POST", "DELETE", "HEAD"]) {
      expect(await answerOf(run, { method }, whole)).toMatchObject({ status: 400 });
    }
    expect(await answerOf(run, { tree: "%zz" }, whole)).toMatchObject({ status: 400 });
    const { asked, answer } = ask(run, {});
    asked.setHeader("transfer-encoding", "chunked").end(whole);
    expect((await answer).statusCode).toBe(411);
    expect(side.trees.uploads).toBe(0);
  });

  test("answers with the reason of a refusal, also in the middle of an upload", async () => {
    const run = await open();
    expect(await answerOf(run, { tree: "foreign" }, whole)).toMatchObject({
      status: 400,
      text: expect.stringContaining("This run has no files.") as string,
    });
    const broken = Buffer.concat([Buffer.from("{}\n"), Buffer.alloc(1e6)]);
    expect(await answerOf(run, {}, broken)).toMatchObject({
      status: 400,
      text: expect.stringContaining("describes no file") as string,
    });
    side.trees.onEntry = () => Promise.reject(new Error("/secret/path: EIO"));
    const failed = await answerOf(run, {}, whole);
    expect(failed).toMatchObject({ status: 503 });
    expect(failed.text).not.toContain("/secret/path");
    expect(side.problems).toEqual(["dev-1: /files/out: /secret/path: EIO"]);
  });

  test("outlives a run that hangs up after its upload was refused", async () => {
    const run = await open();
    const { asked } = ask(run, { length: 10_000 });
    asked.on("error", () => undefined).write("{}\n");
    await expect.poll(() => side.trees.uploads).toBe(1);
    asked.destroy();
    expect(await answerOf(run, {}, whole)).toMatchObject({ status: 200 });
  });

  test("refuses, unread, an upload that is longer than its limits", async () => {
    const run = await open();
    const { asked, answer } = ask(run, { length: 1e9 });
    asked.on("error", () => undefined).write(head);
    expect((await answer).statusCode).toBe(400);
    await once(asked, "close");
  });

  test("cuts an upload that pauses", async () => {
    const run = await open({ silentMs: 100 });
    const { asked, answer } = ask(run, longUpload);
    asked.on("error", () => undefined).write(Buffer.concat([head, Buffer.alloc(1_000)]));
    expect((await answer).statusCode).toBe(400);
    expect(side.trees.trees.size).toBe(0);
    expect(side.problems).toEqual([]);
  });

  test("cuts an upload that takes too long, however often it sends a byte", async () => {
    const run = await open({ totalMs: 300, silentMs: 200 });
    const { asked, answer } = ask(run, longUpload);
    asked.on("error", () => undefined).write(head);
    const drip = setInterval(() => asked.write("x"), 20);
    onTestFinished(() => clearInterval(drip));
    expect((await answer).statusCode).toBe(400);
    expect(side.trees.trees.size).toBe(0);
  });

  test("cuts a download of which nothing is read, and ends the reading of the files", async () => {
    const run = await open({ silentMs: 100 });
    const ended = Promise.withResolvers<undefined>();
    const endless = async function* (): AsyncGenerator<Buffer> {
      try {
        for (;;) yield await Promise.resolve(Buffer.alloc(64 * 1024));
      } finally {
        ended.resolve(undefined);
      }
    };
    const entry: TreeEntry = { path: "a", bytes: 1e12, isExecutable: false, content: endless() };
    side.trees.get = () => Promise.resolve([entry]);
    const client = connect(run.socket);
    client.write(
      `GET /files/out HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${run.token}\r\n\r\n`,
    );
    await ended.promise;
    client.destroy();
    expect(side.problems).toEqual([]);
  });

  test("holds a sender back while its files are not read", async () => {
    const run = await open();
    const reading = Promise.withResolvers<undefined>();
    side.trees.limits = { ...treeLimits, bytes: 1e9, fileBytes: 1e9 };
    side.trees.onEntry = () => reading.promise;
    const bytes = 100 * 1024 * 1024;
    const line = fileLine({ path: "a", bytes, isExecutable: false });
    const end = lastLines([]);
    const { asked, answer } = ask(run, { length: line.length + bytes + end.length });
    asked.write(line);
    const [connection] = (await once(asked, "socket")) as [Socket];
    for (let sent = 0; sent < bytes; sent += 1024 * 1024) asked.write(Buffer.alloc(1024 * 1024));
    asked.end(end);
    await pause(500, "what was sent meanwhile would be in the scheduler's memory");
    // The other side did not take the bytes that the client's socket holds, either.
    const taken = connection.bytesWritten - connection.writableLength;
    expect(taken).toBeLessThan(2 * 1024 * 1024);
    reading.resolve(undefined);
    expect((await answer).statusCode).toBe(200);
  });

  test("serves a run while others keep uploads open, and refuses uploads beyond a run's share", async () => {
    const run = await open({ total: 2, perRun: 2, silentMs: 1_000 });
    const hostile = await Promise.all(["dev-2", "dev-3"].map((id) => side.openRun(id)));
    const uploads = hostile.flatMap((each) =>
      Array.from({ length: 11 }, () => {
        const { asked, answer } = ask(each, longUpload);
        asked.on("error", () => undefined).write(head);
        return { asked, answer };
      }),
    );
    expect(await answerOf(run, {}, whole)).toMatchObject({ status: 200 });
    expect((await Promise.any(uploads.map(({ answer }) => answer))).statusCode).toBe(429);
    for (const { asked } of uploads) asked.destroy();
  });

  test("cuts open uploads when the scheduler stops", async () => {
    const run = await open();
    const begun = Promise.withResolvers<undefined>();
    side.trees.onEntry = () => begun.resolve(undefined);
    const { asked, answer } = ask(run, longUpload);
    asked.on("error", () => undefined).write(Buffer.concat([head, Buffer.alloc(1_000)]));
    await begun.promise;
    await side.closeDoor();
    await expect(answer).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(side.trees.trees.size).toBe(0);
    expect(side.problems).toEqual([]);
  });

  test("cuts a download whose files can't be read any further", async () => {
    const run = await open();
    const broken = async function* (): AsyncGenerator<Buffer> {
      yield await Promise.resolve(Buffer.alloc(10));
      throw new Error("damaged");
    };
    const entry: TreeEntry = { path: "a", bytes: 20, isExecutable: false, content: broken() };
    side.trees.get = () => Promise.resolve([entry]);
    const { asked, answer } = ask(run, { method: "GET" });
    asked.end();
    await expect(buffer(await answer)).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(side.problems).toEqual(["dev-1: /files/out: damaged"]);
  });
});
