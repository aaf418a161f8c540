import pc from "picocolors";
import { renderRun } from "../../../src/interfaces/cli/status/render-run.ts";
import { aRunView } from "../../helpers/run-view.ts";
import { historyEntry } from "../../helpers/history-entry.ts";
import { cliProject } from "./fake-operator.ts";

const cli = cliProject();

const version = { hash: "b".repeat(32), commit: "c".repeat(40), dirty: true };
const text = '--- dev-aaaaaaaa/config.json\n+++ b\n@@ -1 +1 @@\n-  "scale": 1\n+  "scale": 2\n';
const difference = {
  from: { instanceId: "dev-aaaaaaaa", version: { hash: "a", commit: null, dirty: null } },
  to: { instanceId: "dev-bbbbbbbb", version },
  changed: true,
  text,
};
const runs = "GET /api/runs/";

test("al show prints a run with its prompt, version, calls, hosts and result", () => {
  const lastAt = new Date(2026, 10, 22, 12).toISOString();
  const reached = {
    port: 443,
    denied: null,
    connections: 1,
    bytesOut: 512,
    bytesIn: 3 * 1024 ** 2,
  };
  const denied = { ...reached, port: 8443, denied: "not_allowed", connections: 3 } as const;
  const time = (minute: number) => new Date(2026, 10, 20, 6, minute).toISOString();
  const lastSuccess = { instanceId: "dev-aaaaaaaa", at: time(26) };
  const run = aRunView("dev-bbbbbbbb", {
    version,
    scheduledFor: time(33),
    startedAt: time(34),
    endedAt: time(35),
    payload: '{\n  "title": "\u001b[2Jhi"\n}',
    lastSuccess: { instanceId: "dev-aaaaaaaa", changed: true },
    failing: {
      instanceId: "dev-bbbbbbbb",
      count: 1078,
      newest: false,
      since: time(33),
      lastSuccess,
      changed: ["config", "instructions"],
    },
    calls: {
      received: null,
      made: [historyEntry({ id: "1", agent: "cat", instanceId: "cat-aaaaaaaa" })],
    },
    hosts: [
      { ...denied, host: "api.evil.test", lastAt },
      ...Array.from({ length: 26 }, (_, n) => ({ ...reached, host: `h${n}.test`, lastAt })),
    ],
    value: { ok: true },
    lastWords: "Done.\u001b[2J\nBye.",
  });
  const style = { colors: pc.createColors(false), columns: null, now: Date.parse(lastAt) };
  const text = renderRun(run, style);
  return expect(`${text}\n`).toMatchFileSnapshot("show.txt");
});

test("al show --prompt prints the prompt that the model received", async () => {
  let asked = "";
  await cli.serve({
    [`${runs}dev-bbbbbbbb`]: ({ query }) => {
      asked = query.toString();
      return aRunView("dev-bbbbbbbb", { modelPrompt: "System prompt:\n\nBe \u001b[2Jbrief." });
    },
  });
  await cli.prints("show dev-bbbbbbbb --prompt", "System prompt:\n\nBe brief.\n");
  expect(asked).toBe("modelPrompt=true");
});

test("al show --diff prints the changes since the last successful run, or since another one", async () => {
  const queries: string[] = [];
  const { routes } = await cli.serve({
    [`${runs}dev-bbbbbbbb/diff`]: ({ query }) => {
      queries.push(query.toString());
      return difference;
    },
    [`${runs}dev-aaaaaaaa`]: aRunView("dev-aaaaaaaa"),
  });
  expect(await cli.al("show dev-bbbbbbbb --diff")).toEqual({
    code: 0,
    stdout: text,
    stderr: "what changed from dev-aaaaaaaa to dev-bbbbbbbb (commit cccccccccccc with changes)\n",
  });
  expect(await cli.json("show dev-bbbbbbbb --diff dev-aaaaaaaa")).toEqual(difference);
  expect(queries).toEqual(["", "to=dev-aaaaaaaa"]);
  routes[`${runs}dev-bbbbbbbb/diff`] = { ...difference, changed: false, text: "" };
  const same = await cli.al("show dev-bbbbbbbb --diff");
  expect(same).toMatchObject({ code: 0, stdout: "" });
  expect(same.stderr).toMatch(/^nothing changed from dev-aaaaaaaa to dev-bbbbbbbb/);
});
