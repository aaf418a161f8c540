import { hostGateway } from "../../harness/model-host.ts";
import { noEgress } from "../../run-api/no-egress.ts";
import { execFileSync } from "node:child_process";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lastValueFrom, NEVER, toArray } from "rxjs";
import { createRedactor } from "../../../../src/foundation/credentials/redactor.ts";
import { createRunSockets } from "../../../../src/runtime/run-api/run-sockets.ts";
import { exitOf, messagesOf } from "../contract.ts";
import { aJob, aScripted } from "../../harness/jobs.ts";
import { fakeAbilities } from "../../../helpers/fake-abilities.ts";
import { asUser, tempUser, whyNoOsUsers, type OsUser } from "../../../helpers/os-users.ts";
import { builtAl } from "../../../helpers/scheduler.ts";
import { openSocket, socketRecords, type SocketOfRun } from "../../run-api/support.ts";
import { aRequest, aRunner } from "./support.ts";

const missing = whyNoOsUsers();

describe.skipIf(missing !== null)("the socket of a run as another OS user", () => {
  let agentUser: OsUser;
  let root: string;
  beforeAll(async () => {
    agentUser = await tempUser();
    root = await mkdtemp(join(tmpdir(), "al-ou-"));
    await chmod(root, 0o755);
  });
  afterAll(async () => {
    await agentUser.remove();
    await rm(root, { recursive: true, force: true });
  });

  test("serves its agent's tools and commands, and hides its path", async () => {
    const baseDir = join(root, "runs");
    const abilities = fakeAbilities();
    const sockets = createRunSockets({
      records: socketRecords(),
      redactor: createRedactor(),
      onProblem: () => undefined,
    });
    sockets.serve({ runApi: abilities, models: hostGateway, egress: noEgress });
    let channel: SocketOfRun | undefined;
    const found: string[] = [];
    const looks = "id -un; rlock demo:x; al-return 7; ls -ld .al/run.sock | cut -c1-10";
    const turns = [
      { tools: [{ name: "al_unlock", arguments: { resource: "demo:x" } }] },
      { tools: [{ name: "bash", arguments: { command: looks } }] },
      { text: "Done." },
    ];
    const request = aRequest("dev", { runtime: { type: "host-user", runAs: agentUser.name } });
    const runner = aRunner(baseDir, {
      program: () => ({ file: process.execPath, args: [builtAl, "_run-agent"] }),
      prepare: async ({ instanceId }, workDir) => {
        channel = await openSocket({ sockets, base: baseDir }, instanceId);
        found.push(listedBy(agentUser, baseDir));
        return aJob(workDir, { instanceId, models: [aScripted(turns)], channel });
      },
    });
    const events = await lastValueFrom(runner.run(request, NEVER).pipe(toArray()));
    await sockets.close();
    expect(messagesOf(events)).toContain("Done.");
    expect(exitOf(events)).toMatchObject({ exitCode: 0, value: 7 });
    expect(abilities.asked).toMatchObject([
      { ability: "unlock", instanceId: request.instanceId },
      { ability: "lock", instanceId: request.instanceId },
    ]);
    const text = JSON.stringify(events);
    expect(text).toContain(`${agentUser.name}\\n`);
    expect(text).toContain("srw-------");
    expect(text).not.toContain(channel?.token);
    expect(found).toEqual(["not listed"]);
  });
});

function listedBy(user: OsUser, dir: string): string {
  try {
    return execFileSync("setpriv", asUser(user, "ls", dir), { encoding: "utf8", stdio: "pipe" });
  } catch {
    return "not listed";
  }
}
