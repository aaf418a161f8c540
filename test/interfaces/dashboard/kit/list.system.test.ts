import type { Page } from "playwright-core";
import { aDelivery } from "../../../helpers/fake-alerts.ts";
import type { FakeOperations } from "../../../helpers/fake-operations.ts";
import { withAlerts } from "../broken-state.ts";
import { sharedBrowser } from "../open-page.ts";
import { busyState } from "../page-states.ts";
import { untilLive } from "../shows.ts";

const open = sharedBrowser();

test("the filters and the page of a list are in the address, and the browser's own buttons lead through them", async () => {
  const deps = withAlerts();
  const { alerting } = deps.operations;
  const older = Array.from({ length: 120 }, (_, index) => aDelivery(10 + index));
  alerting.deliveries = [...alerting.deliveries.slice(0, 4), ...older];
  const path = "/dashboard/alerts";
  const rows = "#deliveries tr";
  const { page, url, shows, press } = await open(path, deps);
  const [second, third] = [`?before=${older[45]?.id ?? ""}`, `?before=${older[95]?.id ?? ""}`];
  const isAt = (query: string) => page.waitForURL(url + path + query);
  await shows({ [rows]: 50, "#place": "Newest", "#newer@aria-disabled": "true" });
  await press("Older →");
  await isAt(second);
  await shows({ "#place": "Page 2" });
  await press("Older →");
  await isAt(third);
  await shows({ [rows]: 24, "#older@aria-disabled": "true" });
  await press("← Newer");
  await isAt(second);
  await page.goBack();
  await isAt(third);
  await page.reload();
  await shows({ [rows]: 24 });
  await press("Newest");
  await shows({ [rows]: 50 });
  await press("Older →");
  await page.getByLabel("State").selectOption("dead");
  await isAt("?state=dead");
  await shows({ [rows]: 1 });
  await page.getByRole("combobox", { name: "Target" }).fill("chat");
  await page.keyboard.press("Enter");
  await shows({ "#deliveries-none": "No deliveries match these filters." });
  await page.goBack();
  await shows({ [rows]: 1 });
  await press("Clear filters");
  await isAt("");
  await shows({ [rows]: 50 });
});

/** How often a page has read each address of the API, without its query. */
function readsOf(page: Page): () => Readonly<Record<string, number>> {
  const reads: Record<string, number> = {};
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/api/")) reads[pathname] = (reads[pathname] ?? 0) + 1;
  });
  return () => ({ ...reads });
}

type Emit = (operations: FakeOperations) => void;
const list =
  (...changed: readonly ("alerts" | "audit" | "questions" | "triggers")[]): Emit =>
  (operations) =>
    operations.emit({ changed });

test.each<readonly [path: string, others: readonly Emit[], own: Emit, reads: object]>([
  ["alerts", [list("audit", "questions", "triggers")], list("alerts"), { "/api/alerts": 1 }],
  ["audit", [list("alerts", "triggers")], list("audit"), { "/api/audit": 1 }],
  ["questions", [list("alerts", "audit", "triggers")], list("questions"), { "/api/questions": 2 }],
  [
    "triggers",
    [list("alerts", "audit", "questions")],
    list("triggers"),
    { "/api/stats/triggers": 1, "/api/stats/refused-deliveries": 1 },
  ],
  [
    "cost",
    [
      list("alerts", "audit", "questions", "triggers"),
      (operations) => operations.setAgent({ name: "dev", statusText: "still thinking", queued: 2 }),
      (operations) => operations.addLog({ msg: "a line of the scheduler" }),
    ],
    (operations) => operations.setAgent({ name: "dev", runningUsd: 1 }),
    { "/api/spend": 3 },
  ],
])(
  "the page %s is read again only after an update that makes it stale",
  async (path, others, own, expected) => {
    const { page, url, deps } = await open("/dashboard/tokens", busyState());
    const { operations } = deps;
    await page.clock.install();
    const reads = readsOf(page);
    await page.goto(`${url}/dashboard/${path}`);
    await untilLive(page);
    // Once it is connected it reads what changed since it was rendered.
    await expect.poll(reads).toEqual(expected);
    await page.clock.fastForward(10_000);
    for (const emit of others) emit(operations);
    operations.setScheduler({ paused: true });
    await page.getByRole("button", { name: "Resume" }).waitFor();
    await page.clock.fastForward(10_000);
    own(operations);
    const twice = Object.fromEntries(
      Object.entries(expected).map(([at, count]) => [at, 2 * count]),
    );
    await expect
      .poll(async () => {
        await page.clock.fastForward(1_000);
        return reads();
      })
      .toEqual(twice);
  },
);
