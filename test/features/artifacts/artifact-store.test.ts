import {
  createArtifactStore,
  type Artifact,
} from "../../../src/features/artifacts/artifact-store.ts";
import { openStore } from "../../../src/features/open-store.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const file = (path: string, bytes: number): Artifact => {
  return { path, hash: `hash of ${path}`, bytes, kind: "text", isExecutable: false };
};
const none = { files: [], leftOut: { files: [], more: 0 }, dropped: 0 };
const leftOut = { files: [{ path: "big.bin", bytes: 9, why: "does not fit" }], more: 3 };

function opened() {
  const store = openStore(tempDir());
  onTestFinished(() => store.close());
  return { store, artifacts: store.tables(createArtifactStore) };
}

describe("the store of artifacts", () => {
  test("holds the files of a run's latest upload and the names of files that were left out", async () => {
    const { artifacts } = opened();
    expect(artifacts.of("dev-aaaaaaaa")).toEqual(none);
    await artifacts.keep("dev-aaaaaaaa", 1, { ...none, files: [file("old", 1)] }, 100);
    const files = [file("a", 1), file("b/c", 2)];
    await artifacts.keep("dev-aaaaaaaa", 2, { files, leftOut }, 100);
    expect(artifacts.of("dev-aaaaaaaa")).toEqual({ files, leftOut, dropped: 0 });
    expect(artifacts.count("dev-aaaaaaaa")).toBe(2);
  });

  test("drops the files of the oldest runs above the project's maximum, and counts them", async () => {
    const { artifacts } = opened();
    for (const [at, id] of ["dev-aaaaaaaa", "dev-bbbbbbbb", "dev-cccccccc"].entries())
      await artifacts.keep(id, at, { ...none, files: [file("a", 30), file("b", 10)] }, 90);
    expect(artifacts.of("dev-aaaaaaaa")).toEqual({ ...none, dropped: 2 });
    expect(artifacts.count("dev-bbbbbbbb")).toBe(2);
    expect(artifacts.count("dev-cccccccc")).toBe(2);
  });

  test("loses its rows with the history's retention", async () => {
    const { store, artifacts } = opened();
    const day = 86_400_000;
    const now = Date.now();
    await artifacts.keep("dev-aaaaaaaa", now - 20 * day, { ...none, files: [file("a", 1)] }, 100);
    await artifacts.keep("dev-bbbbbbbb", now - day, { ...none, files: [file("a", 1)] }, 100);
    await store.prune({ now, days: 14, maxBytes: 1e9 });
    expect(artifacts.of("dev-aaaaaaaa")).toEqual(none);
    expect(artifacts.count("dev-bbbbbbbb")).toBe(1);
  });
});
