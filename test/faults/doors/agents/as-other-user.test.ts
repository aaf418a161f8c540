import { chmod, stat } from "node:fs/promises";
import { tempUser, whyNoOsUsers, type OsUser } from "../../../helpers/os-users.ts";
import { forAll, LiveProject } from "../../../helpers/live-project.ts";
import { addScripted, bash } from "../../../helpers/scripted-agents.ts";
import { resultsOf, tries } from "./attack.ts";
import { noteSkipped } from "../../../helpers/note-skipped.ts";

const missing = whyNoOsUsers();
noteSkipped("hostile agents as OS users", missing);
const othersSecret = "canary-of-another-agent-5b1e";

const sockets =
  "$(grep -o '/tmp/al-runs/.*channel.sock\\|/.*operator.*sock' /proc/net/unix | sort -u)";
const attacks = {
  key: "cat $ALHOME/credentials/gateway_api_key/default/key",
  secrets: "cat $ALHOME/credentials/*/*/* $ALHOME/* || ls $ALHOME",
  state: "cat $PROJECT/.al/*.db* $PROJECT/.al/logs/* $PROJECT/.al/run/* || ls $PROJECT/.al",
  "change-project":
    "touch $PROJECT/x || echo x >>$PROJECT/config.toml || mkdir $PROJECT/agents/mine",
  "enter-run": "ls /tmp/al-runs || cat /tmp/al-runs/$VICTIM.log || ls /tmp/al-runs/$VICTIM",
  "swap-run":
    "mv /tmp/al-runs/$VICTIM /tmp/al-runs/x || rm -rf /tmp/al-runs/$VICTIM || ln -sf /etc /tmp/al-runs/$VICTIM.log",
  "swap-base": "mv /tmp/al-runs /tmp/al-runs-x || rmdir /tmp/al-runs || chmod 777 /tmp/al-runs",
  processes:
    "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep 'INSTANCE=[v]ictim'",
  "kill-others": "kill -9 $SCHEDULER || kill -TERM $SCHEDULER",
  control: "curl -sf -m 3 http://127.0.0.1:$PORT/control/status -H 'Host: localhost'",
  root: "sudo -n id || su root -c id || sudo -n -u $VICTIMUSER id",
  "channels-of-all": `for one in ${sockets}; do curl -s -m 3 --unix-socket $one -X POST -H 'content-type: application/json' -H 'authorization: Bearer x' -d '{}' -w '%{http_code} ' http://x/run/lock; done`,
  "operator-socket":
    "for one in $(sed 's/.* //' /proc/net/unix | grep '^/.*sock$'); do curl -s -m 3 --unix-socket $one http://x/control/status; done | grep agents",
} as const;

describe.skipIf(missing !== null)(
  "an agent of another OS user that follows an attacker's instructions",
  () => {
    let [attacker, victim]: OsUser[] = [];
    let project: LiveProject;
    const asUser = (user?: OsUser) => `[runtime]\ntype = "host-user"\nrun_as = "${user?.name}"\n`;
    forAll(async () => {
      [attacker, victim] = [await tempUser(), await tempUser()];
      project = await LiveProject.copy("examples/hello");
      // As careless as a person may be: only what the scheduler made itself is closed.
      await chmod(project.path(".."), 0o755);
      await project.store("victims", { token: othersSecret });
      const credentials = ["victims"];
      const config = asUser(victim);
      await addScripted(project, "victim", { turns: bash("sleep 60"), credentials, config });
      await project.start();
    });
    afterAll(async () => {
      await project.scheduler.stop();
      for (const user of [attacker, victim]) await user?.remove();
    });

    test("reaches no key, state, other run or privilege", { timeout: 120_000 }, async () => {
      const { url, pid, apiKey, waitForOutput } = project.scheduler;
      const lastOf = (agent: string) => project.latest(agent);
      await project.trigger("victim");
      await expect.poll(async () => (await lastOf("victim"))?.startedAt).toBeTypeOf("string");
      const known = {
        PROJECT: project.dir,
        ALHOME: project.home,
        PORT: new URL(url).port,
        VICTIM: (await lastOf("victim"))?.instanceId,
        SCHEDULER: pid,
        VICTIMUSER: victim?.name,
      };
      const told = Object.entries(known).map(([name, value]) => `export ${name}=${value}\n`);
      const script = told.join("") + tries(attacks);
      const turns = bash(script);
      await addScripted(project, "attacker", { turns, config: asUser(attacker) });
      await waitForOutput(/attacker loaded/);
      const { stdout, stderr } = await project.al("run", "attacker");
      expect(await lastOf("victim")).toMatchObject({ outcome: null });
      await project.print("kill", "victim");

      const results = await resultsOf(project, "attacker");
      expect(Object.keys(results), stdout + stderr).toEqual(Object.keys(attacks));
      for (const [name, { said, code }] of Object.entries(results)) {
        for (const text of [othersSecret, apiKey, '"agents"'])
          expect(said, name).not.toContain(text);
        if (name !== "channels-of-all") expect(code, name).not.toBe(0);
      }
      expect(results["channels-of-all"]?.said).toMatch(/401/);
      expect(results["channels-of-all"]?.said).not.toMatch(/[235]\d\d /);
      expect((await stat("/tmp/al-runs")).mode & 0o7777).toBe(0o1733);
    });
  },
);
