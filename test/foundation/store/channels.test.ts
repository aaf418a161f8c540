import { expect, test } from "vitest";
import { tempDir, tempStore } from "./support.ts";

const channel = { instanceId: "dev-1", tokenHash: "ab12", dir: "/tmp/al-runs/x" };

test("a channel is there for the next scheduler until it is removed", async () => {
  const dir = tempDir();
  const first = tempStore(dir);
  await first.channels.add(channel);
  first.close();
  const next = tempStore(dir);
  expect(next.channels.all()).toEqual([channel]);
  await next.channels.remove("dev-1");
  expect(next.channels.all()).toEqual([]);
});

test("an instance has one channel only", async () => {
  const store = tempStore();
  await store.channels.add(channel);
  await expect(store.channels.add({ ...channel, tokenHash: "cd" })).rejects.toThrow(/UNIQUE/);
});
