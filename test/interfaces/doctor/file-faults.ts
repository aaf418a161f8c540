import { mkdtempSync, renameSync, symlinkSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { editThere, error, warning, type Fault } from "./fault.ts";
import { ofAnotherProject, runInContainer, writeState, ward } from "./support.ts";

const file = "agents/dev/Dockerfile";
const path = () => join(ward.dir, file);
const right = "FROM al-agent:latest\nRUN true \\\n # more\n && true\nCOPY SKILL.* /\n";

/** A Dockerfile with another text in place of `from`, which a person edits back. */
function dockerfile(from: string, to: string, answers = {}) {
  return {
    seed: () => {
      ward.write(file, right.replace(from, to));
      return runInContainer(answers);
    },
    repair: (finding: Parameters<typeof editThere>[0]) => editThere(finding, to, from),
  };
}
const here = /^edit agents\/dev\/Dockerfile:1:1$/;

/** Faults in Dockerfiles, and in what a scheduler left. */
export const fileFaults: readonly Fault[] = [
  error("begins with FROM al-agent:latest", here, dockerfile("FROM al-agent:latest\nRUN", "RUN")),
  error(
    "debian:12 is not built on al-agent:latest",
    here,
    dockerfile("al-agent:latest", "debian:12", {
      "/images/debian:12/json": { Id: "sha256:2", Config: { Labels: null } },
    }),
  ),
  warning(
    "theirs:1 was built for an agent of another project",
    here,
    dockerfile("al-agent:latest", "theirs:1", ofAnotherProject),
  ),
  warning("this is not used", /^mv \S+\/Dockerfile\.txt \S+\/Dockerfile$/, async () => {
    await dockerfile("", "").seed();
    renameSync(path(), `${path()}.txt`);
  }),
  error("this link leads nowhere", /^rm .+\/Dockerfile$/, () => {
    symlinkSync("gone", path());
    return runInContainer();
  }),
  warning(
    /the scheduler with pid \d+, since .+, ended without a stop/,
    /^rm -rf \/\S+ \/\S+\/\.al\/run\/scheduler\.json$/,
    () => {
      const folder = mkdtempSync(join(tmpdir(), "al-"));
      const info = { pid: spawnSync("true").pid, startedAt: new Date().toISOString() };
      const socketPath = join(folder, "operator.sock");
      writeState("run/scheduler.json", JSON.stringify({ ...info, socketPath }));
    },
  ),
];
