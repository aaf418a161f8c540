import { aRunView } from "../../helpers/run-view.ts";
import { historyEntry } from "../../helpers/history-entry.ts";
import { anAgentStatus } from "../../helpers/agent-status.ts";
import { cliProject, problem, snapshotOf, type Routes } from "./fake-operator.ts";

const cli = cliProject();

const version = { hash: "b".repeat(32), commit: "c".repeat(40), dirty: true };
const text = '--- dev-aaaaaaaa/config.json\n+++ b\n@@ -1 +1 @@\n-  "scale": 1\n+  "scale": 2\n';
const difference = {
  from: { instanceId: "dev-aaaaaaaa", version: { hash: "a", commit: null, dirty: null } },
  to: { instanceId: "dev-bbbbbbbb", version },
  changed: true,
  text,
};

test("al show prints a run with its prompt, version, calls and result", async () => {
  const made = [historyEntry({ id: "1", agent: "cat", instanceId: "cat-aaaaaaaa" })];
  const run = aRunView("dev-bbbbbbbb", {
    version,
    value: { ok: true },
    lastWords: "Done.\u001b[2J\nBye.",
    durationMs: 1200,
    calls: { received: null, made },
  });
  await cli.serve({ "GET /api/runs/dev-bbbbbbbb": () => run });
  const { stdout, stderr, code } = await cli.al(["show", "dev-bbbbbbbb"]);
  expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
  expect(stdout).toMatch(/^dev-bbbbbbbb succeeded\nTrigger {5}schedule\n/);
  expect(stdout).toMatch(/^Duration {4}1\.2 s$/m);
  expect(stdout).toMatch(/^Version {5}bbbbbbbbbbbb\nCommit {6}cccccccccccc with changes$/m);
  expect(stdout).toMatch(/^Cost {8}\$0\.01 in 2 calls$/m);
  expect(stdout).toMatch(/^Calls {7}cat succeeded cat-aaaaaaaa$/m);
  expect(stdout).toMatch(/^Returned {4}\{\n {14}"ok": true\n {12}\}$/m);
  expect(stdout).toMatch(/^Last words {2}Done\..*\n {12}Bye\.\n$/m);
  expect(stdout).not.toContain("\u001b");
  expect(await cli.json(["show", "dev-bbbbbbbb"])).toEqual(run);
});

test("al show of an agent prints its latest run, and the changes before it", async () => {
  const triggers = [
    historyEntry({ id: "2", agent: "dev", instanceId: null, outcome: "skipped" }),
    historyEntry({ id: "1", agent: "dev", instanceId: "dev-bbbbbbbb" }),
  ];
  const unknown: Routes[string] = (_request, response) =>
    problem(response, 404, "unknown_instance", "there is no run dev");
  await cli.serve({
    "GET /api/runs/dev": unknown,
    "GET /api/runs/dev/diff": unknown,
    "GET /api/stats/triggers": () => ({
      triggers,
      page: 1,
      limit: 200,
      total: 2,
      nextBefore: null,
    }),
    "GET /api/runs/dev-bbbbbbbb": () => aRunView("dev-bbbbbbbb", {}),
    "GET /api/runs/dev-bbbbbbbb/diff": () => difference,
  });
  expect((await cli.al(["show", "dev"])).stdout).toMatch(/^dev-bbbbbbbb /);
  expect((await cli.al(["show", "dev", "--diff"])).stdout).toContain('+  "scale": 2');
});

test("al show prints a webhook's payload, and whether the version is that of the last success", async () => {
  const views = {
    "dev-bbbbbbbb": aRunView("dev-bbbbbbbb", {
      payload: '{\n  "title": "\u001b[2Jhi"\n}',
      lastSuccess: { instanceId: "dev-aaaaaaaa", changed: true },
      failing: {
        instanceId: "dev-bbbbbbbb",
        count: 1078,
        newest: false,
        since: new Date(2026, 10, 20, 6, 33).toISOString(),
        lastSuccess: {
          instanceId: "dev-aaaaaaaa",
          at: new Date(2026, 10, 20, 6, 26).toISOString(),
        },
        changed: ["config", "instructions"],
      },
    }),
    "dev-cccccccc": aRunView("dev-cccccccc", {
      lastSuccess: { instanceId: "dev-aaaaaaaa", changed: false },
    }),
  };
  await cli.serve({
    "GET /api/runs/dev-bbbbbbbb": () => views["dev-bbbbbbbb"],
    "GET /api/runs/dev-cccccccc": () => views["dev-cccccccc"],
  });
  const changed = await cli.al(["show", "dev-bbbbbbbb"]);
  expect(changed.stdout).toMatch(/^Payload +\{\n +"title": "hi"\n +\}$/m);
  expect(changed.stdout).toMatch(
    /^Last success +dev-aaaaaaaa; changed since then: al show dev-bbbbbbbb --diff$/m,
  );
  expect(changed.stdout).toMatch(
    /^Standing +had been failing since 2026-11-20 06:33:00, 1,078 in a row; last success 2026-11-20 06:26:00; config and instructions changed in between$/m,
  );
  const same = await cli.al(["show", "dev-cccccccc"]);
  expect(same.stdout).toMatch(/^Last success +dev-aaaaaaaa; ran the same$/m);
});

