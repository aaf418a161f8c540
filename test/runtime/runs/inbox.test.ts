import { steer } from "../../../src/runtime/runs/steer.ts";
import { anAgent } from "../../helpers/agents.ts";
import {
  ada,
  ended,
  expectRefusal,
  fast,
  restarted,
  startedWorld,
  untilFrozen,
} from "./of-world.ts";
import { worldSecret, type World } from "./world.ts";

const started = () => startedWorld({ agents: [anAgent("a"), anAgent("b")] });
const send = ({ inbox }: World, instanceId: string, text: string, kind = "steer") =>
  inbox.add({ instanceId, kind: kind as "steer", text, by: ada });
const inbox = (world: World, run: string, after = 0, more: { isLast?: true } = {}) =>
  world.ask(run, "inbox", { after, ...more });

test("a live run gets people's messages in order, and confirms them with its next request", async () => {
  const { world, run } = await started();
  const asked = inbox(world, run);
  const seq = (await send(world, run, "One."))?.seq ?? 0;
  const message = { seq, kind: "steer", text: "One.", by: "Ada via Slack" };
  expect((await asked).messages).toEqual([message]);
  expect(world.inbox.ofRun(run)[0]?.receivedAt).toBeNull();
  await send(world, run, "", "stop");
  expect((await inbox(world, run, seq)).messages).toMatchObject([{ kind: "stop" }]);
  expect(world.inbox.ofRun(run)[0]?.receivedAt).toBeGreaterThan(0);
});

test("a live run's last request for messages waits for a message that is being stored, and for no other", async () => {
  const { world, run } = await started();
  const added = send(world, run, "One.");
  const last = (after: number) => inbox(world, run, after, { isLast: true });
  expect((await last(0)).messages).toMatchObject([{ text: "One." }]);
  expect(await last((await added)?.seq ?? 0)).toEqual({ ok: true, messages: [] });
});

test("a live run that waits for an answer is frozen, even if it also waits for messages", async () => {
  const { world, run } = await started();
  void inbox(world, run);
  void world.ask(run, "ask", { question: "Go?" });
  await untilFrozen(world, run);
  await send(world, run, "Wait.");
  expect(world.frozen).toEqual([`freeze ${run}`]);
});

test("a live run gets a message that was sent before its scheduler was killed", async () => {
  const { world, run } = await started();
  await send(world, run, `Use ${worldSecret}.`);
  const again = await restarted(world, [run]);
  expect((await inbox(again, run)).messages).toMatchObject([{ text: "Use [redacted]." }]);
});

test.each<[how: string, end: (world: World, run: string) => Promise<unknown>]>([
  ["reported the end of its session", (world, run) => world.ask(run, "session-end", {})],
  [
    "got no message by its last request",
    async (world, run) => {
      const { messages } = await inbox(world, run, 0, { isLast: true });
      await inbox(world, run, messages[0]?.seq, { isLast: true });
    },
  ],
])(
  "a live run accepts no message after it %s, even if its scheduler is killed",
  async (_how, end) => {
    const { world, run } = await started();
    expect(await send(world, run, "In time.")).not.toBeNull();
    await end(world, run);
    expect(await send(world, run, "Too late.")).toBeNull();
    const again = await restarted(world, [run]);
    expect(await send(again, run, "Too late.")).toBeNull();
    await ended(again, run);
  },
);

test("at most 50 messages can wait for a live run", async () => {
  const { world, run } = await started();
  const more = () => send(world, run, "More.");
  for (let count = 0; count < 50; count += 1) await more();
  await expect(more()).rejects.toMatchObject({ code: "refused" });
  const { messages } = await inbox(world, run);
  const answered = inbox(world, run, messages.at(-1)?.seq);
  await expect.poll(more).toMatchObject({ receivedAt: null });
  expect((await answered).messages).toHaveLength(1);
});

test("a run that has ended can't send a request for messages", async () => {
  const { world, run } = await started();
  await ended(world, run);
  await expectRefusal(inbox(world, run), "unauthorized");
});

describe("a message to a live run", () => {
  const steered = (world: World, run: string) => steer(run, "Too late?", ada, world);

  test("is refused if the run is being ended", async () => {
    const { world, run } = await started();
    world.runs.get(run).writeStopReason("killed");
    await expect(steered(world, run)).rejects.toMatchObject({ code: "refused" });
  });

  const adopted = async () => {
    const { world, run } = await started();
    const again = await restarted(world, [run], { scheduler: fast(10) });
    return { again, run, sent: steered(again, run) };
  };

  test("is stored once the adopted run asks for messages", async () => {
    const { again, run, sent } = await adopted();
    void inbox(again, run);
    expect(await sent).toMatchObject({ text: "Too late?" });
  });

  test("is refused if the adopted run ended its session while no scheduler was up", async () => {
    const { again, run, sent } = await adopted();
    void again.ask(run, "session-end", {});
    await expect(sent).rejects.toMatchObject({ code: "refused" });
  });

  test("is refused with a hint if the adopted run does not connect", async () => {
    const hint = expect.stringContaining("try again") as string;
    await expect((await adopted()).sent).rejects.toMatchObject({ code: "refused", hint });
  });
});
