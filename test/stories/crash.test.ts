import type { WhyNot } from "../../src/features/webhooks/delivery-report.ts";
import { fakeTelegram } from "../features/alerts/chat/fake-telegram.ts";
import { until } from "../helpers/command-agents.ts";
import { slowly } from "../helpers/live-project.ts";
import { addScripted, turn } from "../helpers/scripted-agents.ts";
import { deliver, storyProject, taken } from "./story-project.ts";

test("after kill -9 the next scheduler adopts the live run, receives an answer from Telegram, and starts paused deliveries in order", async () => {
  const telegram = await fakeTelegram();
  const project = await storyProject();
  const config = await project.read("config.toml");
  const alerts = '[alerts.ops]\ntype = "telegram"\nanswers = [42]\n';
  await project.write("config.toml", `workQueueSize = 3\n${config}${alerts}`);
  const waits = `{ command = ${JSON.stringify(until(project.path("go")))} }`;
  const turns = turn("bash", waits, "Before.");
  await addScripted(project, "waiter", { turns });
  await project.store("telegram_bot", telegram.fields);
  await project.start();

  const messages = (kind: string) => project.messages("waiter", kind);
  const message = () => JSON.stringify(telegram.messages.get(1) ?? null);
  expect(await project.trigger("asker")).toEqual([202]);
  await expect.poll(message, slowly).toContain("Deploy 1.4?");
  const sent = async () => JSON.stringify(await project.json("/api/alerts"));
  await expect.poll(sent, slowly).toContain('"state":"sent"');
  expect(await project.trigger("waiter")).toEqual([202]);
  await expect.poll(() => messages("tool"), slowly).toHaveLength(1);
  await project.print("pause", "--all-work");
  for (const n of [1, 2, 3, 4]) expect(await deliver(project, n)).toMatchObject(taken);

  const { waitForOutput } = await project.crash();
  await waitForOutput(/waiter .*run resumed, started manually \S+ m?s ago/);
  await project.write("go", "");
  expect(await deliver(project, 5)).toMatchObject(taken);
  expect((await project.status()).scheduler).toMatchObject({ paused: true, pausedWork: true });
  const { now } = await project.json<WhyNot>("/api/agents/worker/why-not");
  expect(now).toEqual([expect.stringContaining("All new work is paused: 5 work items queued")]);
  telegram.press(/[0-9a-f-]{36}:0/.exec(message())?.[0] ?? "", 42, "q1");
  const once = { outcome: "succeeded", attempt: 1 };
  await expect
    .poll(() => project.latest("asker"), slowly)
    .toMatchObject({ ...once, value: { ok: true, answer: "yes" } });
  await expect.poll(message, slowly).toContain("asker: Ada (42) via Telegram answered: yes");
  expect([message().includes("inline_keyboard"), telegram.messages.size]).toEqual([false, 1]);
  await expect.poll(() => project.latest("waiter"), slowly).toMatchObject(once);
  expect(await messages("said")).toEqual(["Before.", "Done."]);
  expect([...(await messages("tool")), ...(await messages("tool-result"))]).toHaveLength(2);

  await project.print("resume");
  const ends = async () =>
    (await project.history("agent=worker")).map(({ outcome }) => outcome).toReversed();
  // One runs and three wait in the agent's queue; the oldest of the others is dropped.
  const succeeded = Array.from({ length: 3 }, () => "succeeded");
  await expect.poll(ends, slowly).toEqual(["succeeded", "dropped", ...succeeded]);
  expect(await project.read("ran")).toBe("1\n3\n4\n5\n");
}, 120_000);
