import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { commandAgents, latestOf, startAgents, until } from "../helpers/command-agents.ts";
import { runAl, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";
import { githubExample } from "../features/webhooks/deliveries.ts";

let project: TestProject;
let scheduler: TestScheduler;

afterEach(async () => {
  await scheduler.stop();
  await project.remove();
});

const slowly = { timeout: 60_000 };

async function deliver(event: string, payload: object): Promise<string> {
  const answer = await fetch(`${scheduler.url}/webhooks/github/hub`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-github-event": event },
    body: JSON.stringify(payload),
  });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { receiptId: string }).receiptId;
}

const startOf = async (agent: string) => (await latestOf(scheduler, agent))?.startedAt;

/** A command that waits and returns what the wait was answered. */
const wait = (args: string) => `al-return "$(wait_for_trigger ${args} 2>&1 | head -n 1)"`;

it("meets a delivery and a call that came before it, over kill -9 of the scheduler between them", async () => {
  project = await commandAgents((dir) => ({
    delivered: `${until(`${dir}/go`)}; ${wait("--kind webhook --source hub --where issue.number=1 --timeout 0")}`,
    called: `${until(`${dir}/go`)}; ${wait("--kind agent-call --source caller --timeout 0")}`,
    caller: "echo early | al-subagent called",
    wrong: wait("--kind webhook --source hup"),
    long: wait("--kind webhook --source hub --event gollum --timeout 86000"),
  }));
  const source = '\n[webhooks.hub]\ntype = "github"\nallowUnsigned = true\n';
  await appendFile(join(project.dir, "config.toml"), source);
  const toml = join(project.dir, "agents/long/config.toml");
  await writeFile(toml, `waitTimeout = 1\n${await readFile(toml, "utf8")}`);
  scheduler = await startTestScheduler(project);
  expect(await startAgents(scheduler, "delivered", "called")).toEqual([202, 202]);
  for (const agent of ["delivered", "called"]) {
    await expect.poll(() => startOf(agent), slowly).toBeTypeOf("string");
  }
  await deliver("push", githubExample("push"));
  const receiptId = await deliver("issues", githubExample("issues", "opened"));
  await runAl(project, ["run", "caller", "--json"]);

  await scheduler.kill();
  scheduler = await startTestScheduler(project);
  await writeFile(join(project.dir, "go"), "");

  const done = { outcome: "succeeded", attempt: 1 };
  await expect
    .poll(() => latestOf(scheduler, "delivered"), slowly)
    .toMatchObject({
      ...done,
      value: { ok: true, timedOut: false, trigger: { event: "issues", receiptId } },
    });
  await expect
    .poll(() => latestOf(scheduler, "called"), slowly)
    .toMatchObject({ ...done, value: { trigger: { caller: "caller", context: "early\n" } } });

  const wrong = await runAl(project, ["run", "wrong", "--json"]);
  expect(JSON.parse(wrong.stdout)).toMatchObject({
    value: {
      ...{ ok: false, error: "unknown_source" },
      detail: 'The project has no webhook source "hup"; did you mean "hub"?',
    },
  });
  const long = await runAl(project, ["run", "long", "--json"]);
  expect(JSON.parse(long.stdout)).toMatchObject({
    value: { timedOut: true, limited: { askedSeconds: 86_000, timeoutSeconds: 1 } },
  });
  const { stdout: log } = await runAl(project, ["logs", "long"]);
  expect(log).toContain("waits at most 1 s instead of 86000 s");
}, 240_000);
