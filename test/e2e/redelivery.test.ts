import { signDelivery } from "../../src/features/webhooks/sign.ts";
import { bytes, githubExample } from "../features/webhooks/deliveries.ts";
import { webhookProject } from "../features/webhooks/webhook-project.ts";
import type { AgentAnswer } from "../../src/foundation/contracts/operator-api.ts";
import { LiveProject, slowly } from "../helpers/live-project.ts";

const issue = bytes(githubExample("issues", "opened"));

/** A live project whose agent listens to another repository than the deliveries' one. */
async function start(): Promise<LiveProject> {
  const project = new LiveProject(await webhookProject({ dev: listensTo("acme/other") }));
  await project.start();
  return project;
}

const listensTo = (repo: string) => `[[webhooks]]\nsource = "github"\nrepos = ["${repo}"]\n`;

/** Corrects the filter, as a person does while the scheduler runs. */
async function correct(project: LiveProject): Promise<void> {
  const repo = "Codertocat/Hello-World";
  await project.edit("agents/dev/config.toml", "acme/other", repo);
  const active = async () =>
    (await project.json<AgentAnswer>("/dashboard/api/agents/dev")).config?.webhooks;
  await expect.poll(active, slowly).toMatchObject([{ filters: { repos: [repo] } }]);
}

async function deliver(project: LiveProject, id: string): Promise<unknown> {
  const headers = signDelivery("github", "hush-github", issue, Date.now(), { event: "issues", id });
  const body = new Uint8Array(issue);
  const url = `${project.scheduler.url}/webhooks/github/github`;
  return (await fetch(url, { method: "POST", headers, body })).json();
}

test("a delivery that matched no agent starts its run once it is delivered again after the filter was corrected, also after a crash", async () => {
  const project = await start();
  expect(await deliver(project, "d1")).toMatchObject({ matched: [] });
  expect(await deliver(project, "d1")).toMatchObject({ duplicate: true });
  await correct(project);
  expect(await deliver(project, "d1")).toMatchObject({ matched: [{ agent: "dev" }] });
  await project.crash();
  expect(await deliver(project, "d1")).toMatchObject({ duplicate: true });
  expect(await runs(project, 1)).toBe(1);
});

test("al replay --unmatched starts the deliveries that match an agent after its filter was corrected, each once", async () => {
  const project = await start();
  for (const id of ["d1", "d2", "d3"]) await deliver(project, id);
  const asked = ["replay", "--unmatched", "--since", "1h"];
  expect((await project.al(...asked)).code).toBe(1);
  await correct(project);
  expect(await project.print(...asked, "--dry-run")).toMatch(
    /^(\S+ github issues opened: dev\n){3}$/,
  );
  const { deliveries } = JSON.parse(await project.print(...asked, "--json")) as {
    readonly deliveries: readonly object[];
  };
  expect(deliveries).toHaveLength(3);
  expect((await project.al(...asked)).code).toBe(1);
  expect(await deliver(project, "d1")).toMatchObject({ duplicate: true });
  expect(await runs(project, 3)).toBe(3);
});

/** The number of runs of dev, once so many have ended. */
async function runs(project: LiveProject, count: number): Promise<number> {
  const started = async () => {
    const entries = await project.history("agent=dev");
    return entries.filter(({ instanceId }) => instanceId !== null);
  };
  await expect
    .poll(
      async () => (await started()).filter(({ outcome }) => outcome === "succeeded").length,
      slowly,
    )
    .toBe(count);
  return (await started()).length;
}
