import type { QuestionView } from "../../../../src/foundation/contracts/question-views.ts";
import type { HistoryEntry } from "../../../../src/foundation/contracts/history.ts";
import { removeAll } from "../../../helpers/container-project.ts";
import { engineSetupMs, removeTestImages, testEngine } from "../../../helpers/docker.ts";
import { forAll, slowly, type LiveProject } from "../../../helpers/live-project.ts";
import { tempUser, whyNoOsUsers } from "../../../helpers/os-users.ts";
import { pause } from "../../../helpers/pause.ts";
import { everythingServer } from "../../../e2e/mcp-servers.ts";
import type { Program } from "./play.ts";
import { cliImage, imageBin } from "./cli-image.ts";
import { agentsProvider } from "./cli-provider.ts";
import { cases, type Case } from "./cli-cases.ts";
import { cliProject, nameOf, runtimes, type CliAgent, type Runtime } from "./cli-project.ts";
import { realPrograms } from "./real-programs.ts";

const bin = await realPrograms();
const { engine, missing } = await testEngine();
const isMissing: Readonly<Record<Runtime, boolean>> = {
  "host-user": bin === null || whyNoOsUsers() !== null,
  container: bin === null || missing !== null,
};
const programs: readonly Program[] = ["claude", "codex", "gemini"];
/** Cases of one command line. */
const only: Partial<Record<Case, Program>> = {
  early: "claude",
  subagent: "claude",
  throttled: "codex",
};
const agents: readonly CliAgent[] = runtimes
  .filter((runtime) => !isMissing[runtime])
  .flatMap((runtime) =>
    programs.flatMap((program) =>
      (Object.keys(cases) as Case[])
        .filter((of) => only[of] === undefined || only[of] === program)
        .map((of) => ({ program, runtime, of })),
    ),
  );

let project: LiveProject;
let provider: Awaited<ReturnType<typeof agentsProvider>>;
const steered = "Mind the gap.";
/** The statuses of messages to runs that wait for a person, by agent. */
const steers = new Map<string, number>();
let stop = false;
let end: () => Promise<void>;

/** Sends a message to each run that asks, and answers it. */
async function answerAll(): Promise<void> {
  while (!stop) {
    const { questions } = await project.json<{ questions: readonly QuestionView[] }>(
      "/api/questions?state=open",
    );
    for (const { id, agent, instanceId } of questions) {
      const steer = await project.post(`/api/runs/${instanceId}/steer`, { text: steered });
      steers.set(agent, steer.status);
      await project.post(`/api/questions/${id}/answer`, { answer: "yes" });
    }
    await pause(300, "questions come as runs reach them");
  }
}

/** How many runs work at once: a command line takes seconds of CPU to start. */
const atOnce = 4;
/** Those with the most waits first. */
const place = ({ of }: CliAgent): number => ["tools", "overload", "faults"].indexOf(of) >>> 0;

async function runEach(queue: CliAgent[]): Promise<void> {
  for (let agent = queue.shift(); agent !== undefined && !stop; agent = queue.shift()) {
    await project.trigger(nameOf(agent));
    await ended(agent).catch(() => undefined);
  }
}

async function ended(agent: CliAgent): Promise<HistoryEntry> {
  const latest = () => project.latest(nameOf(agent));
  await expect
    .poll(async () => (await latest())?.outcome ?? null, { ...slowly, timeout: 170_000 })
    .not.toBeNull();
  return (await latest()) as HistoryEntry;
}

const warnings = async (agent: CliAgent) =>
  (await project.messages(nameOf(agent), "run")).join("\n");

