import { NEVER } from "rxjs";
import { collected, exitOf, messagesOf, runnerContract, whenReady } from "../contract.ts";
import { testEngine } from "../../../helpers/docker.ts";
import { aRequest, end, log } from "../shell-runs.ts";
import { aRunner, containersOf, eventsOf } from "./support.ts";

const { engine, missing } = await testEngine();

describe.skipIf(missing !== null)("the container runner", () => {
  runnerContract("the container runner", () => {
    const usual = aRunner(engine);
    const local = { memory: "64m", cpus: 1, network: "al-test-no-such-network" };
    const nowhere = aRunner(engine, { local: () => local });
    return {
      runner: {
        run: (request, stop$) =>
          (request.agent.title === "cannot-start" ? nowhere : usual).run(request, stop$),
      },
      request: aRequest,
      leftovers: (id) => containersOf(engine, id),
    };
  });
});

describe.skipIf(missing !== null)("a run in a container", () => {
  test("gets its job only over standard input, which stays open", async () => {
    const script = `read -r job; echo "$job" | grep -o '"prompt":"[a-z-]*"'; exec 3<&0; (read -r more <&3; echo stdin ended) & ${log("ready")}; sleep 0.5; ${end()}`;
    const request = aRequest(script);
    let seen: Promise<unknown> = Promise.resolve();
    const look = whenReady(() => {
      seen = containersOf(engine, request.instanceId).then(([id = ""]) =>
        engine.calls().getContainer(id).inspect(),
      );
    });
    const events = await collected(aRunner(engine).run(request, NEVER).pipe(look));
    expect(messagesOf(events)).toEqual([`"prompt":"the-job-text"`, "ready"]);
    const shown = JSON.stringify(await seen);
    expect(shown).toContain(request.instanceId);
    expect(shown).not.toContain("the-job-text");
  });

  test("ends as out of memory if the engine says so", async () => {
    const script = `node -e 'const all = []; for (;;) all.push(Buffer.alloc(1 << 20, 1))'; exit $?`;
    const exit = exitOf(await eventsOf(engine, aRequest(script)));
    expect(exit).toMatchObject({ outOfMemory: true, exitCode: 137 });
  });

  test("is rejected with the reason when its image is missing", async () => {
    const images = { prepare: () => NEVER, imageFor: () => Promise.resolve("al-no-such:image") };
    const { rejected } = exitOf(await eventsOf(engine, aRequest("true"), { images }));
    expect(rejected).toMatch(/no such image/i);
  });
});