test("al show prints the prompt that its model received", async () => {
  const asked: string[] = [];
  await cli.serve({
    "GET /api/runs/dev-bbbbbbbb": ({ query }) => {
      asked.push(query.toString());
      return aRunView("dev-bbbbbbbb", { modelPrompt: "System prompt:\n\nBe \u001b[2Jbrief." });
    },
  });
  const { stdout } = await cli.al(["show", "dev-bbbbbbbb", "--prompt"]);
  expect(stdout).toBe("System prompt:\n\nBe brief.\n");
  expect(asked).toEqual(["modelPrompt=true"]);
});

test("al show prints the hosts that a run reached and was denied", async () => {
  const host = { port: 443, denied: null, connections: 1, bytesOut: 512, bytesIn: 3 * 1024 ** 2 };
  const lastAt = "2026-11-22T12:00:00.000Z";
  const denied = {
    ...host,
    denied: "not_allowed",
    connections: 3,
    bytesOut: 0,
    bytesIn: 0,
  } as const;
  const hosts = [
    { ...denied, host: "api.evil.test", port: 8443, lastAt },
    { ...host, host: "api.allowed.test", lastAt },
    ...Array.from({ length: 25 }, (_, n) => ({ ...host, host: `h${n}.test`, lastAt })),
  ];
  await cli.serve({ "GET /api/runs/dev-bbbbbbbb": () => aRunView("dev-bbbbbbbb", { hosts }) });
  const { stdout } = await cli.al(["show", "dev-bbbbbbbb"]);
  expect(stdout).toMatch(/^Denied +api\.evil\.test:8443 is not in \[network\]\.allow, 3 times$/m);
  expect(stdout).toMatch(/^Reached +api\.allowed\.test 512 bytes out, 3\.0 MiB in$/m);
  expect(stdout).toMatch(/^ +and 6 more$/m);
});

test("al show --diff prints the changes since the last successful run, or since another one", async () => {
  const queries: string[] = [];
  await cli.serve({
    "GET /api/runs/dev-bbbbbbbb/diff": ({ query }) => {
      queries.push(query.toString());
      return difference;
    },
    "GET /api/runs/dev-aaaaaaaa": () => aRunView("dev-aaaaaaaa", {}),
    "GET /api/runs/dv": (_request, response) =>
      problem(response, 404, "unknown_instance", 'there is no run "dv"'),
    "GET /api/stats/triggers": () => ({ triggers: [] }),
    "GET /control/status": () => snapshotOf([anAgentStatus("dev")]),
  });
  const shown = await cli.al(["show", "dev-bbbbbbbb", "--diff"]);
  expect(shown).toEqual({
    code: 0,
    stdout: text,
    stderr: "what changed from dev-aaaaaaaa to dev-bbbbbbbb (commit cccccccccccc with changes)\n",
  });
  const named = ["show", "dev-bbbbbbbb", "--diff", "dev-aaaaaaaa", "--json"];
  expect(JSON.parse((await cli.al(named)).stdout)).toEqual(difference);
  expect(queries).toEqual(["", "to=dev-aaaaaaaa"]);
  const typo = await cli.al(["show", "dev-bbbbbbbb", "--diff", "dv"]);
  expect(typo).toMatchObject({ code: 1, stdout: "" });
  expect(typo.stderr).toMatch(/^error: there is no run "dv"\nhint: did you mean "dev"\?/);
});

test("a run without changes has no data", async () => {
  const same = { ...difference, changed: false, text: "" };
  await cli.serve({ "GET /api/runs/dev-bbbbbbbb/diff": () => same });
  const shown = await cli.al(["show", "dev-bbbbbbbb", "--diff"]);
  expect(shown).toMatchObject({ code: 0, stdout: "" });
  expect(shown.stderr).toMatch(/^nothing changed from dev-aaaaaaaa to dev-bbbbbbbb/);
});

test("an unknown run names where runs are found, and a similar agent", async () => {
  await cli.serve({
    "GET /control/status": () => snapshotOf([anAgentStatus("dev")]),
    "GET /api/runs/dev": (_, response) => problem(response, 404, "unknown_instance", "no run"),
    "GET /api/runs/dve": (_, response) => problem(response, 404, "unknown_instance", "no run"),
    "GET /api/runs/dev-cccccccc": (_, response) =>
      problem(response, 404, "unknown_instance", 'there is no run "dev-cccccccc"'),
    "GET /api/stats/triggers": () => ({
      triggers: [],
      page: 1,
      limit: 200,
      total: 0,
      nextBefore: null,
    }),
  });
  expect(await cli.failure(["show", "dve"])).toContain('did you mean "dev"?');
  expect(await cli.failure(["show", "dev"])).toContain(
    'agent "dev" has no run among its latest 200 history entries',
  );
  const stderr = await cli.failure(["show", "dev-cccccccc"]);
  expect(stderr).toContain("al history lists the runs with their instance ids");
});
