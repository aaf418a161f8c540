import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createBlobs } from "../../../src/foundation/files/blobs.ts";
import { createRedactor } from "../../../src/foundation/credentials/redactor.ts";
import { randomBy } from "../../helpers/random.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { perTest } from "../../helpers/per-test.ts";

const projectDir = perTest(tempDir);
const blobsOf = () => createBlobs(projectDir());
const dir = (...names: readonly string[]) => join(projectDir(), ".al", "blobs", ...names);
const hashOf = (content: Buffer | string) => createHash("sha256").update(content).digest("hex");
const secret = "s3cr3t-Of-The-House+/=42";
const redactor = createRedactor();
redactor.add([secret]);
const hide = redactor.split;

function inPieces(content: Buffer | string, size = 64 * 1024): AsyncIterable<Buffer> {
  const bytes = Buffer.from(content);
  const count = Math.ceil(bytes.length / size);
  return Readable.from(
    Array.from({ length: count }, (_piece, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    ),
  );
}

async function storedFiles(): Promise<string[]> {
  const found = await readdir(dir(), { recursive: true, withFileTypes: true }).catch(() => []);
  return found.filter((each) => each.isFile()).map(({ name }) => name);
}

/** Stores a content, and reads it again. */
async function stored(content: Buffer | string, size?: number) {
  const blobs = blobsOf();
  const blob = await blobs.stage(inPieces(content, size), hide);
  const bytes = await buffer(blobs.read(blob.hash));
  return { ...blob, content: bytes };
}

describe("a blob", () => {
  test("is stored under its hash, privately, and nothing is left in the staging folder", async () => {
    const content = Buffer.from("# Report\n");
    const hash = hashOf(content);
    expect(await stored(content)).toEqual({ hash, bytes: 9, isText: true, content });
    expect(await readFile(dir(hash.slice(0, 2), hash), "utf8")).toBe("# Report\n");
    expect(await storedFiles()).toEqual([hash]);
    await using file = await blobsOf().open(hash);
    const { mode } = await file.stat();
    expect(mode & 0o777).toBe(0o600);
  });

  test("may be empty", async () => {
    expect(await stored("")).toMatchObject({ hash: hashOf(""), bytes: 0, isText: true });
  });

  test("is stored once for equal contents", async () => {
    await Promise.all([stored("same"), stored("same"), stored("same")]);
    expect(await storedFiles()).toEqual([hashOf("same")]);
  });

  test("is not stored if its content breaks off", async () => {
    const broken = function* (): Generator<Buffer> {
      yield Buffer.from("half");
      throw new Error("the run hung up");
    };
    await expect(blobsOf().stage(Readable.from(broken()), null)).rejects.toThrow("the run hung up");
    expect(await storedFiles()).toEqual([]);
  });

  test("that another process left unfinished is removed by the next one that is stored", async () => {
    await mkdir(dir("staging"), { recursive: true });
    await writeFile(dir("staging", "earlier"), "half");
    const { hash } = await stored("whole");
    expect(await storedFiles()).toEqual([hash]);
  });

  test("that is missing or damaged is reported, the latter after its last piece", async () => {
    const blobs = blobsOf();
    const hash = hashOf("absent");
    await expect(buffer(blobs.read(hash))).rejects.toMatchObject({ code: "not_found" });
    await expect(blobs.open("../../../etc/passwd")).rejects.toMatchObject({ code: "not_found" });
    const blob = await blobs.stage(inPieces("right"), null);
    await writeFile(dir(blob.hash.slice(0, 2), blob.hash), "wrong");
    await expect(buffer(blobs.read(blob.hash))).rejects.toMatchObject({
      code: "store_corrupt",
    });
    // The same content again repairs it.
    expect(await stored("right")).toMatchObject({ content: Buffer.from("right") });
  });

  test("is deleted once it is not used and older than an hour", async () => {
    const blobs = blobsOf();
    const store = (text: string) => blobs.stage(inPieces(text), null);
    const [used, old, young] = await Promise.all([store("used"), store("old"), store("young")]);
    const before = new Date(Date.now() - 3_700_000);
    for (const { hash } of [used, old]) {
      await utimes(dir(hash.slice(0, 2), hash), before, before);
    }
    expect(await blobs.sweep(new Set([used.hash]))).toBe(1);
    expect((await storedFiles()).sort()).toEqual([used.hash, young.hash].sort());
    // Stored again, it is young again.
    await utimes(dir(young.hash.slice(0, 2), young.hash), before, before);
    await store("young");
    expect(await blobs.sweep(new Set())).toBe(1);
    expect(await storedFiles()).toEqual([young.hash]);
  });

  test.skipIf(process.getuid?.() !== 0)(
    "on a full disk is refused with the reason, and leaves room for smaller ones",
    async () => {
      const state = join(projectDir(), ".al");
      await mkdir(state);
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", state]);
      onTestFinished(() => void execFileSync("umount", [state]));
      await expect(stored(randomBytes(1e6))).rejects.toMatchObject({
        code: "unavailable",
        status: 507,
        message: expect.stringContaining("disk is full") as string,
      });
      expect(await storedFiles()).toEqual([]);
      const { hash } = await stored(randomBytes(1e5));
      expect(await storedFiles()).toEqual([hash]);
    },
  );

  test("of a project without blobs costs no folder", async () => {
    expect(await blobsOf().sweep(new Set())).toBe(0);
    expect(await readdir(projectDir())).toEqual([]);
  });
});

describe("secrets in a blob", () => {
  test("are redacted in a text, whose length and hash change", async () => {
    const content = Buffer.from("key: [redacted]\n");
    const hash = hashOf(content);
    expect(await stored(`key: ${secret}\n`)).toEqual({ hash, bytes: 16, isText: true, content });
    expect(await storedFiles()).toEqual([hash]);
  });

  test("are found across pieces, in any encoding, and the rest of the text stays", async () => {
    for (let seed = 1; seed <= 12; seed += 1) {
      const random = randomBy(seed);
      const upTo = (most: number) => Math.floor(random() * most);
      const forms = [secret, Buffer.from(secret).toString("base64"), encodeURIComponent(secret)];
      const texts = ["häuser ", "\r\n", "\u001b[1m", "日本 ", "\t", "x".repeat(20_000)];
      const parts = Array.from({ length: 40 }, () =>
        random() < 0.3 ? (forms[upTo(3)] ?? "") : (texts[upTo(texts.length)] ?? ""),
      ).flatMap((part) => [part, "|"]);
      const size = 1 + upTo(40_000) * upTo(2);
      const { content } = await stored(parts.join(""), Math.max(size, 7));
      const expected = parts.map((part) => (forms.includes(part) ? "[redacted]" : part)).join("");
      expect(content.toString(), `seed ${seed}`).toBe(expected);
    }
  });

  test("are found wherever a window of the search ends", async () => {
    // 80 KiB of text are searched at a time, and the last 16 KiB of them again.
    for (const border of [64 * 1024, 80 * 1024]) {
      for (const before of [0, 1, secret.length - 1, secret.length]) {
        const head = "é".repeat(border - before);
        const { content } = await stored(`${head}${secret}${"z".repeat(90_000)}`);
        expect(content.toString()).toBe(`${head}[redacted]${"z".repeat(90_000)}`);
      }
    }
  });

  test("stay in a binary content, whose bytes are kept", async () => {
    const withNul = Buffer.from(`\0${secret}`);
    const invalid = Buffer.concat([
      Buffer.from(`${secret}${"x".repeat(70_000)}`),
      Buffer.from([0xff]),
    ]);
    const cut = Buffer.concat([Buffer.from(secret), Buffer.from("é").subarray(0, 1)]);
    for (const content of [withNul, invalid, cut]) {
      expect(await stored(content, 1_000)).toMatchObject({ isText: false, content });
    }
  });

  test("are not suspected at the end of a long text", async () => {
    const text = `${"x".repeat(20_000)} ${secret.slice(0, 10)}`;
    expect(await stored(text)).toMatchObject({ content: Buffer.from(text) });
  });
});
