import { fakeTelegram } from "../features/alerts/chat/fake-telegram.ts";
import { commandAgents } from "../helpers/command-agents.ts";
import { slowly } from "../helpers/live-project.ts";

vi.setConfig({ testTimeout: 120_000 });

test("a question reaches Telegram, is answered there after a crash, and its message is edited", async () => {
  const telegram = await fakeTelegram();
  const project = await commandAgents((dir) => ({
    asker: `al-ask "Deploy 1.4?" --choice yes --choice no > '${dir}/answer'`,
  }));
  for (const [name, value] of Object.entries(telegram.fields))
    await project.store(`telegram_bot/default/${name}`, value);
  const target = '\n[alerts.ops]\ntype = "telegram"\nanswers = [42]\n';
  await project.append("config.toml", target);
  await project.start();
  await project.trigger("asker");
  const message = (): string => JSON.stringify(telegram.messages.get(1) ?? null);
  await expect.poll(message, slowly).toContain("Deploy 1.4?");
  // A crash before its id is stored sends the message twice, and then edits the second.
  const states = async () => {
    const report = await project.json<{ deliveries: { state: string }[] }>("/api/alerts");
    return report.deliveries.map(({ state }) => state);
  };
  await expect.poll(states, slowly).toContain("sent");
  await project.crash();
  const [data = ""] = /[0-9a-f-]{36}:0/.exec(message()) ?? [];
  telegram.press(data, 42, "q1");
  await expect.poll(() => project.latest("asker"), slowly).toMatchObject({ outcome: "succeeded" });
  expect(JSON.parse(await project.read("answer"))).toMatchObject({ ok: true, answer: "yes" });
  await expect.poll(message, slowly).toContain("asker: Ada (42) by Telegram answered: yes");
  expect(message()).not.toContain("inline_keyboard");
  expect(telegram.messages.size).toBe(1);
});
