import { utimesSync } from "node:fs";
import { join } from "node:path";
import { agentConfig, runLast, error, warning, type Fault } from "./fault.ts";
import { runInCluster, runInContainer, swarmNodes, takePort, writeState, ward } from "./support.ts";

const reachable = 'address = "10.0.0.5:8443"';
const toRegistry = 'registry = "registry.example.com/team"';

/** Faults of the machine that the project is on. */
export const machineFaults: readonly Fault[] = [
  error(
    "a port that another program has",
    /^port \d+ of 127\.0\.0\.1 is taken by another program$/,
    /^al config --set gateway\.port=\d+ -p /,
    () => takePort(),
  ),
  error(
    "an address that is not this machine's",
    /can't listen at 192\.0\.2\.1/,
    /^al config --set gateway\.host=127\.0\.0\.1/,
    () => ward.edit("config.toml", "port = 0", 'port = 0\nhost = "192.0.2.1"'),
  ),
  warning(
    "AL_DASHBOARD_SECRET",
    /no longer used/,
    /^unset AL_DASHBOARD_SECRET$/,
    () => (ward.env.AL_DASHBOARD_SECRET = "old"),
    () => Reflect.deleteProperty(ward.env, "AL_DASHBOARD_SECRET"),
  ),
  warning(
    "a TZ that is none",
    /TZ is "Berlin", which is not an IANA time zone/,
    /^export TZ=/,
    () => (ward.env.TZ = "Berlin"),
    () => (ward.env.TZ = "Europe/Berlin"),
  ),
  warning(
    "a clock that went back",
    /the clock went back/,
    /touch /,
    () => {
      writeState("logs/dev-2030-01-01.log", "");
      const later = Date.now() / 1000 + 86_400;
      utimesSync(join(ward.dir, ".al/logs/dev-2030-01-01.log"), later, later);
    },
    runLast,
  ),
  error("a damaged database", /the database is damaged/, /^mv /, () =>
    writeState("state.db", "this was a database once ".repeat(100)),
  ),
  error(
    "no engine for an agent in a container",
    /no container engine answers at unix:/,
    /start the engine.+or set type = "host-user"/,
    () => ward.edit(agentConfig, '"host-user"\nrun_as = "$USER"', '"container"'),
    () => ward.run("al config dev --set runtime.type=host-user --set runtime.run_as='$USER'"),
  ),
  error(
    "another machine's engine for an agent in a container",
    /DOCKER_HOST is tcp:\/\/10\.0\.0\.9:2376, the engine of another machine/,
    /write engine = "docker".+under \[cluster\].+unset DOCKER_HOST/,
    () => {
      ward.edit(agentConfig, '"host-user"\nrun_as = "$USER"', '"container"');
      ward.env.DOCKER_HOST = "tcp://10.0.0.9:2376";
    },
    () => (ward.env.DOCKER_HOST = undefined),
  ),
  error(
    "an address that other machines take for themselves",
    /no other machine reaches this scheduler at 127\.0\.0\.1:8443/,
    /^al config --set cluster\.address=/,
    async () => {
      await runInCluster(`address = "127.0.0.1:8443"\n${toRegistry}`);
    },
    () => ward.run("al config --set cluster.address=10.0.0.5:8443"),
  ),
  error(
    "an engine that is in no Swarm",
    /is in no Swarm/,
    /docker swarm init/,
    async () => {
      const lines = `${reachable}\n${toRegistry}`;
      await runInCluster(lines, { "/info": { NCPU: 4 } });
    },
    () => ward.run("al config --unset cluster"),
  ),
  error(
    "a base of images that the engine of the cluster does not have",
    /the image real-base:24 to build on is not on this engine/,
    /^docker pull real-base:24, or build on another one: al config --unset local\.base/,
    async () => {
      const lines = `${reachable}\n${toRegistry}\n[local]\nbase = "real-base:24"`;
      await runInCluster(lines);
    },
    () => ward.run("al config --unset local.base"),
  ),
  warning(
    "a machine of the Swarm that is down",
    /the machine node-2 takes no runs: it is down/,
    /docker node ls/,
    async () => {
      const nodes = swarmNodes("ready", "down");
      await runInCluster(`${reachable}\n${toRegistry}`, { "/nodes": nodes });
    },
    () => ward.run("al config --unset cluster"),
  ),
  warning(
    "images that the machines of the Swarm can't load",
    /each other one must have them already/,
    /^al config --set cluster\.registry=/,
    async () => {
      await runInCluster(reachable);
    },
    () => ward.run("al config --set cluster.registry=registry.example.com/team"),
  ),
  error(
    "a broken key of the door",
    /does not hold the key and the certificate of the door/,
    /or remove it/,
    async () => {
      await runInCluster(`${reachable}\n${toRegistry}`);
      writeState("door.pem", "no key");
    },
    () => ward.run("rm .al/door.pem"),
  ),
  error(
    "an image that the engine does not have",
    /the image ours:1 is not on this engine/,
    /^docker pull ours:1, or use the default one: al config --unset local\.image/,
    () => runInContainer({}, 'image = "ours:1"'),
    runLast,
  ),
  warning(
    "an image of another project",
    /the image theirs:1 was built for an agent of another project/,
    /^build one of your own FROM al-agent:latest, or use the default one: al config --unset local\.image/,
    () => {
      const labels = { "al.version": "0.1.0", "al.project": "0123456789abcdef" };
      const answers = { "/images/theirs:1/json": { Id: "sha256:3", Config: { Labels: labels } } };
      return runInContainer(answers, 'image = "theirs:1"');
    },
    runLast,
  ),
  error(
    "more processors for an agent than there are",
    /may use 3 processors, and the engine has 2/,
    /^al config dev --set local\.cpus=2/,
    async () => {
      await runInContainer({ "/info": { NCPU: 2 } });
      await ward.run("al config dev --set local.cpus=3");
    },
  ),
  error(
    "a network of an agent that the engine does not have",
    /the engine has no network agents/,
    /^docker network create agents, or use the default one: al config dev --unset local\.network/,
    async () => {
      await runInContainer({});
      await ward.run("al config dev --set local.network=agents");
    },
    runLast,
  ),
  error(
    "more processors than there are",
    /may use 2 processors, and the engine has 1/,
    /^al config --set local\.cpus=1/,
    () => runInContainer({ "/info": { NCPU: 1 } }),
  ),
  error(
    "a network that the engine does not have",
    /the engine has no network agents/,
    /^docker network create agents, or use the default one: al config --unset /,
    () => runInContainer({}, 'network = "agents"'),
    runLast,
  ),
];
