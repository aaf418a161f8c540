import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { packFrames, readFrames } from "../../../src/runtime/wire/file-frames.ts";
import type {
  LeftOutFile,
  TreeEntry,
  TreeLimits,
} from "../../../src/foundation/contracts/file-tree.ts";
import { randomBy } from "../../helpers/random.ts";

const limits: TreeLimits = { bytes: 4e6, fileBytes: 3e6, entries: 200, depth: 5, nameBytes: 100 };

interface ReadFile {
  readonly path: string;
  readonly content: Buffer;
  readonly isExecutable: boolean;
}

function entriesOf(files: readonly ReadFile[]): TreeEntry[] {
  return files.map(({ path, content, isExecutable }) => {
    return { path, bytes: content.length, isExecutable, content: pieces([content]) };
  });
}

function pieces(all: readonly Buffer[]): AsyncIterable<Buffer> {
  return Readable.from(all);
}

/** Reads a tree; `part` is how many chunks of each content are read. */
async function read(stream: AsyncIterable<Buffer>, given = limits, part = Infinity) {
  const upload = readFrames(stream, given);
  const files: ReadFile[] = [];
  for await (const { path, content, isExecutable } of upload) {
    const chunks: Buffer[] = [];
    for await (const chunk of content) if (chunks.push(chunk) >= part) break;
    files.push({ path, content: Buffer.concat(chunks), isExecutable });
  }
  return { files, leftOut: upload.leftOut() };
}

const reading = (text: string | Buffer, given = limits) => read(pieces([Buffer.from(text)]), given);
const file = (path: unknown, content = "", more = {}) =>
  `${JSON.stringify({ path, bytes: content.length, isExecutable: false, ...more })}\n${content}`;
const end = '{"end":true}\n';

describe("frames of a tree", () => {
  test("keep any files, in chunks of any size, even if a reader takes a part of each", async () => {
    for (let seed = 1; seed <= 30; seed += 1) {
      const random = randomBy(seed);
      const upTo = (most: number) => Math.floor(random() * most);
      const names = ["a", "ü", "日本", '"', "{", "}", " ", "end", "…", "0"];
      const name = (index: number) => `${names[upTo(names.length)] ?? ""}${index}`;
      const files = Array.from({ length: upTo(12) }, (_file, index): ReadFile => ({
        path: `${random() < 0.5 ? `${name(index)}/` : ""}${name(index)}`,
        // Contents that look like frames, too.
        content: Buffer.from(
          random() < 0.3
            ? end.repeat(upTo(5))
            : Array.from({ length: upTo(2_000) }, () => upTo(256)),
        ),
        isExecutable: random() < 0.5,
      }));
      const leftOut = Array.from({ length: upTo(3) }, (_one, index): LeftOutFile => ({
        path: name(index),
        why: "is a link",
        ...(random() < 0.5 && { bytes: upTo(9) }),
      }));
      const whole = await buffer(packFrames(entriesOf(files), () => leftOut));
      const cut: Buffer[] = [];
      for (let at = 0; at < whole.length;) {
        const next = at + 1 + upTo(random() < 0.1 ? 3 : 2_000);
        cut.push(whole.subarray(at, next));
        at = next;
      }
      expect(await read(pieces(cut)), `seed ${seed}`).toEqual({ files, leftOut });
      const some = await read(pieces(cut), limits, 1);
      expect(some.files.map(({ path }) => path)).toEqual(files.map(({ path }) => path));
      // Each beginning of it is cut.
      const part = whole.subarray(0, upTo(whole.length));
      await expect(reading(part), `seed ${seed}`).rejects.toThrow("is cut");
    }
  });

  test.each([
    ["nothing", "", "is cut"],
    ["no last line", file("a", "x"), "is cut"],
    ["a length beyond its bytes", file("a", "x", { bytes: 99 }) + end, "is cut"],
    ["a length below its bytes", file("a", "xyz", { bytes: 1 }) + end, "describes no file"],
    ["bytes after its last line", `${end}x`, "bytes after"],
    ["a negative length", file("a", "", { bytes: -1 }) + end, "describes no file"],
    ["a broken length", file("a", "", { bytes: 1.5 }) + end, "describes no file"],
    ["a huge length", file("a", "", { bytes: 1e300 }) + end, "describes no file"],
    ["a length as text", file("a", "", { bytes: "1" }) + end, "describes no file"],
    ["a link", file("a", "", { link: "/etc/passwd" }) + end, "describes no file"],
    ["a mode", file("a", "", { mode: 0o4755 }) + end, "describes no file"],
    ["a path that is no text", file(["a"]) + end, "describes no file"],
    ["a line that is not JSON", "x\n", "describes no file"],
    ["a line of the deepest JSON", `${"[".repeat(8_000)}\n`, "describes no file"],
    ["an end that is not true", '{"end":1}\n', "describes no file"],
    ["a line that never ends", "x".repeat(9_000), "too long"],
    ["a path that leaves it", file("../x", "x") + end, '".."'],
    ["an absolute path", file("/x", "x") + end, "absolute"],
    ["a path with a NUL", file("a\0", "x") + end, "control character"],
    ["a case pair", file("a") + file("A") + end, "in case only"],
    ["a file below a file", file("a") + file("a/b") + end, "a file and a folder"],
    ["a file twice", file("a") + file("a") + end, "twice"],
    ["a file that is too large", file("a", "x", { bytes: 3e6 + 1 }), "more than 3000000 bytes"],
    [
      "files that are too large together",
      file("a", "x".repeat(2.5e6)) + file("b", "x", { bytes: 2e6 }),
      "more than 4000000 bytes",
    ],
    [
      "too many files",
      Array.from({ length: 201 }, (_one, index) => file(`f${index}`)).join("") + end,
      "200 files and folders",
    ],
    [
      "too many files that were left out",
      '{"leftOut":{"path":"a","why":"b"}}\n'.repeat(101) + end,
      "too many files left out",
    ],
  ])("are refused with %s", async (_what, text, why) => {
    await expect(reading(text)).rejects.toMatchObject({
      code: "malformed",
      message: expect.stringContaining(why) as string,
    });
  });

  test("are refused before more is read than the line with the breach", async () => {
    let given = 0;
    const endless = function* (): Generator<Buffer> {
      yield Buffer.from(file("a", "", { bytes: 3e6 + 1 }));
      for (; given < 1_000; given += 1) yield Buffer.alloc(64 * 1024);
    };
    await expect(read(Readable.from(endless(), { highWaterMark: 1 }))).rejects.toThrow(
      "more than 3000000 bytes",
    );
    expect(given).toBeLessThan(3);
  });

  test("are not written with a content of another length than its entry", async () => {
    const entry = { path: "a", bytes: 2, isExecutable: false };
    const packed = (content: string) =>
      buffer(packFrames([{ ...entry, content: pieces([Buffer.from(content)]) }]));
    await expect(packed("abc")).rejects.toThrow("does not have 2 bytes");
    await expect(packed("a")).rejects.toThrow("does not have 2 bytes");
  });
});
