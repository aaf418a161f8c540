import type { AgentImages } from "../../../../src/runtime/runners/container/images.ts";
import { aJob } from "../../harness/jobs.ts";
import { hostDir } from "../../harness/model-host.ts";
import { defaultTestImage, engineSetupMs, testEngine } from "../../../helpers/docker.ts";
import { networkAccessTests } from "../network-access.ts";
import type { RunJob } from "../git-access.ts";
import { aRequest, eventsOf } from "./support.ts";

const { engine, missing } = await testEngine();

describe.skipIf(missing !== null)("a container without a network", () => {
  let images: AgentImages;
  beforeAll(async () => {
    images = await defaultTestImage(engine);
  }, engineSetupMs);

  const run: RunJob = (job) => {
    const request = aRequest("dev");
    const { instanceId } = request;
    return eventsOf(engine, request, {
      images,
      local: () => ({ memory: "512m", cpus: 2, network: "none" }),
      prepare: (_request, workDir) => {
        const made = aJob(workDir, { ...job, instanceId });
        const token = made.channel?.token ?? "";
        return Promise.resolve({ ...made, channel: { socket: "/run/al/run.sock", token } });
      },
      controlDir: () => hostDir,
      command: () => ({ file: "/usr/local/bin/al", args: ["_run-agent", "dev"] }),
      graceMs: 5000,
    });
  };
  networkAccessTests("container", "node", () => run);
});
