import { callOf, commandAgents, until } from "../helpers/command-agents.ts";
import { ownLog, slowly, type LiveProject } from "../helpers/live-project.ts";

vi.setConfig({ testTimeout: 120_000 });
let project: LiveProject;

beforeEach(async () => {
  project = await commandAgents((dir) => ({
    waits: until(`${dir}/go`),
    callee: until(`${dir}/go`),
    caller: `${callOf("callee")}; ${until(`${dir}/go`)}`,
  }));
});

const start = (graceSeconds = 1) => project.start({ args: ["--grace", String(graceSeconds)] });

/** Lets every run end. */
const letGo = (): Promise<void> => project.write("go", "");

/** The history of an agent, oldest first. */
const historyOf = async (agent: string) => (await project.history(`agent=${agent}`)).toReversed();

/** Waits until the agent's work has these tries. */
const expectTries = (agent: string, ...tries: readonly string[]) =>
  expect
    .poll(async () => {
      const entries = await historyOf(agent);
      return entries.map(({ kind, attempt, outcome }) => `${kind} ${attempt} ${outcome}`);
    }, slowly)
    .toEqual(tries);

/** Waits until the agent's latest run is in its session. */
const inSession = (agent: string) =>
  expect
    .poll(async () => ownLog((await historyOf(agent)).at(-1)?.instanceId ?? ""), slowly)
    .toContain('"tool"');

test("a run ended by a scheduler's stop is interrupted and retried once, and al run exits with 143", async () => {
  const first = await start();
  const watched = project.al("run", "waits");
  await inSession("waits");
  expect(await first.stop()).toBe(0);
  const { code, stderr } = await watched;
  expect([code, stderr]).toEqual([143, expect.stringMatching(/interrupted after/)]);

  const second = await start();
  await expectTries("waits", "manual 1 interrupted", "manual 2 null");
  const reason = expect.stringContaining("tried once more at the next start") as string;
  const [entry] = await historyOf("waits");
  expect(entry).toMatchObject({ exitCode: 143, deadLetter: false, reason });
  await inSession("waits");
  await second.stop();
  await start();
  await expectTries("waits", "manual 1 interrupted", "manual 2 interrupted");
  expect((await historyOf("waits")).at(-1)).toMatchObject({ deadLetter: true });
});

test("a run and a run that it called are interrupted together, and only the retried caller repeats the call", async () => {
  const first = await start(0);
  await project.trigger("caller");
  await inSession("callee");
  await first.stop();
  await letGo();
  await start();
  await expectTries("caller", "manual 1 interrupted", "manual 2 succeeded");
  const [interrupted, rejected] = ["agent-call 1 interrupted", "agent-call 2 rejected"];
  await expectTries("callee", interrupted, rejected, "agent-call 1 succeeded");
});
