import { tempStore } from "./support.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const run = { instanceId: "dev-1", name: "al-1", ticketHash: "ab12" };

test("a remote run and its claim exist for the next scheduler, until removed", async () => {
  const dir = tempDir();
  const first = tempStore(dir);
  await first.remoteRuns.add(run);
  expect(first.remoteRuns.all()).toEqual([{ ...run, tokenHash: null }]);
  expect(await first.remoteRuns.claim("dev-1", "claim-1", "cd34")).toBe(true);
  first.close();
  const next = tempStore(dir);
  expect(next.remoteRuns.all()).toEqual([{ ...run, tokenHash: "cd34" }]);
  await next.remoteRuns.remove("dev-1");
  expect(next.remoteRuns.all()).toEqual([]);
});

test("the first claim of a remote run wins; only the same one may be repeated", async () => {
  const { remoteRuns } = tempStore();
  await remoteRuns.add(run);
  const claims = ["claim-1", "claim-2", "claim-1"].map((claim, i) =>
    remoteRuns.claim("dev-1", claim, `token-${i}`),
  );
  expect(await Promise.all(claims)).toEqual([true, false, true]);
  expect(remoteRuns.all()).toEqual([{ ...run, tokenHash: "token-2" }]);
});

const channel = { instanceId: "dev-1", tokenHash: "ab12", dir: "/tmp/al-runs/x" };

test("a restarted scheduler finds the directory and the token's hash of a live run in the store, until they are removed", async () => {
  const dir = tempDir();
  const first = tempStore(dir);
  await first.channels.add(channel);
  first.close();
  const next = tempStore(dir);
  expect(next.channels.all()).toEqual([channel]);
  await next.channels.remove("dev-1");
  expect(next.channels.all()).toEqual([]);
});

test("an ended run can't be claimed", async () =>
  expect(await tempStore().remoteRuns.claim("dev-1", "claim-1", "cd")).toBe(false));
