import { openStore } from "../../../src/features/open-store.ts";
import { ensureApiKey } from "../../../src/foundation/credentials/api-key.ts";
import { spendOn } from "../../foundation/store/spend-on.ts";
import { manualItem, requestFor, succeeded } from "../../foundation/store/support.ts";
import { cliProject, scriptedModel } from "./fake-operator.ts";

const cli = cliProject();

beforeEach(async () => {
  const { key } = await ensureApiKey(cli.home);
  cli.write("config.toml", scriptedModel);
  cli.addAgent("dev", 'schedule = "0 9 * * *"');
  cli.addAgent("bad", 'schedule = "every day"');
  await fill(key);
});

/** A store with two runs of `dev`, the second of which left the key behind, one queued and what they spent. */
async function fill(key: string): Promise<void> {
  const store = openStore(cli.projectDir);
  const leak = { outcome: "failed", reason: `left ${key} behind`, value: { said: key } } as const;
  for (const [name, instanceId, end, schedule] of [
    ["one", "dev-aaaaaaaa", succeeded, "0 8 * * *"],
    ["two", "dev-bbbbbbbb", { ...succeeded, ...leak }, "0 9 * * *"],
  ] as const) {
    const item = manualItem(name, "dev", Date.now() - 60_000);
    await store.work.enqueue([item]);
    const content = { config: `schedule = "${schedule}"\n`, instructions: "do" };
    await store.work.claim(requestFor(item, instanceId), { hash: schedule, content });
    await store.work.end(item, { instanceId, startedAt: item.at, end });
  }
  await store.work.enqueue([manualItem("three", "dev", Date.now())]);
  await spendOn(store, "dev", [2_000_000_000, 1_000_000_000]);
  store.close();
}

test("al stat and al show need no scheduler to print a stored run, and al show --diff the change before it; none prints the API key", async () => {
  expect(await cli.output("stat")).toMatch(
    /^dev +error +1 queued: left \[redacted\] behind[^]*^error bad: agents\/bad\/config\.toml:3:12 /m,
  );
  const shown = await cli.output("show dev-bbbbbbbb");
  expect(shown).toMatch(/^dev-bbbbbbbb failed\n[^]*"said": "\[redacted\]"/);
  const changed = await cli.output("show dev-bbbbbbbb --diff");
  expect(changed).toMatch(/^-.*0 8 \* \* \*[^]*^\+.*0 9 \* \* \*/m);
});

test("without a scheduler, al stat, cost and history work with a broken config", async () => {
  cli.write("config.toml", "nonsense");
  await cli.prints("stat", /^error config\.toml:1/m);
  await cli.prints("cost", /^dev +\$3\.00 +2 +4/m);
  await cli.output("history");
});
