import { utimesSync } from "node:fs";
import { join } from "node:path";
import { agentConfig, runLast } from "./fault.ts";
import type { Fault, TheWard } from "./fault.ts";
import { runInCluster, runInContainer, swarmNodes, takePort, writeState } from "./support.ts";
import type { Closing } from "./support.ts";

const reachable = 'address = "10.0.0.5:8443"';
const toRegistry = 'registry = "registry.example.com/team"';

/** Faults of the machine that the project is on. */
export const machineFaults = (ward: TheWard, close: Closing): readonly Fault[] => [
  {
    name: "a port that another program has",
    seed: () => takePort(ward(), close),
    severity: "error",
    says: /^port \d+ of 127\.0\.0\.1 is taken by another program$/,
    fix: /^al config --set gateway\.port=\d+ -p /,
  },
  {
    name: "an address that is not this machine's",
    seed: () => ward().edit("config.toml", "port = 0", 'port = 0\nhost = "192.0.2.1"'),
    severity: "error",
    says: /can't listen at 192\.0\.2\.1/,
    fix: /^al config --set gateway\.host=127\.0\.0\.1/,
  },
  {
    name: "AL_DASHBOARD_SECRET",
    seed: () => (ward().env.AL_DASHBOARD_SECRET = "old"),
    repair: () => Reflect.deleteProperty(ward().env, "AL_DASHBOARD_SECRET"),
    severity: "warning",
    says: /no longer used/,
    fix: /^unset AL_DASHBOARD_SECRET$/,
  },
  {
    name: "a TZ that is none",
    seed: () => (ward().env.TZ = "Berlin"),
    repair: () => (ward().env.TZ = "Europe/Berlin"),
    severity: "warning",
    says: /TZ is "Berlin", which is no IANA time zone/,
    fix: /^export TZ=/,
  },
  {
    name: "a clock that went back",
    seed: () => {
      writeState(ward(), "logs/dev-2030-01-01.log", "");
      const later = Date.now() / 1000 + 86_400;
      utimesSync(join(ward().dir, ".al/logs/dev-2030-01-01.log"), later, later);
    },
    severity: "warning",
    says: /the clock went back/,
    fix: /touch /,
    repair: (finding) => runLast(ward, finding),
  },
  {
    name: "a damaged database",
    seed: () => writeState(ward(), "state.db", "this was a database once ".repeat(100)),
    severity: "error",
    says: /the database is damaged/,
    fix: /^mv /,
  },
  {
    name: "no engine for an agent in a container",
    seed: () => ward().edit(agentConfig, '"host-user"\nrun_as = "$USER"', '"container"'),
    severity: "error",
    says: /no container engine answers at unix:/,
    fix: /start the engine.+or set type = "host-user"/,
    repair: () =>
      ward().bash("al config dev --set runtime.type=host-user --set runtime.run_as='$USER'"),
  },
  {
    name: "another machine's engine for an agent in a container",
    seed: () => {
      ward().edit(agentConfig, '"host-user"\nrun_as = "$USER"', '"container"');
      ward().env.DOCKER_HOST = "tcp://10.0.0.9:2376";
    },
    severity: "error",
    says: /DOCKER_HOST is tcp:\/\/10\.0\.0\.9:2376, the engine of another machine/,
    fix: /write engine = "docker".+under \[cluster\].+unset DOCKER_HOST/,
    repair: () => (ward().env.DOCKER_HOST = undefined),
  },
  {
    name: "an address that other machines take for themselves",
    seed: async () => {
      await runInCluster(ward(), close, `address = "127.0.0.1:8443"\n${toRegistry}`);
    },
    severity: "error",
    says: /no other machine reaches this scheduler at 127\.0\.0\.1:8443/,
    fix: /^al config --set cluster\.address=/,
    repair: () => ward().bash("al config --set cluster.address=10.0.0.5:8443"),
  },
  {
    name: "an engine that is in no Swarm",
    seed: async () => {
      const lines = `${reachable}\n${toRegistry}`;
      await runInCluster(ward(), close, lines, { "/info": { NCPU: 4 } });
    },
    severity: "error",
    says: /is in no Swarm/,
    fix: /docker swarm init/,
    repair: () => ward().bash("al config --unset cluster"),
  },
  {
    name: "a base of images that the engine of the cluster does not have",
    seed: async () => {
      const lines = `${reachable}\n${toRegistry}\n[local]\nbase = "real-base:24"`;
      await runInCluster(ward(), close, lines);
    },
    severity: "error",
    says: /the image real-base:24 to build on is not on this engine/,
    fix: /^docker pull real-base:24, or build on another one: al config --unset local\.base/,
    repair: () => ward().bash("al config --unset local.base"),
  },
  {
    name: "a machine of the Swarm that is down",
    seed: async () => {
      const nodes = swarmNodes("ready", "down");
      await runInCluster(ward(), close, `${reachable}\n${toRegistry}`, { "/nodes": nodes });
    },
    severity: "warning",
    says: /the machine node-2 takes no runs: it is down/,
    fix: /docker node ls/,
    repair: () => ward().bash("al config --unset cluster"),
  },
  {
    name: "images that the machines of the Swarm can't load",
    seed: async () => {
      await runInCluster(ward(), close, reachable);
    },
    severity: "warning",
    says: /each other one must have them already/,
    fix: /^al config --set cluster\.registry=/,
    repair: () => ward().bash("al config --set cluster.registry=registry.example.com/team"),
  },
  {
    name: "a broken key of the door",
    seed: async () => {
      await runInCluster(ward(), close, `${reachable}\n${toRegistry}`);
      writeState(ward(), "door.pem", "no key");
    },
    severity: "error",
    says: /does not hold the key and the certificate of the door/,
    fix: /or remove it/,
    repair: () => ward().bash("rm .al/door.pem"),
  },
  {
    name: "an image that the engine does not have",
    seed: () => runInContainer(ward(), close, {}, '[local]\nimage = "ours:1"\n\n'),
    severity: "error",
    says: /the image ours:1 is not on this engine/,
    fix: /^docker pull ours:1, or use the default one: al config --unset local\.image/,
    repair: (finding) => runLast(ward, finding),
  },
  {
    name: "an image of another project",
    seed: () => {
      const labels = { "al.version": "0.1.0", "al.project": "0123456789abcdef" };
      const answers = { "/images/theirs:1/json": { Id: "sha256:3", Config: { Labels: labels } } };
      return runInContainer(ward(), close, answers, '[local]\nimage = "theirs:1"\n\n');
    },
    severity: "warning",
    says: /the image theirs:1 was built for an agent of another project/,
    fix: /^build one of your own FROM al-agent:latest, or use the default one: al config --unset local\.image/,
    repair: (finding) => runLast(ward, finding),
  },
  {
    name: "more processors for an agent than there are",
    seed: async () => {
      await runInContainer(ward(), close, { "/info": { NCPU: 2 } });
      await ward().bash("al config dev --set local.cpus=3");
    },
    severity: "error",
    says: /may use 3 processors, and the engine has 2/,
    fix: /^al config dev --set local\.cpus=2/,
  },
  {
    name: "a network of an agent that the engine does not have",
    seed: async () => {
      await runInContainer(ward(), close, {});
      await ward().bash("al config dev --set local.network=agents");
    },
    severity: "error",
    says: /the engine has no network agents/,
    fix: /^docker network create agents, or use the default one: al config dev --unset local\.network/,
    repair: (finding) => runLast(ward, finding),
  },
  {
    name: "more processors than there are",
    seed: () => runInContainer(ward(), close, { "/info": { NCPU: 1 } }),
    severity: "error",
    says: /may use 2 processors, and the engine has 1/,
    fix: /^al config --set local\.cpus=1/,
  },
  {
    name: "a network that the engine does not have",
    seed: () => runInContainer(ward(), close, {}, '[local]\nnetwork = "agents"\n\n'),
    severity: "error",
    says: /the engine has no network agents/,
    fix: /^docker network create agents, or use the default one: al config --unset /,
    repair: (finding) => runLast(ward, finding),
  },
];
