import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { exitOf, messagesOf } from "../contract.ts";
import { aRequest } from "../shell-runs.ts";
import { aJob, aScripted } from "../../harness/jobs.ts";
import { asUser, tempUser, whyNoOsUsers } from "../../../helpers/os-users.ts";
import { perFile, perTest } from "../../../helpers/per-test.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { openSocket, socketSide, type SocketOfRun } from "../../run-api/support.ts";
import { agentEvents } from "./agent-events.ts";

describe.skipIf(whyNoOsUsers() !== null)("the socket of a run as another OS user", () => {
  const user = perFile(tempUser, (user) => user.remove());
  const side = perTest(socketSide, (side) => side.remove());

  test("serves its agent's tools and commands, and hides its path", async () => {
    const baseDir = join(tempDir(0o755), "runs");
    const { name } = user();
    const request = aRequest("dev", { runtime: { type: "host-user", runAs: name } });
    const { instanceId } = request;
    let channel: SocketOfRun | undefined;
    const looks = "id -un; rlock demo:x; al-return 7; ls -ld .al/run.sock | cut -c1-10";
    const turns = [
      { tools: [{ name: "al_unlock", arguments: { resource: "demo:x" } }] },
      { tools: [{ name: "bash", arguments: { command: looks } }] },
      { text: "Done." },
    ];
    const prepare = async (_request: unknown, workDir: string) => {
      channel = await openSocket(side(), instanceId, baseDir);
      const list = () => execFileSync("setpriv", asUser(user(), "ls", baseDir), { stdio: "pipe" });
      expect(list).toThrow("Permission denied");
      return aJob(workDir, { instanceId, models: [aScripted(turns)], channel });
    };
    const events = await agentEvents(baseDir, {}, { prepare }, request);
    expect(messagesOf(events)).toContain("Done.");
    expect(exitOf(events)).toMatchObject({ exitCode: 0, value: 7 });
    expect(side().abilities.asked).toMatchObject([
      { ability: "unlock", instanceId },
      { ability: "lock", instanceId },
    ]);
    const text = JSON.stringify(events);
    expect(text).toContain(`${name}\\n`);
    expect(text).toContain("srw-------");
    expect(text).not.toContain(channel?.token);
  });
});