describe.skipIf(agents.length === 0)("the real command lines", () => {
  forAll(async () => {
    const [user, mcp, image] = await Promise.all([
      tempUser(),
      everythingServer(() => undefined),
      isMissing.container ? "none" : cliImage(engine, bin ?? ""),
    ]);
    provider = await agentsProvider((agent, body, index) => {
      const [program = "", ...rest] = agent.split("-");
      return cases[rest.at(-1) as Case](program as Program, body, index);
    });
    const { origin } = provider;
    const places = {
      "host-user": [bin ?? "", `[runtime]\ntype = "host-user"\nrun_as = "${user.name}"\n`],
      container: [imageBin, ""],
    } as const;
    project = await cliProject({ agents, origin, mcpUrl: mcp.url, places, image });
    await project.start();
    const queue = agents.toSorted((one, other) => place(one) - place(other));
    for (let at = 0; at < atOnce; at += 1) void runEach(queue);
    const answering = answerAll();
    end = async () => {
      stop = true;
      await answering;
      await project.scheduler.stop();
      mcp.child.kill("SIGKILL");
      await provider.close();
      await user.remove();
      if (isMissing.container) return;
      await removeAll(engine, project.dir);
      await removeTestImages(engine, image);
    };
  }, engineSetupMs);
  afterAll(() => end());

  describe.each(runtimes.filter((runtime) => !isMissing[runtime]))(
    "in the runtime %s",
    (runtime) => {
      describe.each(programs)("%s", (program) => {
        const agent = (of: Case): CliAgent => ({ program, runtime, of });
        const requests = (of: Case) => provider.requests(nameOf(agent(of)));

        test("retries answers that overload, break off, end early or fall silent, and succeeds", async () => {
          expect(await ended(agent("faults"))).toMatchObject({ outcome: "succeeded", attempt: 1 });
          expect(requests("faults")).toHaveLength(5);
        });

        test("retries maxRetries times if each answer overloads", async () => {
          expect(await ended(agent("overload"))).toMatchObject({ outcome: "failed" });
          expect(requests("overload")).toHaveLength(5);
          expect(await warnings(agent("overload"))).toContain("is in cooldown for 60 s");
        });

        test("does not retry at the limit of a subscription, and names when to come back", async () => {
          const reason = expect.stringMatching(
            /429 the limit is reached; the provider asks to wait 2 h/,
          ) as string;
          expect(await ended(agent("limit"))).toMatchObject({
            outcome: "failed",
            reason,
            tokens: null,
            costUsd: null,
          });
          expect(requests("limit")).toHaveLength(1);
          expect(await warnings(agent("limit"))).toContain("is in cooldown for 3600 s");
        });

        test("does not retry with an expired login", async () => {
          const reason = expect.stringMatching(/401 the login has expired$/) as string;
          expect(await ended(agent("expired"))).toMatchObject({
            outcome: "failed",
            reason,
            tokens: null,
            costUsd: null,
          });
          expect(requests("expired")).toHaveLength(1);
          expect(await warnings(agent("expired"))).not.toContain("cooldown");
        });

        test.runIf(program === "claude")(
          "runs a tool once if the answer breaks off behind its call",
          async () => {
            expect(await ended(agent("early"))).toMatchObject({ outcome: "succeeded" });
            const results = await project.entries(nameOf(agent("early")), "tool-result");
            expect(results.map(({ output }) => String(output).trim())).toEqual(["1"]);
          },
        );

        test.runIf(program === "codex")("counts the usage of a resumed session once", async () => {
          expect(await ended(agent("throttled"))).toMatchObject({
            outcome: "succeeded",
            tokens: 3100,
          });
          expect(await project.messages(nameOf(agent("throttled")), "usage")).toEqual([
            "3100 tokens",
          ]);
        });

        test("waits for a lock, a call and a person, uses MCP servers, and each call to the model is counted once", async () => {
          const { outcome, reason, tokens, costUsd } = await ended(agent("tools"));
          const calls = requests("tools");
          expect({ outcome, reason }).toEqual({ outcome: "succeeded", reason: null });
          const last = calls.at(-1) ?? "";
          expect(last).not.toMatch(/canary-of-notes|get-sum/);
          for (const found of [/fencingToken/, /42/, /answer\W+yes/, /note-9f1c/, /Echo: hello/])
            expect(last).toMatch(found);
          expect(steers.get(nameOf(agent("tools")))).toBe(program === "claude" ? 202 : 409);
          expect(last.split(steered)).toHaveLength(program === "claude" ? 2 : 1);
          expect(calls).toHaveLength(7);
          expect(tokens).toBe(calls.length * 1550);
          expect(costUsd).toBeCloseTo(
            calls.length * (program === "claude" ? 0.004_935 : 0.004_71),
            9,
          );
          const used = (await project.entries(nameOf(agent("tools")), "usage")).map(
            ({ msg }) => msg,
          );
          expect(used.join()).toContain(`${calls.length * 1550}`);
        });
      });

      test("claude works on after an interim result, and the final one counts", async () => {
        const agent: CliAgent = { program: "claude", runtime, of: "subagent" };
        const { outcome, tokens } = await ended(agent);
        expect(outcome).toBe("succeeded");
        const said = await project.messages(nameOf(agent), "said");
        expect(said.at(-1)).toBe("Final.");
        const calls = provider.requests(nameOf(agent));
        expect(calls).toHaveLength(4);
        expect(tokens).toBe(calls.length * 1550);
      });
    },
  );
});
