import type { ContainerInspectInfo } from "dockerode";
import { firstValueFrom, filter, NEVER, switchMap } from "rxjs";
import { describe, expect, it } from "vitest";
import type { AgentConfig } from "../../../../streams/agent-config.ts";
import { messagesOf } from "../../../foundation/contracts/runner.ts";
import { testEngine } from "../../../helpers/docker.ts";
import { log } from "../shell-runs.ts";
import { aRequest, aRunner, containersOf } from "./support.ts";

const { engine, missing } = await testEngine();

/** What the engine gave a container of the agent; the project allows 128 MB, 1 processor and no network. */
function hostConfigOf(local: AgentConfig["local"]): Promise<ContainerInspectInfo["HostConfig"]> {
  const request = aRequest(`${log("ready")}; sleep 60`, { local });
  const inspected$ = aRunner(engine)
    .run(request, NEVER)
    .pipe(
      filter((event) => messagesOf([event]).includes("ready")),
      switchMap(() => containersOf(engine, request.instanceId)),
      switchMap(([id = ""]) => engine.calls().getContainer(id).inspect()),
    );
  return firstValueFrom(inspected$).then(({ HostConfig }) => HostConfig);
}

describe.skipIf(missing !== null)("the container of an agent with its own [local]", () => {
  it("has the agent's limits and network before the project's", async () => {
    const own = { memory: "64m", cpus: 0.5, network: "bridge", env: { A: "b" } };
    expect(await hostConfigOf(own)).toMatchObject({
      Memory: 64 * 1024 ** 2,
      NanoCpus: 500_000_000,
      NetworkMode: "bridge",
    });
  });

  it("has the project's where the agent says nothing", async () => {
    const own = { memory: null, cpus: 0.5, network: null, env: {} };
    expect(await hostConfigOf(own)).toMatchObject({
      Memory: 128 * 1024 ** 2,
      NanoCpus: 500_000_000,
      NetworkMode: "none",
    });
  });
});
