import { execFileSync } from "node:child_process";
import { chown, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { NEVER } from "rxjs";
import type { HostUserOptions } from "../../../../src/runtime/runners/host-user/host-user-options.ts";
import type { RunNetwork } from "../../../../streams/run-network.ts";
import type { Runner } from "../../../../streams/runs/runner.ts";
import { collected, exitOf, messagesOf } from "../contract.ts";
import { tempUser, uidOf, whyNoOsUsers } from "../../../helpers/os-users.ts";
import { aRequest, end } from "../shell-runs.ts";
import { whyNoNetwork } from "./network-namespaces.ts";
import { inNamespace, remoteRunner } from "./remote-runner.ts";
import { aRunner, supervisorProgram } from "./support.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { perFile, perTest } from "../../../helpers/per-test.ts";
import { like } from "../../../helpers/like.ts";
import { noteSkipped } from "../../../helpers/note-skipped.ts";

const missing = whyNoOsUsers() ?? whyNoNetwork();
noteSkipped("runs without namespaces left", missing);

describe.skipIf(missing !== null)("a host-user run that can't be isolated at the moment", () => {
  const user = perFile(tempUser, (user) => user.remove());
  const root = perTest(async () => {
    const dir = tempDir(0o755);
    await chown(dir, uidOf(user()), 0);
    return dir;
  });
  const baseDir = () => join(root(), "runs");

  const eventsOf = (runner: Runner, script = "echo began") =>
    collected(runner.run(aRequest(`${script}\n${end()}`, { timeoutSeconds: 30 }), NEVER));
  /** The report of a run of an unprivileged scheduler; `prelude` has the capabilities of a user namespace around both. */
  const within = (prelude: string, network: RunNetwork, script?: string) =>
    eventsOf(
      remoteRunner(user(), baseDir(), { network, within: inNamespace(user(), prelude) }),
      script,
    );
  const ownRunner = (runAgent: HostUserOptions["runAgent"]) =>
    aRunner(baseDir(), { network: () => "closed-if-possible", runAgent });
  /** One namespace of this kind may be made, and a process has it. */
  const usedUp = (kind: string) => `
    echo 1 > /proc/sys/user/max_${kind}_namespaces
    unshare --${kind} --fork sh -c 'touch ${root()}/held; while [ -e ${root()}/held ]; do sleep 0.1; done' > /dev/null 2>&1 &
    until [ -e ${root()}/held ]; do sleep 0.01; done`;
  const blocked = (reason: RegExp) => ({
    exitCode: null,
    blocked: true,
    rejected: like(reason),
  });

  const some = [
    ["closed-if-possible", "net"],
    ["closed", "user"],
    ["open", "pid"],
  ] as const;
  test.each(some)(
    "waits, if its network is %s, while all %s namespaces are used",
    async (network, kind) => {
      const events = await within(usedUp(kind), network);
      expect(exitOf(events)).toMatchObject(blocked(/isolated.*No space left on device/));
      expect(messagesOf(events)).toEqual([]);
    },
  );

  test("waits while the machine is too slow to answer", async () => {
    const sleeper = join(root(), "unshare");
    await writeFile(sleeper, "#!/bin/sh\nexec sleep 20\n", { mode: 0o755 });
    const slow = `mount --bind ${sleeper} "$(command -v unshare)"`;
    const events = await within(slow, "closed-if-possible");
    expect(exitOf(events)).toMatchObject(blocked(/no answer within 5 s/));
  });

  const entry = fileURLToPath(new URL("no-descriptors-entry.ts", import.meta.url));
  const few = ["-c", 'ulimit -n 200; exec "$@"', "sh", process.execPath, entry];

  test("gets no secrets if the scheduler has no free file descriptors", () => {
    const answers = execFileSync("/bin/sh", [...few, "probe"], { encoding: "utf8" });
    expect(JSON.parse(answers)).toEqual([null, null]);
  });

  test("waits while its supervisor has no free file descriptors", async () => {
    const runner = ownRunner(() => ({ file: "/bin/sh", args: few }));
    expect(exitOf(await eventsOf(runner))).toMatchObject(blocked(/EMFILE/));
  });

  test("waits if the kernel rejects an isolation that worked for an earlier run of the user", async () => {
    let prelude = "";
    const runner = ownRunner((agent) => {
      const { file, args } = supervisorProgram(agent);
      const shell = ["sh", "-c", `${prelude}\nexec "$@"`, "sh", file, ...args];
      return { file: "unshare", args: ["--user", "--map-root-user", ...shell] };
    });
    expect(exitOf(await eventsOf(runner))).toMatchObject({ exitCode: 0 });
    prelude = "echo 0 > /proc/sys/user/max_net_namespaces";
    expect(exitOf(await eventsOf(runner))).toMatchObject(blocked(/unlike for earlier/));
  });

  test.each(["closed", "open"] as const)(
    "is never caused by another run, whose namespaces are limited (network: %s)",
    async (network) => {
      const many = "for n in $(seq 80); do unshare --user sleep 2 & done 2>&1 | grep -c 'No space'";
      const [refused] = messagesOf(await within("true", network, many));
      expect(Number(refused)).toBeGreaterThanOrEqual(80 - 64);
    },
  );
});
