import type { StopReason } from "../../../streams/outcomes.ts";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { firstValueFrom, lastValueFrom, NEVER, Subject, toArray, type Observable } from "rxjs";
import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import type { LogEntry, RunRequest } from "../../../streams/vocabulary.ts";
import type { Adopter } from "../../../src/runtime/runners/adopt-runs.ts";
import { collected, entriesOf, exitOf, messagesOf, whenReady } from "./contract.ts";
import { eventsOf } from "./host-user/remote-runner.ts";
import { aRequest, end, log } from "./shell-runs.ts";

export interface AdoptionHarness {
  /** Names the OS user. */
  readonly config?: Parameters<typeof aRequest>[1];
  /** Starts a run under a scheduler that is killed as soon as it has logged `ready`. Resolves to its log until then. */
  leave(request: RunRequest): Promise<readonly LogEntry[]>;
  /** The next scheduler. */
  readonly next: Pick<Adopter, "resume">;
  /** Whether the process of the run has ended. */
  hasEnded(request: RunRequest): Promise<boolean>;
  leftovers(request: RunRequest): Promise<readonly string[]>;
}

/** The log of a run until it says `ready`, when its scheduler kills itself: a process that prints the run's events. */
export async function leftBy(scheduler: ChildProcess): Promise<readonly LogEntry[]> {
  const exited = once(scheduler, "exit");
  const events = await lastValueFrom(eventsOf(() => scheduler, NEVER).pipe(toArray()));
  await exited;
  return entriesOf(events);
}

/** The promises about runs whose scheduler was killed, in every runtime of one machine. */
export function adoptionContract(harness: () => AdoptionHarness): void {
  const left = async (script: string) => {
    const request = aRequest(script, harness().config);
    const logged = await harness().leave(request);
    return { request, last: logged.at(-1) ?? null };
  };
  const resume = (
    run: { readonly request: RunRequest; readonly last: LogEntry | null },
    stop$: Observable<StopReason> = NEVER,
  ): Observable<RunnerEvent> => harness().next.resume(run, stop$);

  test.each([
    ["after its last logged line", ["raw", "two"]],
    ["from its beginning if no line was logged", ["one", "ready", "raw", "two"]],
  ])("is continued by the next scheduler %s", async (where, messages) => {
    const run = await left(
      `${log("one")}; ${log("ready")}; sleep 1; echo raw; ${log("two")}; ${end()}`,
    );
    const last = where.startsWith("after") ? run.last : null;
    const events = await collected(resume({ ...run, last }));
    expect(messagesOf(events)).toEqual(messages);
    expect(exitOf(events)).toMatchObject({ exitCode: 0, error: null, usage: { tokens: 7 } });
    expect(await harness().leftovers(run.request)).toEqual([]);
  });

  test("is reported with its real end and time if it ended before the next scheduler started", async () => {
    const before = Date.now() - 1_000;
    const run = await left(
      `${log("ready")}; sleep 0.3; echo raw; ${log("late")}; ${end("tired")}; exit 4`,
    );
    await expect.poll(() => harness().hasEnded(run.request)).toBe(true);
    const after = Date.now();
    const events = await collected(resume(run));
    expect(messagesOf(events)).toEqual(["raw", "late"]);
    const { endedAt, ...exit } = exitOf(events);
    expect(exit).toMatchObject({ exitCode: 4, error: "tired", outOfMemory: false });
    expect(endedAt).toBeGreaterThan(before);
    expect(endedAt).toBeLessThanOrEqual(after);
  });

  test("can be stopped or unsubscribed by the next scheduler", async () => {
    const [stopped, unsubscribed] = [await left("ignores-term"), await left("ignores-term")];
    const stop$ = new Subject<StopReason>();
    const all = { ...stopped, last: null };
    const events = collected(resume(all, stop$).pipe(whenReady(() => stop$.next("timed_out"))));
    expect(exitOf(await events).exitCode).not.toBe(0);
    await firstValueFrom(resume({ ...unsubscribed, last: null }));
    for (const { request } of [stopped, unsubscribed]) {
      await expect.poll(() => harness().leftovers(request)).toEqual([]);
    }
  });
}
