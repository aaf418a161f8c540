import { Readable } from "node:stream";
import type { TreeEntry, TreeUpload } from "../../../src/foundation/contracts/file-tree.ts";
import type { TreeService } from "../../../src/foundation/contracts/tree-service.ts";
import { createTrees } from "../../../src/runtime/runs/trees.ts";
import { aRequest } from "../runners/shell-runs.ts";
import { aTree, treeLimits } from "../harness/tree-side.ts";

const request = aRequest("dev");
const { instanceId } = request;

/** A run with these trees, whose uploads are read and forgotten. */
function treesOf(given: Partial<TreeService> = {}) {
  const named = [aTree("shared/team", { get: true, put: false }), aTree("shared/mine")];
  const run = { request, sentBytes: new Map<string, number>() };
  const shared: TreeService = {
    treesOf: () => named,
    read: (asked, name) => Promise.resolve([entryOf(`${asked.instanceId} ${name}`, 0)]),
    write: async (_asked, _name, entries) => {
      let kept = 0;
      for await (const { path } of entries) kept += path.length > 0 ? 1 : 0;
      return { kept, problems: [] };
    },
    ...given,
  };
  const find = (id: string) => (id === instanceId ? run : undefined);
  return { named, trees: createTrees({ shared }, { find }) };
}

const entryOf = (path: string, bytes: number): TreeEntry => ({
  path,
  bytes,
  isExecutable: false,
  content: Readable.from([]),
});

const upload =
  (...entries: readonly TreeEntry[]) =>
  (): TreeUpload =>
    Object.assign(Readable.from(entries), { leftOut: () => [] });

describe("the trees of a run", () => {
  test("are those of all services, in its job", async () => {
    const { trees, named } = treesOf();
    expect(await trees.of(request)).toEqual(named);
  });

  test("are sent to and by that run alone, as its job names them", async () => {
    const { trees } = treesOf();
    const refused = { code: "malformed" };
    expect(await trees.get(instanceId, "shared/team")).toMatchObject([
      { path: `${instanceId} shared/team` },
    ]);
    const { put } = trees;
    expect(await put(instanceId, "shared/mine", upload(entryOf("a", 1)))).toMatchObject({
      kept: 1,
    });
    for (const name of ["shared/mine", "shared/others", "shared", "out", "", "constructor"]) {
      await expect(trees.get(instanceId, name)).rejects.toMatchObject(refused);
    }
    for (const name of ["shared/team", "shared/others", "__proto__"]) {
      await expect(put(instanceId, name, upload())).rejects.toMatchObject(refused);
    }
    await expect(trees.get("dev-ended", "shared/team")).rejects.toMatchObject(refused);
  });

  test("may have names beyond its job if their service allows them", async () => {
    const { trees } = treesOf({ mayGet: (_run, name) => name === "shared/call" });
    expect(await trees.get(instanceId, "shared/call")).toHaveLength(1);
    await expect(trees.get(instanceId, "shared/others")).rejects.toMatchObject({
      code: "malformed",
    });
  });

  test.each([
    ["large", treeLimits.bytes, 5, 10],
    ["many", 1, 5 * treeLimits.entries, 2_000],
  ])("can be sent some times, not over and over: %s files", async (_what, bytes, some, more) => {
    const send = (count: number) =>
      treesOf().trees.put(
        instanceId,
        "shared/mine",
        upload(...Array.from({ length: count }, () => entryOf("a", bytes))),
      );
    expect(await send(some)).toMatchObject({ kept: some });
    await expect(send(more)).rejects.toMatchObject({ code: "too_many_requests" });
  });
});
