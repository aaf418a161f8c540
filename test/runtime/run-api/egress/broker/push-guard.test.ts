import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import {
  readPushCommands,
  UnreadablePush,
} from "../../../../../src/runtime/run-api/egress/broker/push-commands.ts";
import {
  PushGuard,
  pushGuard,
  RefusedPush,
} from "../../../../../src/runtime/run-api/egress/broker/push-guard.ts";

const [zero, one, two] = ["0", "1", "2"].map((digit) => digit.repeat(40)) as [
  string,
  string,
  string,
];
const line = (text: string | Buffer) => {
  const bytes = Buffer.from(text as string);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, "0")), bytes]);
};
const flush = Buffer.from("0000");
const capabilities = "\0 report-status-v2 side-band-64k object-format=sha1 agent=git/2.39.5";
const body = (...lines: readonly (string | Buffer)[]) => Buffer.concat([...lines.map(line), flush]);
const to = (ref: string, from = zero, id = one) => `${from} ${id} ${ref}`;
const pack = Buffer.from("PACK\0\0\0\u0002 anything, even 0000");

const request = (more: object = {}) =>
  ({
    method: "POST",
    url: "/acme/website.git/git-receive-pack",
    headers: {},
    ...more,
  }) as IncomingMessage;

/** The forwarded part of a body in pieces of this size. */
async function forwarded(sent: Buffer, allowed = ["al/*"], size = sent.length): Promise<Buffer> {
  const pieces = Array.from({ length: Math.ceil(sent.length / size) }, (_, index) =>
    sent.subarray(index * size, (index + 1) * size),
  );
  const guard = new PushGuard(allowed);
  const read = buffer(guard);
  await Promise.all([pipeline(Readable.from(pieces), guard), read]);
  return read;
}

describe("the guard of pushes", () => {
  test.each([1, 3, 50, 1000])(
    "forwards an allowed push unchanged, in pieces of %i bytes",
    async (size) => {
      const sent = Buffer.concat([
        body(
          `shallow ${two}`,
          `${to("refs/heads/al/fix")}${capabilities}`,
          to("refs/heads/al/two", one, two),
        ),
        pack,
      ]);
      expect(await forwarded(sent, ["al/*"], size)).toEqual(sent);
    },
  );

  test("forwards git's question whether it may push", async () => {
    expect(await forwarded(flush)).toEqual(flush);
  });

  test.each([
    ["another branch", [to("refs/heads/main")], /push to refs\/heads\/main is not allowed/],
    [
      "one of several",
      [to("refs/heads/al/x"), to("refs/heads/main")],
      /push to refs\/heads\/main is/,
    ],
    ["a tag", [to("refs/tags/v1")], /push to refs\/tags\/v1 is/],
    ["a deletion", [to("refs/heads/al/x", one, zero)], /deletion of refs\/heads\/al\/x is/],
    ["a short name", [to("al/x")], /a name is not a full ref/],
    ["a path out of the branches", [to("refs/heads/al/../main")], /a name is not a full ref/],
    ["a line break in a name", [to("refs/heads/al/x\nrefs/heads/main")], /not a full ref/],
    ["a signed push", [`push-cert${capabilities}`], /a line is not a change of a ref/],
    ["a hash of another length", [`${zero} 12 refs/heads/al/x`], /not a change of a ref/],
    [
      "a shallow commit after a ref",
      [to("refs/heads/al/x"), `shallow ${two}`],
      /not a change of a ref/,
    ],
    ["shallow commits alone", [`shallow ${two}`], /list of refs is odd/],
    ["an empty first line", ["\n", to("refs/heads/main")], /not a change of a ref/],
    ["two lists of capabilities", [`${to("refs/heads/al/x")}\0a\0b`], /list of refs is odd/],
    ["a name that is not UTF-8", [Buffer.from(`${to("refs/heads/al/")}\xff`, "latin1")], /UTF-8/],
  ])("refuses %s", async (_what, lines, message) => {
    await expect(forwarded(Buffer.concat([body(...lines), pack]))).rejects.toThrow(message);
  });

  test.each([
    ["no packet lines", Buffer.from("PACK")],
    ["a delimiter", Buffer.from("0001")],
    ["an empty line", Buffer.from("00040000")],
    ["a cut line", line(to("refs/heads/al/x")).subarray(0, 30)],
    ["no end of the list", line(to("refs/heads/al/x"))],
    ["bytes after an empty list", Buffer.concat([flush, body(to("refs/heads/main"))])],
    [
      "a list that never ends",
      Buffer.concat(Array.from({ length: 3_000 }, () => line(to("refs/heads/al/x")))),
    ],
  ])("refuses a body with %s", async (_what, sent) => {
    await expect(forwarded(sent)).rejects.toThrow(/a push can't be read/);
    expect(() => readPushCommands(sent, true)).toThrow(UnreadablePush);
  });

  test("reads a head in many small pieces in little time", async () => {
    const lines = Array.from({ length: 900 }, (_, index) => to(`refs/heads/al/${index}`));
    const began = performance.now();
    await forwarded(body(...lines), ["al/*"], 1);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  test("fails before a byte leaves", async () => {
    const guard = new PushGuard(["al/*"]);
    const seen: Buffer[] = [];
    guard.on("data", (chunk: Buffer) => seen.push(chunk));
    const failed = once(guard, "error");
    guard.write(body(to("refs/heads/main")));
    expect((await failed)[0]).toBeInstanceOf(RefusedPush);
    expect(seen).toEqual([]);
  });
});

describe("a request counts as a push", () => {
  test.each([
    [{}, true],
    [{ url: "/acme/website.git/git%2Dreceive%2dpack" }, true],
    [{ url: "/acme/website.git/git%252Dreceive-pack" }, true],
    [{ url: "/x", headers: { "content-type": "application/x-git-receive-pack-request" } }, true],
    [{ method: "PUT" }, true],
    [{ url: "/acme/website.git/git-upload-pack" }, false],
    [{ method: "GET", url: "/acme/website.git/info/refs?service=git-receive-pack" }, false],
  ])("%j: %s", (more, isPush) => {
    expect(pushGuard(request(more), ["al/*"]) !== null).toBe(isPush);
  });

  test("only for an agent with [workspace]", () => {
    expect(pushGuard(request(), undefined)).toBeNull();
  });

  test("and is refused if its body is compressed", () => {
    expect(gzipSync("x").length).toBeGreaterThan(0);
    const compressed = request({ headers: { "content-encoding": "gzip" } });
    expect(() => pushGuard(compressed, ["al/*"])).toThrow(/compressed/);
  });
});
