import { spawn } from "node:child_process";
import { LiveProject, slowly } from "../helpers/live-project.ts";
import { fakeTelegram } from "../features/alerts/chat/fake-telegram.ts";

/** Starts the receiver as its README says, on any free port. */
async function receiver(project: LiveProject) {
  let printed = "";
  const script = project.path("receiver.mjs");
  const child = spawn(process.execPath, [script, "--port", "0"], {
    env: { ...process.env, AL_HOME: project.home },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const stop = () => void child.kill();
  onTestFinished(stop);
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (printed += chunk));
  const prints = (pattern: RegExp) => expect.poll(() => printed, slowly).toMatch(pattern);
  await prints(/^receives at http:\S+;/);
  const url = /http:\/\/localhost:\d+/.exec(printed)?.[0] ?? "";
  return { url, prints, printed: () => printed, stop };
}

test("examples/alerts alerts a failure and its end once, also to a receiver that was down, and heartbeats show both", async () => {
  const project = await LiveProject.copy("examples/alerts");
  const first = await receiver(project);
  for (const file of ["config.toml", "agents/prices/config.toml"])
    await project.edit(file, "http://localhost:8090", first.url);
  await project.start();
  const fail = async (agent: string) => expect((await project.al("run", agent)).code).toBe(1);

  await fail("prices");
  await first.prints(/opened {4}prices failed\n +Why: .*prices.txt is empty/);
  await fail("prices");
  await project.write("agents/prices/assets/prices.txt", "9.50\n");
  const recovered = await project.print("run", "prices", "--json");
  expect(JSON.parse(recovered)).toMatchObject({ value: 9.5 });
  await first.prints(/resolved {2}prices recovered/);
  expect(first.printed().match(/opened/g)).toHaveLength(1);
  await first.prints(/heartbeat the scheduler: is well/);
  const pings = [...first.printed().matchAll(/heartbeat prices: (\w+)/g)].map(([, ping]) => ping);
  expect(pings).toEqual(expect.arrayContaining(["start", "fail", "start", "succeeded"]));
  expect(first.printed()).not.toContain("refused");
  const unsigned = await fetch(`${first.url}/alerts`, { method: "POST", body: "{}" });
  expect(unsigned.status).toBe(401);

  first.stop();
  await fail("quiet");
  await fail("orders");
  const second = await receiver(project);
  const answer = await project.post("/api/alerts/targets/receiver/test");
  expect(await answer.json()).toEqual({ accepted: true, error: null });
  await second.prints(/opened {4}Test alert/);
  await second.prints(/quiet failed\n +Why: nothing returned/);
  await second.prints(/orders failed\n +Why: .*total/);
});

test("examples/telegram asks in Telegram, and a button that a listed person presses answers", async () => {
  const telegram = await fakeTelegram();
  const project = await LiveProject.copy("examples/telegram");
  await project.store("telegram_bot", telegram.fields);
  await project.start();
  const run = project.al("run", "release", "--json");
  const button = () =>
    /"text":"yes","callback_data":"([^"]+)/.exec(JSON.stringify([...telegram.messages]));
  await expect.poll(button, slowly).not.toBeNull();
  telegram.press(button()?.[1] ?? "", 12_345_678, "press");
  expect(JSON.parse((await run).stdout)).toMatchObject({ value: "deployed" });
});
