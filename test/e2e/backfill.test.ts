import { clockAhead } from "../helpers/scheduler.ts";
import { commandAgents, until } from "../helpers/command-agents.ts";
import { slowly, type LiveProject } from "../helpers/live-project.ts";
import type { WhyNot } from "../../src/features/webhooks/delivery-report.ts";

const hourMs = 3_600_000;
const hours = (count: number) => ({ env: clockAhead(count * hourMs) });

interface Backfill {
  readonly slots: readonly { readonly at: string; readonly reason: string | null }[];
}

/** Agents that are due once an hour, half an hour from now: each run notes the time that it is for. */
async function hourlyAgents(configs: Readonly<Record<string, string>>): Promise<LiveProject> {
  const minute = (new Date().getUTCMinutes() + 30) % 60;
  const project = await commandAgents((dir) =>
    Object.fromEntries(
      Object.keys(configs).map((name) => [
        name,
        `${until(`${dir}/go-${name}`)}; echo "$AL_SCHEDULED_AT" >> '${dir}/ran-${name}'`,
      ]),
    ),
  );
  for (const [name, config] of Object.entries(configs)) {
    const path = `agents/${name}/config.toml`;
    const schedule = `schedule = "${minute} * * * *"\n${config}`;
    await project.write(path, `${schedule}${await project.read(path)}`);
  }
  return project;
}

const ran = async (project: LiveProject, name: string): Promise<readonly string[]> =>
  (await project.read(`ran-${name}`).catch(() => "")).split("\n").filter(Boolean);

const missedOf = async (project: LiveProject, name: string): Promise<readonly string[]> =>
  (await project.history(`agent=${name}&outcome=missed`))
    .map(({ scheduledFor = "" }) => scheduledFor)
    .toReversed();

const backfilled = async (project: LiveProject, ...args: readonly string[]): Promise<Backfill> =>
  JSON.parse(await project.print("backfill", ...args, "--json")) as Backfill;

test("each missed run starts once, in order, by catchUp or a backfill, over kill -9 and another backfill", async () => {
  const project = await hourlyAgents({
    plain: "",
    eager: 'catchUp = "all"\ncatchUpMost = 2\n',
  });
  await project.start();
  await expect
    .poll(async () => (await project.agent("plain"))?.nextRunAt ?? null, slowly)
    .not.toBe(null);
  await project.scheduler.kill();
  await project.write("go-eager", "");
  await project.start(hours(5));

  const due = await missedOf(project, "plain");
  expect(due).toHaveLength(5);
  expect(await missedOf(project, "eager")).toEqual(due.slice(0, 3));
  await expect.poll(() => ran(project, "eager"), slowly).toEqual(due.slice(3));
  const reason = "missed: no scheduler was running";
  const window = ["plain", "--since", due[0] ?? ""];
  const found = await backfilled(project, ...window, "--dry-run");
  expect(found.slots).toEqual(due.map((at) => expect.objectContaining({ at, reason }) as object));
  expect((await project.agent("plain"))?.running).toBe(0);

  const [started, again] = await Promise.all([
    backfilled(project, ...window),
    backfilled(project, ...window),
  ]);
  expect([...started.slots, ...again.slots].map(({ at }) => at).sort()).toEqual(due);
  await expect.poll(async () => (await project.agent("plain"))?.running, slowly).toBe(1);
  await project.crash(hours(5));
  expect((await backfilled(project, ...window)).slots).toEqual([]);
  const { now } = await project.json<WhyNot>("/api/agents/plain/why-not");
  expect(now).toContain("4 missed runs to start, one after another.");
  await project.write("go-plain", "");
  await expect.poll(() => ran(project, "plain"), slowly).toEqual(due);
  const first = await project.print("show", "plain", "--prompt");
  expect(first).toContain(`work as of ${due.at(-1) ?? ""}`);
  expect(await project.print("audit")).toContain("5 runs");
  await project.crash(hours(5));
  expect(await ran(project, "plain")).toEqual(due);
}, 120_000);

test("a paused scheduler writes no row for each run that is due, and says how many there were", async () => {
  const project = await hourlyAgents({ plain: "" });
  await project.start();
  await project.print("pause");
  await project.scheduler.kill();
  await project.start(hours(4));
  expect(await project.history("agent=plain")).toEqual([]);
  const { spans } = await project.json<WhyNot>("/api/agents/plain/why-not");
  expect(spans).toEqual([
    expect.objectContaining({ count: 4, reason: "schedules were paused", until: null }),
  ]);
  await project.print("resume");
  await project.write("go-plain", "");
  const [span] = spans;
  const args = ["plain", "--at", span?.firstAt ?? ""];
  expect((await backfilled(project, ...args)).slots).toHaveLength(1);
  await expect.poll(() => ran(project, "plain"), slowly).toEqual([span?.firstAt]);
  const after = await project.json<WhyNot>("/api/agents/plain/why-not");
  expect(after.spans).toMatchObject([{ count: 3 }]);
}, 120_000);
