import { rm } from "node:fs/promises";
import { containerProject } from "../../../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testEngine } from "../../../helpers/docker.ts";
import { forAll, type LiveProject } from "../../../helpers/live-project.ts";
import { addScripted, bash } from "../../../helpers/scripted-agents.ts";
import { resultsOf, tries } from "./attack.ts";

const { engine, missing } = await testEngine();
const hostCanary = "canary-of-the-host-7d21";
const othersSecret = "canary-of-another-agent-93ab";

/** Asks the scheduler by the address that the host has on the containers' bridge. */
const ask = (path: string, more = "") =>
  `curl -s -m 3 -o /tmp/answer -w '%{http_code}' ${more} http://$HOST:$PORT${path}; echo; cat /tmp/answer 2>/dev/null`;
const channel = (path: string) =>
  `curl -s -m 3 --unix-socket /run/al/channel.sock -X POST -H 'content-type: application/json' -d '{}' -w '%{http_code}' http://x${path}`;
const asLocalhost = "-X POST -H 'Host: localhost'";
const guess = `${asLocalhost} -H 'content-type: application/json' -d '{"key":"guess"}'`;

/** Commands, and what they print at most. */
const attacks: Readonly<Record<string, readonly [command: string, said: RegExp]>> = {
  "control-api": [ask("/control/status"), /^403\n/],
  "control-api-as-localhost": [ask("/control/status", "-H 'Host: localhost'"), /^401\n/],
  "control-stop": [ask("/control/stop", asLocalhost), /^401\n/],
  "dashboard-login": [ask("/login", guess), /^401\n/],
  "channel-control": [channel("/control/status"), /40[14]$/],
  "channel-climb": [channel("/run/../control/stop"), /40[14]$/],
  "channel-no-token": [channel("/run/lock"), /401$/],
  // The one by which its own commands reach its own harness.
  sockets: ["find / -type s -not -path '/proc/*' 2>/dev/null", /^\/workspace\/\.al\/run\.sock\n$/],
  "other-channels": ["ls -A /run/al/.. /tmp/al-channels-0 /tmp/al-runs; ls /run/al", /^/],
  "docker-port": ["curl -s -m 3 http://$HOST:2375/info", /^$/],
  "api-key": ["find / -name '*api_key*' -not -path '/proc/*' 2>/dev/null", /^$/],
  credentials: [
    "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline $HOME/.almanac/*/*/* /workspace/.credentials/*/* 2>/dev/null",
    /^/,
  ],
  "host-files": ["cat /root/.ssh/id_* /host/* /mnt/* /work/* /etc/shadow 2>/dev/null", /^$/],
  "trace-init": ["head -c1 /proc/1/mem || cat /proc/1/root/etc/shadow", /denied|not permitted/],
};

/** The host's address on the bridge, as the container's own routes have it. */
const findHost = `node -p 'require("fs").readFileSync("/proc/net/route", "utf8").split("\\n").map((line) => line.split("\\t")).find((parts) => parts[1] === "00000000")[2].match(/../g).reverse().map((part) => parseInt(part, 16)).join(".")'`;

describe.skipIf(missing !== null)(
  "an agent in a container that follows an attacker's instructions",
  () => {
    let project: LiveProject;
    forAll(async () => {
      await defaultTestImage(engine);
      project = await containerProject(engine);
      for (const name of ["boxed", "beside"])
        await rm(project.path(`agents/${name}`), { recursive: true });
      await project.edit("config.toml", 'memory = "1g"', 'memory = "512m"\nnetwork = "bridge"');
      await project.append("config.toml", '\n[gateway]\nhost = "0.0.0.0"\n');
      await project.store("victims", { token: othersSecret });
      await project.write("../canary", hostCanary, 0o644);
      const credentials = ["victims"];
      await addScripted(project, "victim", { turns: bash("sleep 600"), config: "", credentials });
      await project.start();
    }, engineSetupMs);

    const outcomeOf = async (agent: string) => (await project.latest(agent))?.outcome;

    test(
      "reaches nothing of the scheduler's, the host's or another run's",
      { timeout: engineSetupMs },
      async () => {
        const { url, apiKey, waitForOutput } = project.scheduler;
        const where = `export HOST=$(${findHost}) PORT=${new URL(url).port}\n`;
        const commands = Object.entries(attacks).map(([name, [command]]) => [name, command]);
        const script = where + tries(Object.fromEntries(commands) as Record<string, string>);
        await addScripted(project, "attacker", { turns: bash(script), config: "" });
        await waitForOutput(/attacker loaded/);
        await project.trigger("victim");
        const { stdout } = await project.al("run", "attacker");
        expect(await outcomeOf("victim")).toBeNull();
        await project.print("kill", "victim");
        const results = await resultsOf(project, "attacker");
        expect(Object.keys(results), stdout).toEqual(Object.keys(attacks));
        const secrets = [hostCanary, othersSecret, apiKey, "root:x:0:0:root:", '"agents"'];
        for (const [name, [, expected]] of Object.entries(attacks)) {
          const said = results[name]?.said ?? "nothing";
          expect(said, name).toMatch(expected);
          for (const text of secrets) expect(said, name).not.toContain(text);
        }
      },
    );
  },
);
