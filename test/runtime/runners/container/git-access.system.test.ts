import { lastValueFrom, NEVER, toArray } from "rxjs";
import type { AgentImages } from "../../../../src/runtime/runners/container/images.ts";
import { aJob } from "../../harness/jobs.ts";
import { hostDir } from "../../harness/model-host.ts";
import { defaultTestImage, engineSetupMs, testEngine } from "../../../helpers/docker.ts";
import { gitAccessTests } from "../git-access.ts";
import { aRequest, aRunner } from "./support.ts";

const { engine, missing } = await testEngine();

describe.skipIf(missing !== null)("with the default image", () => {
  let images: AgentImages;
  beforeAll(async () => {
    images = await defaultTestImage(engine);
  }, engineSetupMs);

  gitAccessTests("in a container", () => (job) => {
    const request = aRequest("dev");
    const { instanceId } = request;
    const command = ["_run-agent", "dev", "--project", "/workspace"];
    const runner = aRunner(engine, {
      images,
      local: () => ({ memory: "512m", cpus: 2, network: "host" }),
      prepare: (_request, workDir) => {
        const made = aJob(workDir, { ...job, instanceId });
        const token = made.channel?.token ?? "";
        return Promise.resolve({ ...made, channel: { socket: "/run/al/run.sock", token } });
      },
      controlDir: () => hostDir,
      command: () => ({ file: "/usr/local/bin/al", args: command }),
    });
    return lastValueFrom(runner.run(request, NEVER).pipe(toArray()));
  });
});
