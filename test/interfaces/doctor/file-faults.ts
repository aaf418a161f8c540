import { mkdtempSync, renameSync, symlinkSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { edits, editThere } from "./fault.ts";
import type { Fault, TheWard } from "./fault.ts";
import { runInContainer, writeState } from "./support.ts";
import type { Closing } from "./support.ts";

const skill = "agents/dev/SKILL.md";
const dockerfile = "agents/dev/Dockerfile";

/** Faults in SKILL.md, in Dockerfiles, and in what a scheduler left. */
export const fileFaults = (ward: TheWard, close: Closing): readonly Fault[] => [
  {
    name: "front matter that is no YAML",
    seed: () => ward().write(skill, "---\nname: a: b\n---\nDo it.\n"),
    repair: (finding) => editThere(ward, finding, "name: a: b", 'name: "a: b"'),
    severity: "error",
    says: /front matter is not valid YAML: /,
    fix: /^edit agents\/dev\/SKILL\.md:2:\d+$/,
  },
  {
    name: "front matter that would be run",
    seed: () => ward().write(skill, "---js\n{ name: process.exit(3) }\n---\nDo it.\n"),
    repair: (finding) => {
      editThere(ward, finding, "---js", "---");
      ward().edit(skill, "{ name: process.exit(3) }", "name: dev");
    },
    severity: "error",
    says: /front matter begins with "---js"; expected a bare "---" before YAML/,
    fix: /^edit agents\/dev\/SKILL\.md:1:1$/,
  },
  {
    name: "a skill for another version",
    seed: () => ward().write(skill, '---\nname: dev\ncompatibility: ">=99"\n---\nDo it.\n'),
    repair: (finding) => editThere(ward, finding, ">=99", ">=0.1"),
    severity: "error",
    says: /compatible with ">=99", and this is version \d/,
    fix: /^edit agents\/dev\/SKILL\.md:3:1$/,
  },
  ...dockerfileFaults(ward, close),
  {
    name: "what a dead scheduler left",
    seed: () => {
      const folder = mkdtempSync(join(tmpdir(), "al-"));
      const info = { pid: spawnSync("true").pid, startedAt: new Date().toISOString() };
      const socketPath = join(folder, "operator.sock");
      writeState(ward(), "run/scheduler.json", JSON.stringify({ ...info, socketPath }));
    },
    severity: "warning",
    says: /the scheduler with pid \d+, since .+, ended without a stop/,
    fix: /^rm -rf \/\S+ \/\S+\/\.al\/run\/scheduler\.json$/,
  },
];

function dockerfileFaults(ward: TheWard, close: Closing): readonly Fault[] {
  const inContainer = (text: string, answers = {}) => {
    ward().write(dockerfile, text);
    return runInContainer(ward(), close, answers);
  };
  const right = "FROM al-agent:latest\nRUN true \\\n # more\n && true\nCOPY SKILL.* /\n";
  return [
    {
      name: "a Dockerfile with an unknown instruction",
      seed: () => inContainer(right.replace("COPY", "CPOY")),
      repair: edits(ward, "COPY", "CPOY").repair,
      severity: "error",
      says: /"CPOY" is not a Dockerfile instruction; did you mean "COPY"/,
      fix: /^edit agents\/dev\/Dockerfile:5:1$/,
    },
    {
      name: "a Dockerfile without a base",
      seed: () => inContainer(right.replace("FROM al-agent:latest\n", "")),
      repair: (finding) => editThere(ward, finding, "RUN", "FROM al-agent:latest\nRUN"),
      severity: "error",
      says: /begins with FROM al-agent:latest/,
      fix: /^edit agents\/dev\/Dockerfile:1:1$/,
    },
    {
      name: "a Dockerfile on an image without al",
      seed: () =>
        inContainer(right.replace("al-agent:latest", "debian:12"), {
          "/images/debian:12/json": { Id: "sha256:2", Config: { Labels: null } },
        }),
      repair: (finding) => editThere(ward, finding, "debian:12", "al-agent:latest"),
      severity: "error",
      says: /debian:12 is not built on al-agent:latest/,
      fix: /^edit agents\/dev\/Dockerfile:1:1$/,
    },
    {
      name: "a Dockerfile on an image of another project",
      seed: () => {
        const labels = { "al.version": "0.1.0", "al.project": "0123456789abcdef" };
        return inContainer(right.replace("al-agent:latest", "theirs:1"), {
          "/images/theirs:1/json": { Id: "sha256:3", Config: { Labels: labels } },
        });
      },
      repair: (finding) => editThere(ward, finding, "theirs:1", "al-agent:latest"),
      severity: "warning",
      says: /theirs:1 was built for an agent of another project/,
      fix: /^edit agents\/dev\/Dockerfile:1:1$/,
    },
    {
      name: "a Dockerfile that copies what is not there",
      seed: () => inContainer(right.replace("SKILL.*", "tols/")),
      repair: (finding) => editThere(ward, finding, "COPY tols/ /", ""),
      severity: "error",
      says: /there is no tols\/ to copy/,
      fix: /^edit agents\/dev\/Dockerfile:5:1$/,
    },
    {
      name: "a Dockerfile by another name",
      seed: async () => {
        await inContainer(right);
        const path = join(ward().dir, dockerfile);
        renameSync(path, `${path}.txt`);
      },
      severity: "warning",
      says: /this is not used/,
      fix: /^mv \S+\/Dockerfile\.txt \S+\/Dockerfile$/,
    },
    {
      name: "a Dockerfile that leads nowhere",
      seed: () => {
        symlinkSync("gone", join(ward().dir, dockerfile));
        return runInContainer(ward(), close, {});
      },
      severity: "error",
      says: /this link leads nowhere/,
      fix: /^rm .+\/Dockerfile$/,
    },
  ];
}
