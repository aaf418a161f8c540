import { openStore } from "../../../src/features/open-store.ts";
import { claimed, cronItem, succeeded } from "../../foundation/store/support.ts";
import { ward } from "./support.ts";

const found = async () =>
  (await ward.found("slots")).map(
    ({ severity, what, fix }) => `${severity} ${what}; ${fix ?? "no fix"}`,
  );

/** A project whose agents `dev` and `ops` run each minute, in one slot, and whose last runs took this many minutes. */
async function eachMinute(minutes: number): Promise<void> {
  await ward.run("al config --set scale=1");
  ward.edit("agents/dev/config.toml", "0 9 * * 1-5", "* * * * *");
  await ward.run("cp -r agents/dev agents/ops");
  const store = openStore(ward.dir);
  for (const agent of ["dev", "ops"]) {
    const item = cronItem(agent, agent);
    const instanceId = `${agent}-1`;
    await claimed(store, item, instanceId);
    const startedAt = Date.now() - minutes * 60_000;
    await store.work.end(item, { instanceId, startedAt, end: succeeded });
  }
  store.close();
}

test("the doctor reports how many agents are due at once", async () => {
  expect(await found()).toEqual([]);
  await eachMinute(0.4);
  const text = /^ok 2 agents are due .+, and 1 run at once: the others start late; no fix$/;
  expect(await found()).toEqual([expect.stringMatching(text)]);
});

test("the doctor warns if scheduled runs need more slots than the project has", async () => {
  await eachMinute(0.6);
  const [warning] = await found();
  expect(warning).toMatch(
    /^warning scheduled runs need 1.2 slots on average, by their last 20; scale = 1: some ticks are skipped; .+: al config --set scale=2/,
  );
  await ward.run("al config --set scale=2");
  expect(await found()).toEqual([]);
});
