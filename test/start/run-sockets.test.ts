import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NEVER, of } from "rxjs";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Job } from "../../src/contracts/job.ts";
import { createRedactor } from "../../src/credentials/redactor.ts";
import type { Redactor } from "../../src/credentials/redactor.ts";
import { createRunApiClient } from "../../src/harness/run-api/client.ts";
import { createStoredRunSockets } from "../../src/start/run-sockets.ts";
import { ownBaseDir } from "../../src/runners/host-user/base-dir.ts";
import { runsDir } from "../../src/start/run-agent-program.ts";
import { openStore } from "../../src/store/store.ts";
import type { Store } from "../../src/store/store.ts";
import type { RuntimeConfig } from "../../streams/agent-config.ts";
import { anExit } from "../helpers/fake-runner.ts";
import { anAgent, anItem } from "../helpers/agents.ts";
import { fakeAbilities } from "../helpers/fake-abilities.ts";

let project: string;
let store: Store;
let redactor: Redactor;
let problems: string[];

beforeEach(async () => {
  project = await mkdtemp(join(tmpdir(), "al-rc-"));
  await ownBaseDir(runsDir, false);
  store = openStore(project);
  [redactor, problems] = [createRedactor(), []];
});
afterEach(async () => {
  store.close();
  await rm(project, { recursive: true, force: true });
});

function aScheduler() {
  const sockets = createStoredRunSockets({
    records: store.channels,
    redactor,
    onProblem: (message) => problems.push(message),
  });
  const abilities = fakeAbilities();
  sockets.serve(abilities);
  return { ...sockets, abilities };
}

function aRequest(instanceId: string, type: RuntimeConfig["type"] = "host-user") {
  const agent = anAgent("dev", { runtime: { type, runAs: "$USER" } });
  return { instanceId, agent, item: anItem("1") };
}

const unlock = (channel: Job["channel"]) =>
  createRunApiClient({ socket: "", token: "", ...channel, timeoutMs: 200 }).ask(
    "unlock",
    { resource: "x:y" },
    new AbortController().signal,
  );

it("gives each run a channel of its own, from its start to its end", async () => {
  const sockets = aScheduler();
  const request = aRequest("dev-1");
  const run = sockets.during(request, NEVER).subscribe();
  const channel = await sockets.jobSocket(request);
  const token = channel?.token ?? "";
  expect(redactor.redact(token)).toBe("[redacted]");
  expect(await unlock(channel)).toEqual({ ok: true });
  expect(store.channels.all()).toMatchObject([{ instanceId: "dev-1" }]);
  expect(JSON.stringify(store.channels.all())).not.toContain(channel?.token);
  const dir = sockets.dirOf("dev-1");
  run.unsubscribe();
  await expect.poll(() => existsSync(dir ?? "")).toBe(false);
  // It is worth nothing any more, and as many as there were runs would make looking for them slow.
  expect(redactor.redact(token)).toBe(token);
  await expect.poll(() => store.channels.all()).toEqual([]);
  await sockets.close();
});

it("takes it away when the run's events complete, also of one that was stopped while it was prepared", async () => {
  const sockets = aScheduler();
  const request = aRequest("dev-1");
  sockets.during(request, of(anExit())).subscribe();
  const channel = await sockets.jobSocket(request);
  expect(sockets.dirOf("dev-1")).toBeNull();
  expect(existsSync(channel?.socket ?? "")).toBe(false);
  await expect.poll(() => store.channels.all()).toEqual([]);
  await sockets.close();
});

it("names the place as a container sees it", async () => {
  const sockets = aScheduler();
  const request = aRequest("dev-1", "container");
  const run = sockets.during(request, NEVER).subscribe();
  const channel = await sockets.jobSocket(request);
  expect(channel?.socket).toBe("/run/al/channel.sock");
  expect(existsSync(join(sockets.dirOf("dev-1") ?? "", "channel.sock"))).toBe(true);
  run.unsubscribe();
  await sockets.close();
});

it("removes no folder but one that it made, whatever is recorded", async () => {
  await store.channels.add({ instanceId: "dev-1", tokenHash: "", dir: project });
  const sockets = aScheduler();
  await sockets.restore([]);
  expect(existsSync(project)).toBe(true);
  await expect.poll(() => store.channels.all()).toEqual([]);
  await sockets.close();
});

it("serves the runs that live on where they are used to it, and removes what is left of others", async () => {
  const first = aScheduler();
  const alive = aRequest("dev-1");
  for (const request of [alive, aRequest("dev-2")]) first.during(request, NEVER).subscribe();
  const channel = await first.jobSocket(alive);
  await first.jobSocket(aRequest("dev-2"));
  const gone = first.dirOf("dev-2") ?? "";
  await first.close();
  const second = aScheduler();
  await second.restore(["dev-1"]);
  const run = second.during(alive, NEVER).subscribe();
  // Its job is only made again for the secrets in it.
  expect(await second.jobSocket(alive)).toBeNull();
  expect(await unlock(channel)).toEqual({ ok: true });
  expect(second.abilities.asked).toMatchObject([{ instanceId: "dev-1" }]);
  expect(existsSync(gone)).toBe(false);
  await expect.poll(() => store.channels.all()).toMatchObject([{ instanceId: "dev-1" }]);
  run.unsubscribe();
  expect(problems).toEqual([]);
  await second.close();
});
