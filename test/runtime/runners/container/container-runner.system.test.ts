import { once } from "node:events";
import { lastValueFrom, NEVER, Subject, tap, toArray } from "rxjs";
import type { StopReason } from "../../../../streams/runs/runner.ts";
import { exitOf, messagesOf, runnerContract } from "../contract.ts";
import { testEngine } from "../../../helpers/docker.ts";
import { end, forever, jobOf, log } from "../shell-runs.ts";
import { aRequest, aRunner, containersOf, eventsOf, memoryRecords } from "./support.ts";

const { engine, missing } = await testEngine();

describe.skipIf(missing !== null)("the container runner", () => {
  runnerContract("the container runner", () => {
    const usual = aRunner(engine);
    const nowhere = aRunner(engine, {
      local: () => ({ memory: "64m", cpus: 1, network: "al-test-no-such-network" }),
    });
    return Promise.resolve({
      runner: {
        run: (request, stop$) =>
          (request.agent.title === "cannot-start" ? nowhere : usual).run(request, stop$),
      },
      request: (scenario) => aRequest(scenario),
      leftovers: (id) => containersOf(engine, id),
      dispose: () => Promise.resolve(),
    });
  });
});

describe.skipIf(missing !== null)("a run in a container", () => {
  test("gets its job over standard input, which stays open, invisibly from outside", async () => {
    const script = `read -r job; echo "$job" | grep -o '"prompt":"[a-z-]*"'; exec 3<&0; (read -r more <&3; echo stdin ended) & ${log("ready")}; sleep 0.5; ${end()}`;
    const request = aRequest(script);
    let seen = "";
    const events = await lastValueFrom(
      aRunner(engine)
        .run(request, NEVER)
        .pipe(
          tap((event) => {
            if (!messagesOf([event]).includes("ready")) return;
            void containersOf(engine, request.instanceId)
              .then(([id = ""]) => engine.calls().getContainer(id).inspect())
              .then((container) => (seen = JSON.stringify(container)));
          }),
          toArray(),
        ),
    );
    expect(messagesOf(events)).toEqual([`"prompt":"the-job-text"`, "ready"]);
    expect(seen).toContain(request.instanceId);
    expect(seen).not.toContain("the-job-text");
  });

  test("accepts a job that is larger than any buffer on its way", async () => {
    const prepare = (request: Parameters<typeof jobOf>[0], workDir: string) =>
      Promise.resolve({ ...jobOf(request, workDir), payload: "p".repeat(3_000_000) });
    const events = await eventsOf(engine, aRequest(`head -n 1 | wc -c; ${end()}`), { prepare });
    expect(Number(messagesOf(events)[0])).toBeGreaterThan(3_000_000);
  });

  test("is out of memory when the engine says so", async () => {
    const script = `node -e 'const all = []; for (;;) all.push(Buffer.alloc(1 << 20, 1))'; exit $?`;
    const exit = exitOf(await eventsOf(engine, aRequest(script)));
    expect(exit).toMatchObject({ outOfMemory: true, exitCode: 137 });
  });

  test("counts files in its folders as memory, and a full folder is only an error", async () => {
    const script = `head -c 80m /dev/zero >/tmp/full 2>/dev/null || echo full; ${end()}`;
    const events = await eventsOf(engine, aRequest(script));
    expect(messagesOf(events)).toEqual(["full"]);
    expect(exitOf(events)).toMatchObject({ exitCode: 0, outOfMemory: false });
  });

  test("ends with all its processes, even detached ones", async () => {
    const stop$ = new Subject<StopReason>();
    const request = aRequest(`env -i setsid sleep 300 & trap '' TERM; ${log("ready")}; ${forever}`);
    const run$ = aRunner(engine).run(request, stop$);
    const events = await lastValueFrom(
      run$.pipe(
        tap((event) => {
          if (event.type === "output") stop$.next("killed");
        }),
        toArray(),
      ),
    );
    expect(exitOf(events)).toMatchObject({ exitCode: 137, outOfMemory: false, rejected: null });
    expect(await containersOf(engine, request.instanceId)).toEqual([]);
  });

  test("continues after its output has ended", async () => {
    const script = `${end()}; exec >/dev/null 2>&1; sleep 0.7; exit 3`;
    const before = performance.now();
    expect(exitOf(await eventsOf(engine, aRequest(script))).exitCode).toBe(3);
    expect(performance.now() - before).toBeGreaterThan(700);
  });

  test("is rejected with the reason when its job or its image is missing", async () => {
    const why = () => Promise.reject(new Error("credential github_token is missing"));
    const noJob = exitOf(await eventsOf(engine, aRequest("true"), { prepare: why }));
    expect(noJob.rejected).toBe("credential github_token is missing");
    const images = { prepare: () => NEVER, imageFor: () => Promise.resolve("al-no-such:image") };
    const noImage = exitOf(await eventsOf(engine, aRequest("true"), { images }));
    expect(noImage.rejected).toMatch(/no such image/i);
  });

  test("has one exit even when its record can't be removed", async () => {
    const remove = () => Promise.reject(new Error("EROFS"));
    const warned = once(process, "warning") as Promise<[Error]>;
    const events = await eventsOf(engine, aRequest(end()), {
      records: { ...memoryRecords(), remove },
    });
    expect(exitOf(events)).toMatchObject({ exitCode: 0, error: null });
    expect((await warned)[0].message).toMatch(/EROFS/);
  });
});
