import { createArtifactStore } from "../../../src/features/artifacts/artifact-store.ts";
import { createArtifacts } from "../../../src/features/artifacts/artifacts.ts";
import { openStore } from "../../../src/features/open-store.ts";
import type { LeftOutFile, TreeUpload } from "../../../src/foundation/contracts/file-tree.ts";
import { createRedactor } from "../../../src/foundation/credentials/redactor.ts";
import { createBlobs } from "../../../src/foundation/files/blobs.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const instanceId = "dev-aaaaaaaa";
const secret = "hunter2-hunter2";

function opened({ mostBytes = 1000, artifactsBytes = 500 } = {}) {
  const dir = tempDir();
  const store = openStore(dir);
  onTestFinished(() => store.close());
  const redactor = createRedactor();
  redactor.add([secret]);
  const blobs = createBlobs(dir);
  const artifacts = store.tables(createArtifactStore);
  const { trees } = createArtifacts({
    store: artifacts,
    blobs,
    redactor,
    mostBytes: () => mostBytes,
    clock: { now: () => 1 },
  });
  const request = { agent: anAgent("dev", { artifactsBytes }), item: anItem("dev"), instanceId };
  const run = { instanceId, request: request as RunRequest };
  return { store, trees, blobs, artifacts, run };
}

type Opened = ReturnType<typeof opened>;
type Files = Readonly<Record<string, string | Buffer>>;

function uploadOf(files: Files, leftOut: readonly LeftOutFile[] = []): TreeUpload {
  return {
    leftOut: () => leftOut,
    [Symbol.asyncIterator]: async function* () {
      for (const [path, given] of Object.entries(files)) {
        const bytes = Buffer.from(given);
        const content = (async function* () {
          for (const byte of bytes) yield await Promise.resolve(Buffer.from([byte]));
        })();
        const isExecutable = path.endsWith(".sh");
        yield await Promise.resolve({ path, bytes: bytes.length, isExecutable, content });
      }
    },
  };
}

const upload = ({ trees, run }: Opened, files: Files, leftOut?: readonly LeftOutFile[]) =>
  trees.out.write?.(run, "out", uploadOf(files, leftOut));

async function textOf({ artifacts, blobs }: Opened, path: string): Promise<string> {
  const { hash = "" } = artifacts.of(instanceId).files.find((file) => file.path === path) ?? {};
  const parts: Buffer[] = [];
  for await (const part of blobs.read(hash)) parts.push(part);
  return Buffer.concat(parts).toString();
}

describe("the tree `out`", () => {
  test.each([
    [{ artifactsBytes: 500, mostBytes: 1000 }, 500],
    [{ artifactsBytes: 500, mostBytes: 100 }, 100],
  ])("has with the limits %j at most %i bytes", async (limits, bytes) => {
    const { trees, run } = opened(limits);
    expect(await trees.out.treesOf(run.request)).toMatchObject([
      { name: "out", path: "out", get: false, put: true, keepsWhatFits: true, limits: { bytes } },
    ]);
  });

  test("does not exist for an agent that keeps no artifacts", async () => {
    const { trees, run } = opened({ artifactsBytes: 0 });
    expect(await trees.out.treesOf(run.request)).toEqual([]);
  });

  test("is stored with its texts redacted, its other files as they are, and their kinds", async () => {
    const world = opened();
    const png = Buffer.concat([Buffer.from("89504e470d0a1a0a00", "hex"), Buffer.from(secret)]);
    const files = { "a.sh": `key ${secret}!`, "b/c.png": png };
    expect(await upload(world, files)).toEqual({ kept: 2, problems: [] });
    expect(world.artifacts.of(instanceId).files).toMatchObject([
      { path: "a.sh", kind: "text", isExecutable: true, bytes: "key [redacted]!".length },
      { path: "b/c.png", kind: "png", isExecutable: false, bytes: png.length },
    ]);
    expect(await textOf(world, "a.sh")).toBe("key [redacted]!");
    expect(await textOf(world, "b/c.png")).toContain(secret);
  });

  test("leaves out a file with a secret in its name, and redacts the names and reasons of others", async () => {
    const world = opened();
    const why = `says ${secret} ${"x".repeat(9_000)}`;
    await upload(world, { a: "1", [`b-${secret}`]: "2" }, [{ path: `c/${secret}`, why }]);
    const { files, leftOut } = world.artifacts.of(instanceId);
    expect(files.map(({ path }) => path)).toEqual(["a"]);
    expect(leftOut.files).toMatchObject([
      { path: "b-[redacted]", bytes: 1, why: "has a credential in its name" },
      { path: "c/[redacted]", bytes: null },
    ]);
    expect(leftOut.files[1]?.why).toMatch(/^says \[redacted\] x{1,300}$/);
  });

  test("has the files of the last upload and the names of files that the run left out", async () => {
    const world = opened();
    await upload(world, { a: "1", b: "2" });
    await upload(world, { b: "3" }, [{ path: "big", why: "does not fit" }]);
    const { files, leftOut } = world.artifacts.of(instanceId);
    expect(files.map(({ path }) => path)).toEqual(["b"]);
    expect(leftOut.files).toMatchObject([{ path: "big", why: "does not fit" }]);
  });

  test("stays empty after an upload that breaks off", async () => {
    const world = opened();
    const broken = {
      leftOut: () => [],
      [Symbol.asyncIterator]: async function* () {
        yield* uploadOf({ a: "1" });
        throw new Error("cut");
      },
    };
    await expect(world.trees.out.write?.(world.run, "out", broken)).rejects.toThrow("cut");
    expect(world.artifacts.count(instanceId)).toBe(0);
  });
});
