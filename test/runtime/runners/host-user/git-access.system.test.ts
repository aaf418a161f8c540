import { join } from "node:path";
import { lastValueFrom, NEVER, toArray } from "rxjs";
import { aJob } from "../../harness/jobs.ts";
import { builtAl } from "../../../helpers/scheduler.ts";
import { gitAccessTests } from "../git-access.ts";
import { aRequest, aRunner } from "./support.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { perTest } from "../../../helpers/per-test.ts";

const root = perTest(tempDir);

gitAccessTests("as a host user", () => (job) => {
  const request = aRequest("dev");
  const { instanceId } = request;
  const runner = aRunner(join(root(), "runs"), {
    prepare: (_request, workDir) => Promise.resolve(aJob(workDir, { ...job, instanceId })),
    program: () => ({ file: process.execPath, args: [builtAl, "_run-agent"] }),
  });
  return lastValueFrom(runner.run(request, NEVER).pipe(toArray()));
});
