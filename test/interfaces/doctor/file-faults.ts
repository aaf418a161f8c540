import { mkdtempSync, renameSync, symlinkSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { editThere, error, warning, type Fault } from "./fault.ts";
import { runInContainer, writeState, ward } from "./support.ts";

const dockerfile = "agents/dev/Dockerfile";

/** Faults in Dockerfiles, and in what a scheduler left. */
export const fileFaults: readonly Fault[] = [
  ...dockerfileFaults(),
  warning(
    "what a dead scheduler left",
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

function dockerfileFaults(): readonly Fault[] {
  const inContainer = (text: string, answers = {}) => {
    ward.write(dockerfile, text);
    return runInContainer(answers);
  };
  const right = "FROM al-agent:latest\nRUN true \\\n # more\n && true\nCOPY SKILL.* /\n";
  return [
    error(
      "a Dockerfile without a base",
      /begins with FROM al-agent:latest/,
      /^edit agents\/dev\/Dockerfile:1:1$/,
      () => inContainer(right.replace("FROM al-agent:latest\n", "")),
      (finding) => editThere(finding, "RUN", "FROM al-agent:latest\nRUN"),
    ),
    error(
      "a Dockerfile on an image without al",
      /debian:12 is not built on al-agent:latest/,
      /^edit agents\/dev\/Dockerfile:1:1$/,
      () =>
        inContainer(right.replace("al-agent:latest", "debian:12"), {
          "/images/debian:12/json": { Id: "sha256:2", Config: { Labels: null } },
        }),
      (finding) => editThere(finding, "debian:12", "al-agent:latest"),
    ),
    warning(
      "a Dockerfile on an image of another project",
      /theirs:1 was built for an agent of another project/,
      /^edit agents\/dev\/Dockerfile:1:1$/,
      () => {
        const labels = { "al.version": "0.1.0", "al.project": "0123456789abcdef" };
        return inContainer(right.replace("al-agent:latest", "theirs:1"), {
          "/images/theirs:1/json": { Id: "sha256:3", Config: { Labels: labels } },
        });
      },
      (finding) => editThere(finding, "theirs:1", "al-agent:latest"),
    ),
    warning(
      "a Dockerfile by another name",
      /this is not used/,
      /^mv \S+\/Dockerfile\.txt \S+\/Dockerfile$/,
      async () => {
        await inContainer(right);
        const path = join(ward.dir, dockerfile);
        renameSync(path, `${path}.txt`);
      },
    ),
    error(
      "a Dockerfile that leads nowhere",
      /this link leads nowhere/,
      /^rm .+\/Dockerfile$/,
      () => {
        symlinkSync("gone", join(ward.dir, dockerfile));
        return runInContainer({});
      },
    ),
  ];
}
