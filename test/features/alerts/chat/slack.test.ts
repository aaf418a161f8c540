import { appToken, botToken, fakeSlack } from "./fake-slack.ts";
import { choose, ended, listening, ofMethod, send, slackOps } from "./listening.ts";

/** Chats that are connected to Slack. */
async function connected(to?: readonly string[] | null, stored?: Promise<void>) {
  const slack = await fakeSlack();
  const heard = listening(slackOps, slack.fields, to, stored);
  await expect.poll(() => slack.open).toHaveLength(1);
  return { slack, ...heard, refusals: () => ofMethod(slack.calls, "chat.postEphemeral") };
}

test("pressing a button in Slack answers the question as the listed person, and is acknowledged", async () => {
  const { slack, given, refusals } = await connected();
  slack.press(choose(1));
  const by = { via: "slack", name: "ada (U0ADA)", from: null };
  await expect.poll(() => given).toEqual([{ answer: "wait", by }]);
  await expect.poll(() => slack.acks).toEqual(["e1"]);
  slack.press(choose(0));
  await expect
    .poll(refusals)
    .toEqual([{ channel: "C0OPS00001", user: "U0ADA", text: "Ada answered: wait" }]);
});

test("pressing a button in Slack is acknowledged within 3 s while the answer is still being stored", async () => {
  const { slack, given } = await connected(null, new Promise(() => undefined));
  slack.press(choose(1));
  slack.press(choose(1), "U0EVE");
  await expect.poll(() => slack.acks, { timeout: 3_500 }).toEqual(["e1", "e2"]);
  expect(given).toHaveLength(1);
});

test("a button in Slack that an unlisted person presses answers nothing, refuses that person alone, and is logged", async () => {
  const { slack, given, log, refusals } = await connected();
  slack.press(choose(0), "U0EVE");
  await expect.poll(refusals).toMatchObject([{ user: "U0EVE" }]);
  expect(given).toEqual([]);
  expect(log).toEqual(["ada (U0EVE) may not answer a question of dev via Slack"]);
});

test("a person listed for another agent's alert target may not answer in Slack", async () => {
  const { slack, given, log, refusals } = await connected(["other"]);
  slack.press(choose(0));
  await expect.poll(() => log).toHaveLength(1);
  slack.press("unknown:0");
  await expect.poll(refusals).toHaveLength(2);
  expect(given).toEqual([]);
});

test("a new connection is opened when Slack asks for one; the old one works until it closes", async () => {
  const { slack, given, log } = await connected();
  slack.open[0]?.send(JSON.stringify({ type: "disconnect", reason: "refresh_requested" }));
  await expect.poll(() => slack.open).toHaveLength(2);
  slack.press(choose(1), "U0ADA", slack.open[0]);
  await expect.poll(() => given).toHaveLength(1);
  expect(log).toEqual([]);
});

test.each([
  ["link_disabled", "Socket Mode is switched off in the app"],
  ["too_many_websockets", "the app has too many connections"],
])(
  "after a disconnect with the reason %s the scheduler logs it and connects to Slack again",
  async (reason, text) => {
    const { slack, log } = await connected();
    slack.open[0]?.send(JSON.stringify({ type: "disconnect", reason }));
    await expect.poll(() => log).toContain(`answers via Slack (slack_app): ${text}`);
    await expect.poll(() => slack.open).toHaveLength(2);
  },
);

test("a connection to Slack without pings for 30 s is replaced", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { slack, log } = await connected();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(log).toEqual([]);
  const ponged = new Promise<void>((resolve) => slack.open[0]?.on("pong", () => resolve()));
  slack.open[0]?.ping();
  await ponged;
  await vi.advanceTimersByTimeAsync(29_000);
  expect(log).toEqual([]);
  await vi.advanceTimersByTimeAsync(1_000);
  await expect.poll(() => slack.open).toHaveLength(2);
  expect(log[0]).toBe("answers via Slack (slack_app): Slack is silent");
});

test("connecting to Slack is retried after a lost connection or a 429, and no token is logged", async () => {
  const slack = await fakeSlack();
  const json = { ok: false, error: "ratelimited" };
  slack.refuse.push({ status: 429, headers: { "retry-after": "1" }, json });
  const before = Date.now();
  const { log } = listening(slackOps, slack.fields);
  await expect.poll(() => slack.open).toHaveLength(1);
  expect(Date.now() - before).toBeGreaterThan(900);
  await expect.poll(() => log).toHaveLength(2);
  slack.open[0]?.close();
  await expect.poll(() => slack.open).toHaveLength(2);
  await expect.poll(() => log).toHaveLength(4);
  expect(log).toEqual([
    "answers via Slack (slack_app): ratelimited",
    "answers via Slack are received again",
    "answers via Slack (slack_app): Slack closed the connection",
    "answers via Slack are received again",
  ]);
  const wrong = listening(slackOps, { ...slack.fields, app_token: "xapp-other" });
  await expect.poll(() => wrong.log).toEqual(["answers via Slack (slack_app): invalid_auth"]);
  for (const secret of [botToken, appToken, "t1cket-s3cret", "xapp-other"])
    expect(log.concat(wrong.log).join()).not.toContain(secret);
});

test("the connection to Slack opens and closes as configured, and closes when the scheduler stops", async () => {
  const slack = await fakeSlack();
  const { change, given } = listening({ ...slackOps, answers: [] }, slack.fields);
  change([slackOps]);
  await expect.poll(() => slack.open).toHaveLength(1);
  change([{ ...slackOps, answers: ["U0EVE"] }]);
  slack.press(choose(0), "U0EVE");
  await expect.poll(() => given).toHaveLength(1);
  expect(slack.open).toHaveLength(1);
  change([]);
  const connections = (): Promise<number> =>
    new Promise((resolve) => slack.server.getConnections((_, count) => resolve(count)));
  await expect.poll(connections).toBe(0);
});

test("a question in Slack has buttons until its message is edited to show the answer", async () => {
  const slack = await fakeSlack();
  const posted = await send(slackOps, slack.fields);
  expect(posted).toMatchObject({ type: "accepted", receipt: "C0OPS00001 1795356300.000100" });
  const shown = () => JSON.stringify([...slack.messages.values()].at(-1));
  expect(shown()).toContain(choose(1));
  // The second message does not exist.
  for (const id of ["1795356300.000100", "1.1"]) {
    const edit = { asked: ended, receipt: `C0OPS00001 ${id}` };
    expect(await send(slackOps, slack.fields, edit)).toEqual({ type: "accepted" });
    expect(shown()).toContain("dev: al on this machine answered: wait");
    expect(shown()).not.toContain(choose(1));
  }
  await send({ ...slackOps, answers: [] }, slack.fields);
  expect(slack.messages.size).toBe(2);
  expect(shown()).not.toContain("actions");
});

test("a missing scope of Slack's app is named in the error and switches the target off", async () => {
  const slack = await fakeSlack();
  const json = { ok: false, error: "missing_scope", needed: "chat:write" };
  slack.refuse.push({ status: 200, json });
  expect(await send(slackOps, slack.fields)).toEqual({
    type: "gone",
    error: "it answered 200: missing_scope; the app needs the scope chat:write",
  });
});
