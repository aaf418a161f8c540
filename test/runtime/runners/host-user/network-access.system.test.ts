import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { lastValueFrom, NEVER, toArray } from "rxjs";
import { aJob } from "../../harness/jobs.ts";
import { builtAl } from "../../../helpers/scheduler.ts";
import { networkAccessTests } from "../network-access.ts";
import type { RunJob } from "../git-access.ts";
import { whyNoNetwork } from "./network-namespaces.ts";
import { aRequest, aRunner } from "./support.ts";

const missing = whyNoNetwork();
if (missing !== null) process.stderr.write(`skipped: closed networks of host users (${missing})\n`);

const root = mkdtempSync(join(tmpdir(), "al-access-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const run: RunJob = async (job) => {
  const request = aRequest("dev");
  const { instanceId } = request;
  const runner = aRunner(join(root, "runs"), {
    prepare: (_request, workDir) => Promise.resolve(aJob(workDir, { ...job, instanceId })),
    program: () => ({ file: process.execPath, args: [builtAl, "_run-agent"] }),
    network: () => "closed",
    env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ""}` },
    graceMs: 3000,
  });
  return lastValueFrom(runner.run(request, NEVER).pipe(toArray()));
};

describe.skipIf(missing !== null)("a run of a host user with a closed network", () => {
  networkAccessTests("host user", process.execPath, () => run);
});
