import { utimesSync } from "node:fs";
import { join } from "node:path";
import { runLast, error, warning, type Fault } from "./fault.ts";
import {
  containerAgent,
  ofAnotherProject,
  runInCluster,
  runInContainer,
  swarmNodes,
  takePort,
  writeState,
  ward,
} from "./support.ts";

const reachable = 'address = "10.0.0.5:8443"';
const toRegistry = 'registry = "registry.example.com/team"';
const cluster =
  (lines = `${reachable}\n${toRegistry}`, answers = {}) =>
  () =>
    runInCluster(lines, answers);
const container =
  (answers = {}, local?: string) =>
  () =>
    runInContainer(answers, local);
const run = (line: string) => () => ward.run(line);

/** Faults of the machine that the project is on. */
export const machineFaults: readonly Fault[] = [
  error(
    /^port \d+ of 127\.0\.0\.1 is in use by another program$/,
    /^al config --set gateway\.port=\d+ -p /,
    takePort,
  ),
  error("can't listen at 192.0.2.1", /^al config --set gateway\.host=127\.0\.0\.1/, () =>
    ward.edit("config.toml", "port = 0", 'port = 0\nhost = "192.0.2.1"'),
  ),
  warning(
    "no longer used",
    /^unset AL_DASHBOARD_SECRET$/,
    () => (ward.env.AL_DASHBOARD_SECRET = "old"),
    () => Reflect.deleteProperty(ward.env, "AL_DASHBOARD_SECRET"),
  ),
  warning(
    'TZ is "Berlin", which is not an IANA time zone',
    /^export TZ=/,
    () => (ward.env.TZ = "Berlin"),
    () => (ward.env.TZ = "Europe/Berlin"),
  ),
  warning(
    "the clock went back",
    /touch /,
    () => {
      writeState("logs/dev-2030-01-01.log", "");
      const later = Date.now() / 1000 + 86_400;
      utimesSync(join(ward.dir, ".al/logs/dev-2030-01-01.log"), later, later);
    },
    runLast,
  ),
  error("the database is damaged", /^mv /, () =>
    writeState("state.db", "this was a database once ".repeat(100)),
  ),
  error(
    "no container engine answers at unix:",
    /start the engine.+or set type = "host-user"/,
    containerAgent,
    run("al config dev --set runtime.type=host-user --set runtime.run_as='$USER'"),
  ),
  error(
    "DOCKER_HOST is tcp://10.0.0.9:2376, the engine of another machine",
    /run docker swarm init there, and write engine = "swarm".+under \[cluster\].+unset DOCKER_HOST/,
    () => {
      containerAgent();
      ward.env.DOCKER_HOST = "tcp://10.0.0.9:2376";
    },
    () => (ward.env.DOCKER_HOST = undefined),
  ),
  error(
    "no other machine reaches this scheduler at 127.0.0.1:8443",
    /^al config --set cluster\.address=/,
    cluster(`address = "127.0.0.1:8443"\n${toRegistry}`),
    run("al config --set cluster.address=10.0.0.5:8443"),
  ),
  error(
    "is in no Swarm",
    /docker swarm init/,
    cluster(undefined, { "/info": { NCPU: 4 } }),
    run("al config --unset cluster"),
  ),
  error(
    "the base image real-base:24 is not on this engine",
    /^docker pull real-base:24, or build on another one: al config --unset local\.base/,
    cluster(`${reachable}\n${toRegistry}\n[local]\nbase = "real-base:24"`),
    runLast,
  ),
  warning(
    "the machine node-2 accepts no runs: it is down",
    /docker node ls/,
    cluster(undefined, { "/nodes": swarmNodes("ready", "down") }),
    run("al config --unset cluster"),
  ),
  warning(
    "all others must have them already",
    /^al config --set cluster\.registry=/,
    cluster(reachable, { "/nodes": swarmNodes("ready", "ready") }),
    run("al config --set cluster.registry=registry.example.com/team"),
  ),
  error(
    "does not contain the key and the certificate of the door",
    /or remove it/,
    async () => {
      await cluster()();
      writeState("door.pem", "no key");
    },
    run("rm .al/door.pem"),
  ),
  error(
    "the image ours:1 is not on this engine",
    /^docker pull ours:1, or use the default one: al config --unset local\.image/,
    container({}, 'image = "ours:1"'),
    runLast,
  ),
  warning(
    "the image theirs:1 was built for an agent of another project",
    /^build one of your own FROM al-agent:latest, or use the default one: al config --unset local\.image/,
    container(ofAnotherProject, 'image = "theirs:1"'),
    runLast,
  ),
  error(
    "may use 3 processors, and the engine has 2",
    /^al config dev --set local\.cpus=2/,
    async () => {
      await runInContainer({ "/info": { NCPU: 2 } });
      await ward.run("al config dev --set local.cpus=3");
    },
  ),
  error(
    "may use 2 processors, and the engine has 1",
    /^al config --set local\.cpus=1/,
    container({ "/info": { NCPU: 1 } }),
  ),
  error(
    "the engine has no network agents",
    /^docker network create agents, or use the default one: al config dev --unset local\.network/,
    async () => {
      await runInContainer();
      await ward.run("al config dev --set local.network=agents");
    },
    runLast,
  ),
  error(
    "the engine has no network agents",
    /^docker network create agents, or use the default one: al config --unset /,
    container({}, 'network = "agents"'),
    runLast,
  ),
];
