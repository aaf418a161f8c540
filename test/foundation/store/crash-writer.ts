/** Writes through the store as fast as it can and says which writes were acknowledged, until it is killed. */
import { openStore } from "../../../src/features/open-store.ts";
import { beginRun, manualItem, requestFor, succeeded, webhookItem } from "./support.ts";

const store = openStore(process.argv[2] ?? "");
const acknowledge = (event: string): void => {
  process.stdout.write(`${event}\n`);
};

async function oneLife(n: number): Promise<void> {
  const receipt = { id: `r${n}`, at: n, source: "gh", type: "github", deliveryId: `d${n}` };
  const body = Buffer.from(`body ${n}`);
  const items = [webhookItem(`w${n}`, `r${n}`)];
  await store.receipts.accept({
    receipt: { ...receipt, headers: {}, body, matched: ["dev"], reason: null },
    items,
    taken: [],
    deadLetters: [],
  });
  acknowledge(`received ${n}`);
  const item = manualItem(`m${n}`);
  await store.work.enqueue([item]);
  acknowledge(`queued ${n}`);
  await beginRun(store, requestFor(item, `dev-${n}`));
  acknowledge(`claimed ${n}`);
  await store.work.end(item, { instanceId: `dev-${n}`, startedAt: n, end: succeeded });
  acknowledge(`ended ${n}`);
}

for (let n = 0; ; n += 20) {
  await Promise.all(Array.from({ length: 20 }, (_, i) => oneLife(n + i)));
}
