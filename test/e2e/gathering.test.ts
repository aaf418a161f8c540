import { readFileSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { signDelivery } from "../../src/features/webhooks/sign.ts";
import { commandAgents } from "../helpers/command-agents.ts";
import { slowly, type LiveProject } from "../helpers/live-project.ts";

const secret = "the-secret-of-the-deliveries";

/** An agent whose runs note the numbers of their deliveries, one run a line. */
async function gatheringProject(debounce: string): Promise<LiveProject> {
  const project = await commandAgents((dir) => ({
    review: `sed -n 's/.*"n": *\\([0-9]*\\).*/\\1/p' "\${AL_DELIVERIES_FILE:-$AL_PAYLOAD_FILE}" | tr '\\n' ' ' >> '${dir}/ran'; echo >> '${dir}/ran'`,
  }));
  const binding = '[[webhooks]]\nsource = "github"\n';
  await project.append("agents/review/config.toml", `${binding}[debounce]\n${debounce}\n`);
  const source = '[webhooks.github]\ntype = "github"\ncredential = "default"\n';
  await project.append("config.toml", source);
  await project.store("github_webhook_secret", { secret });
  await project.write("ran", "");
  return project;
}

async function deliver({ scheduler }: LiveProject, issue: number, ...numbers: readonly number[]) {
  for (const n of numbers) {
    const event = { action: "opened", issue: { number: issue }, n };
    const body = Buffer.from(JSON.stringify(event));
    const options = { event: "issues", id: `delivery-${issue}-${n}` };
    const headers = signDelivery("github", secret, body, Date.now(), options);
    const url = `${scheduler.url}/webhooks/github`;
    const answer = await fetch(url, { method: "POST", headers, body });
    expect(await answer.json()).toMatchObject({ matched: [{ agent: "review" }] });
  }
}

/** The deliveries of each run, in the order of the runs. */
const ran = (project: LiveProject): readonly string[] =>
  readFileSync(join(project.dir, "ran"), "utf8")
    .split("\n")
    .map((line) => line.trim())
    .slice(0, -1);

const byNumber = 'key = "{number}"\ndeliver = "all"';

describe("deliveries that gather", () => {
  test(
    "start one run for each key, which gets them in order, and are shown until then",
    { timeout: 120_000 },
    async () => {
      const project = await gatheringProject(`${byNumber}\nquiet = "2s"`);
      await project.start();
      await deliver(project, 7, 1, 2, 3);
      await deliver(project, 8, 4);
      expect(await project.agent("review")).toMatchObject({ gathering: { deliveries: 4 } });
      expect(await project.print("stat")).toMatch(
        /review +idle +gathering 4, starts (in [12] s|now)/,
      );
      await expect.poll(() => ran(project).toSorted(), slowly).toEqual(["1 2 3", "4"]);
      expect(await project.agent("review")).not.toHaveProperty("gathering");
      const runs = await project.history("agent=review");
      expect(runs).toHaveLength(2);
      const shown = runs.map(({ instanceId }) => project.print("show", String(instanceId)));
      expect((await Promise.all(shown)).join("")).toMatch(/^Gathered +3 deliveries$/m);
    },
  );

  test(
    "gather on over a stop and a crash, and start when a person wants it",
    { timeout: 120_000 },
    async () => {
      const project = await gatheringProject(`${byNumber}\nquiet = "1h"\nmost = "2h"`);
      const { signal, exited } = await project.start();
      await deliver(project, 7, 1);
      signal("SIGTERM");
      expect(await exited).toBe(0);
      expect(await project.print("stat")).toContain("gathering 1");
      await project.start();
      await deliver(project, 7, 2);
      await project.crash();
      await deliver(project, 7, 3);
      expect(await project.agent("review")).toMatchObject({ gathering: { deliveries: 3 } });
      const shown = await project.al("show", "review");
      expect(shown.stderr).toContain("review is gathering 3, starts in");
      const why = "/api/agents/review/why-not";
      expect(await project.json(why)).toMatchObject({
        now: [expect.stringMatching(/^3 deliveries gather .* al agent start-now review\.$/)],
        turnedAway: [],
      });
      expect(ran(project)).toEqual([]);
      expect(await project.print("agent", "start-now", "review")).toBe(
        "1 run of review for 3 gathered\n",
      );
      await expect.poll(() => ran(project), slowly).toEqual(["1 2 3"]);
      expect(await project.print("agent", "start-now", "review")).toBe(
        "no deliveries of review gather\n",
      );
      const [run] = await project.history("agent=review");
      await project.print("replay", String(run?.id));
      await expect.poll(() => ran(project), slowly).toEqual(["1 2 3", "1 2 3"]);
    },
  );

  test(
    "start at once after a restart past their time, with the latest payload by default",
    { timeout: 120_000 },
    async () => {
      const project = await gatheringProject('quiet = "5s"\nmost = "5s"');
      const { kill } = await project.start();
      await deliver(project, 7, 1);
      await deliver(project, 8, 2);
      await kill();
      await project.edit(
        "agents/review/config.toml",
        'quiet = "5s"\nmost = "5s"',
        'quiet = "1s"\nmost = "1s"',
      );
      await project.start();
      await expect.poll(() => ran(project), slowly).toEqual(["2"]);
      const prompts = await project.entries("review", "prompt");
      expect(prompts.map(({ output }) => String(output)).join("")).toContain(
        "This run represents 2 webhook deliveries, of which the latest is above.",
      );
    },
  );

  test(
    "wait as work when they are due while all work is paused, or their agent is disabled or gone",
    { timeout: 120_000 },
    async () => {
      const project = await gatheringProject(`${byNumber}\nquiet = "1s"`);
      await project.start();
      await deliver(project, 7, 1);
      await project.print("pause", "--all-work");
      await deliver(project, 7, 2);
      const outcomes = async () =>
        (await project.history("agent=review")).map(({ outcome }) => outcome);
      await expect.poll(outcomes, slowly).toEqual([null]);
      await project.print("resume");
      await expect.poll(() => ran(project), slowly).toEqual(["1 2"]);
      await deliver(project, 7, 3);
      await project.print("pause", "review");
      await expect.poll(outcomes, slowly).toEqual([null, "succeeded"]);
      await project.print("resume", "review");
      await expect.poll(() => ran(project), slowly).toEqual(["1 2", "3"]);
      await deliver(project, 7, 4);
      await rename(project.path("agents/review"), project.path("../review"));
      await expect.poll(outcomes, slowly).toEqual([null, "succeeded", "succeeded"]);
      await rename(project.path("../review"), project.path("agents/review"));
      await expect.poll(() => ran(project), slowly).toEqual(["1 2", "3", "4"]);
    },
  );
});
