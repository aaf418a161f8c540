import { readdirSync, truncateSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createCaches } from "../../../src/features/workspace/caches.ts";
import { packFrames, readFrames } from "../../../src/runtime/wire/file-frames.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { perTest } from "../../helpers/per-test.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { aCheckout, aWorkspace } from "./git-host.ts";

const projectDir = perTest(tempDir);
const caches = perTest(() =>
  createCaches({
    projectDir: projectDir(),
    isUntrusted: ({ instanceId }) => instanceId === "stranger",
    packFrames,
    readFrames,
    warn: (message) => expect.unreachable(message),
  }),
);

const requestOf = (instanceId: string, cache = ["~/.npm", "~/.cache/pip"]) => ({
  ...aCheckout(aWorkspace("https://github.com/acme/website.git", { cache })),
  instanceId,
});
const runOf = (instanceId: string, cache?: string[]) => ({
  instanceId,
  request: requestOf(instanceId, cache),
});

/** A run leaves these files in a cache. */
async function leave(
  instanceId: string,
  files: Readonly<Record<string, string>>,
  name = "cache/0",
) {
  const entries = Object.entries(files).map(([path, text]) => {
    const content = Buffer.from(text);
    return { path, bytes: content.length, isExecutable: false, content: Readable.from([content]) };
  });
  const limits = { bytes: 1e6, fileBytes: 1e6, entries: 100, depth: 9, nameBytes: 99 };
  const frames = packFrames(Readable.from(entries) as AsyncIterable<(typeof entries)[number]>);
  return caches().trees.write?.(runOf(instanceId), name, readFrames(frames, limits));
}

const end = (instanceId: string, outcome = "succeeded") =>
  caches().onEvent({
    type: "finished",
    item: { agent: "coder" },
    instanceId,
    end: { outcome },
  } as unknown as RunEvent);

/** The files that the next run receives; null for none. */
async function received(cache?: string[], name = "cache/0") {
  const entries = await caches().trees.read?.(runOf("next", cache), name);
  if (entries === null || entries === undefined) return null;
  const files: Record<string, string> = {};
  for await (const { path, content } of entries)
    files[path] = (await buffer(Readable.from(content))).toString();
  return files;
}

describe("a cache", () => {
  test("has the files of the last run that succeeded, by its path whatever the order of the config", async () => {
    expect(await received()).toBeNull();
    expect(await leave("one", { "_cacache/a": "1", b: "2" })).toEqual({ kept: 2, problems: [] });
    expect(await received()).toBeNull();
    end("one");
    expect(await received()).toEqual({ "_cacache/a": "1", b: "2" });
    expect(await received(["~/.cache/pip", "~/.npm"], "cache/1")).toEqual({
      "_cacache/a": "1",
      b: "2",
    });
    await leave("two", { c: "3" });
    end("two", "failed");
    expect(await received()).toEqual({ "_cacache/a": "1", b: "2" });
    expect(readdirSync(join(projectDir(), ".al/caches/coder/sent"))).toEqual([]);
  });

  test("is that of the run that ends later, whole, after runs at once", async () => {
    await Promise.all([leave("one", { a: "1" }), leave("two", { b: "2" })]);
    end("two");
    end("one");
    expect(await received()).toEqual({ a: "1" });
  });

  test("is received by an untrusted run, and not sent by it", () => {
    const treesOf = (instanceId: string) => caches().trees.treesOf(requestOf(instanceId));
    const usual = { name: "cache/0", path: "~/.npm", get: true, put: true };
    expect(treesOf("one")).toMatchObject([usual, { name: "cache/1", path: "~/.cache/pip" }]);
    expect(treesOf("stranger")).toMatchObject([{ ...usual, put: false }, { put: false }]);
  });

  test("is removed when it is damaged, and when no run received it for the given time", async () => {
    await leave("one", { a: "1" });
    end("one");
    const folder = join(projectDir(), ".al/caches/coder");
    const files = () => readdirSync(folder).filter((name) => name !== "sent");
    truncateSync(join(folder, files()[0] ?? ""), 10);
    await expect(received()).rejects.toThrow();
    expect(files()).toEqual([]);
    await leave("two", { a: "1" });
    end("two");
    await caches().removeUnused(Date.now() - 60_000);
    expect(files()).toHaveLength(1);
    const old = new Date(Date.now() - 120_000);
    utimesSync(join(folder, files()[0] ?? ""), old, old);
    await caches().removeUnused(Date.now() - 60_000);
    expect(files()).toEqual([]);
  });
});
