import { chmod, stat } from "node:fs/promises";
import { tempUser, whyNoOsUsers, type OsUser } from "../../../helpers/os-users.ts";
import { forAll, LiveProject } from "../../../helpers/live-project.ts";
import type { TestScheduler } from "../../../helpers/scheduler.ts";
import { injectedAgent, resultsOf, tries } from "./attack.ts";

const missing = whyNoOsUsers();
if (missing !== null) process.stderr.write(`skipped: hostile agents as OS users (${missing})\n`);
const othersSecret = "canary-of-another-agent-5b1e";

const sockets =
  "$(grep -o '/tmp/al-runs/.*channel.sock\\|/.*operator.*sock' /proc/net/unix | sort -u)";
const attacks = {
  key: "cat $ALHOME/credentials/gateway_api_key/default/key",
  secrets: "cat $ALHOME/credentials/*/*/* $ALHOME/* || ls $ALHOME",
  state: "cat $PROJECT/.al/*.db* $PROJECT/.al/logs/* $PROJECT/.al/run/* || ls $PROJECT/.al",
  "change-project":
    "touch $PROJECT/x || echo x >>$PROJECT/config.toml || mkdir $PROJECT/agents/mine",
  "list-runs": "ls /tmp/al-runs",
  "read-runs":
    "cat /tmp/al-runs/*.log /tmp/al-runs/$VICTIM.log || cat /tmp/al-runs/$VICTIM/.credentials/*/*",
  "enter-run": "cd /tmp/al-runs/$VICTIM && ls",
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
    let scheduler: TestScheduler;
    forAll(async () => {
      [attacker, victim] = [await tempUser(), await tempUser()];
      project = await LiveProject.copy("examples/hello");
      // As careless as a person may be: only what the scheduler made itself is closed.
      await chmod(project.path(".."), 0o755);
      await project.store("victims/default/token", othersSecret);
      const asUser = (user: OsUser) => `[runtime]\ntype = "host-user"\nrun_as = "${user.name}"\n`;
      await injectedAgent(
        project,
        "victim",
        "sleep 60",
        `credentials = ["victims"]\n${asUser(victim)}`,
      );
      scheduler = await project.start();
      await injectedAgent(project, "attacker", "true", `credentials = []\n${asUser(attacker)}`);
    });
    afterAll(async () => {
      await scheduler.stop();
      for (const user of [attacker, victim]) await user?.remove();
    });

    const lastOf = (agent: string) => project.latest(agent);

    test("reaches no key, state, other run or privilege", { timeout: 120_000 }, async () => {
      await project.trigger("victim");
      await expect.poll(async () => (await lastOf("victim"))?.startedAt).toBeTypeOf("string");
      const victimId = (await lastOf("victim"))?.instanceId ?? "";
      const known = {
        PROJECT: project.dir,
        ALHOME: project.home,
        PORT: new URL(scheduler.url).port,
        VICTIM: victimId,
        SCHEDULER: scheduler.pid,
        VICTIMPID: scheduler.pid,
        VICTIMUSER: victim?.name,
      };
      const told = Object.entries(known)
        .map(([name, value]) => `export ${name}=${String(value)}\n`)
        .join("");
      const tool = `[[turns.tools]]\nname = "bash"\narguments = { command = ${JSON.stringify(told + tries(attacks))} }`;
      await project.write(
        "attacker.script.toml",
        `[[turns]]\n${tool}\n\n[[turns]]\ntext = "did it"\n`,
      );
      const { stdout, stderr } = await project.al("run", "attacker");
      expect(await lastOf("victim")).toMatchObject({ outcome: null });
      await project.print("kill", "victim");

      const results = await resultsOf(project, "attacker");
      expect(Object.keys(results), stdout + stderr).toEqual(Object.keys(attacks));
      for (const [name, { said }] of Object.entries(results)) {
        expect(said, name).not.toContain(othersSecret);
        expect(said, name).not.toContain(scheduler.apiKey);
        expect(said, name).not.toContain('"agents"');
      }
      const { "channels-of-all": channels, ...failing } = results;
      expect(
        Object.entries(failing)
          .filter(([, { code }]) => code === 0)
          .map(([name]) => name),
      ).toEqual([]);
      expect(channels?.said).toMatch(/401/);
      expect(channels?.said).not.toMatch(/[235]\d\d /);
      expect((await stat("/tmp/al-runs")).mode & 0o7777).toBe(0o1733);
    });
  },
);
