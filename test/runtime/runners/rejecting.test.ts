import { lastValueFrom, NEVER, of, toArray } from "rxjs";
import { describe, expect, it } from "vitest";
import { rejectingRunner, runnerFor } from "../../../src/runtime/runners/rejecting.ts";
import { exitOf } from "../../foundation/contracts/runner.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { anExit } from "../../helpers/fake-runner.ts";

const aRequest = (type: "container" | "host-user") => ({
  instanceId: "dev-1",
  agent: anAgent("dev", { runtime: { type, runAs: "$USER" } }),
  item: anItem("1"),
});

describe("the runner of all runtimes", () => {
  it("sends each run to its agent's runtime, and says why one is not to be had", async () => {
    const runner = runnerFor({
      container: rejectingRunner("no engine here"),
      cluster: rejectingRunner("no cluster here"),
      "host-user": { run: () => of(anExit()) },
    });
    const exit = async (type: "container" | "host-user") =>
      exitOf(await lastValueFrom(runner.run(aRequest(type), NEVER).pipe(toArray())));
    expect((await exit("container")).rejected).toBe("no engine here");
    expect((await exit("host-user")).rejected).toBeNull();
  });
});
