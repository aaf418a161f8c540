import { createServer, type AddressInfo } from "node:net";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { chmod, chown } from "node:fs/promises";
import { join } from "node:path";
import { lastValueFrom, NEVER, toArray } from "rxjs";
import { anyAgent } from "../../../../src/runtime/runners/host-user/sudoers-rule.ts";
import type { Runner } from "../../../../streams/runs/runner.ts";
import { exitOf, messagesOf, runnerContract } from "../contract.ts";
import { agentUsers, uidOf, whyNoOsUsers, type AgentUsers } from "../../../helpers/os-users.ts";
import { isLong } from "../../../helpers/long.ts";
import { end } from "../shell-runs.ts";
import { whyNoNetwork } from "./network-namespaces.ts";
import { remoteRunner } from "./remote-runner.ts";
import { aRequest, aRunner, leftovers, supervisorProgram } from "./support.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

const attempts = join(import.meta.dirname, "network-attempts.ts");
const missing = whyNoOsUsers() ?? whyNoNetwork();
if (missing !== null) process.stderr.write(`skipped: closed networks of host users (${missing})\n`);

describe.skipIf(missing !== null)("a run of a host user whose network is closed", () => {
  let users: AgentUsers;
  let root: string;
  let baseDir: string;

  beforeAll(async () => void (users = await agentUsers(supervisorProgram(anyAgent))));
  afterAll(() => users.remove());
  beforeEach(async () => {
    root = tempDir();
    await chmod(root, 0o755);
    baseDir = join(root, "runs");
  });

  /** The scheduler's user, then the run's. */
  const places = ["root, root", "root, another", "a user, itself", "a user, another"] as const;
  const runnerOf = async (
    place: (typeof places)[number],
    network: "closed" | "open" = "closed",
  ): Promise<Runner> => {
    if (place.startsWith("root")) return aRunner(baseDir, { network: () => network });
    await chown(root, uidOf(users.schedulerUser), 0);
    return remoteRunner(users.schedulerUser, baseDir, { network });
  };
  const requestOf = (place: (typeof places)[number], title: string) =>
    aRequest(title, {
      timeoutSeconds: 30,
      runtime: {
        type: "host-user",
        runAs: place.endsWith("another") ? users.agentUser.name : "$USER",
      },
    });
  const linesOf = async (
    place: (typeof places)[number],
    script: string,
    network: "closed" | "open" = "closed",
  ) => {
    const runner = await runnerOf(place, network);
    const request = requestOf(place, `${script}\n${end()}`);
    const events = await lastValueFrom(runner.run(request, NEVER).pipe(toArray()));
    expect(exitOf(events)).toMatchObject({ exitCode: 0, rejected: null });
    return messagesOf(events);
  };

  if (isLong) {
    runnerContract("the host-user runner with a closed network", async () => ({
      runner: await runnerOf("root, another"),
      request: (scenario) => requestOf("root, another", scenario),
      leftovers: (id) => leftovers(baseDir, id),
      dispose: () => Promise.resolve(),
    }));
  }

  const rights = `id -u; id -g; umask
    grep -E "^(CapInh|CapPrm|CapEff|CapAmb|NoNewPrivs|Seccomp):" /proc/self/status
    touch mine; stat -c '%u %g %a' mine .; stat -c '%u %a' /etc/passwd`;
  const surroundings = `PATH=$PATH:/usr/sbin
    ip -o addr | sed 's/ *scope.*//; s/ \\+/ /g'; ip route; ip -6 route | grep -v '^::1 dev lo'
    cat /proc/1/comm; find /run -mindepth 1 | wc -l; ls /proc | grep -c '^[0-9]'`;

  test.each(places)(
    "has the rights of an open one, but sees only the loopback interface and itself (%s)",
    async (place) => {
      const open = await linesOf(place, rights, "open");
      const closed = await linesOf(place, `${rights}\n${surroundings}`);
      expect(closed.slice(0, open.length)).toEqual(open);
      if (place !== "root, root") expect(open).toContain("CapEff:\t0000000000000000");
      const [v4, v6, ...seen] = closed.slice(open.length);
      expect([v4, v6]).toEqual(["1: lo inet 127.0.0.1/8", "1: lo inet6 ::1/128"]);
      expect(seen.slice(0, 2)).toEqual(["sh", "0"]);
      expect(Number(seen[2])).toBeLessThan(12);
    },
  );

  describe("as an unprivileged user", () => {
    const place = "a user, itself";

    test("a run of a host user whose network is closed as an unprivileged user can't undo any part of it in a user namespace of its own", async () => {
      const inside = [
        "umount /run; umount -l /run; umount /proc; umount -l /proc",
        "ip link add d0 type dummy && ip addr",
        "nsenter --net=/proc/1/ns/net ip -o link | grep -v 'lo:'",
        "nsenter -t 1 --user true",
        "ls /proc | grep -c '^[0-9]'; find /run -type s | wc -l",
      ].join("; ");
      const lines = await linesOf(place, `unshare -Urm sh -c "${inside}" 2>/dev/null; ip -o link`);
      expect(lines.slice(-2)).toEqual(["0", expect.stringContaining("lo:")]);
      expect(Number(lines.at(-3))).toBeLessThan(15);
    });

    test("a run of a host user whose network is closed as an unprivileged user reaches no listener of this machine: TCP, UDP, IPv6, abstract sockets", async () => {
      const tcp = createServer((socket) => socket.on("error", () => undefined).end()).listen(
        0,
        "::",
      );
      const udp = createSocket("udp4");
      let datagrams = 0;
      udp.on("message", () => (datagrams += 1)).bind(0, "0.0.0.0");
      const abstract = createServer().listen(`\0al-test-${process.pid}`);
      await Promise.all([
        once(tcp, "listening"),
        once(udp, "listening"),
        once(abstract, "listening"),
      ]);
      const { port } = tcp.address() as AddressInfo;
      const addresses = [
        { host: "127.0.0.1", port },
        { host: "::1", port },
        { host: "192.0.2.1", port },
        { path: `\0al-test-${process.pid}` },
      ];
      const targets = JSON.stringify({ addresses, udpPort: udp.address().port });
      const script = `${process.execPath} --no-warnings ${attempts} '${targets}'`;
      try {
        const refused = "ECONNREFUSED";
        expect(await linesOf(place, script)).toEqual([
          refused,
          refused,
          "ENETUNREACH",
          refused,
          "EAI_AGAIN",
          refused,
        ]);
        expect(datagrams).toBe(0);
        const open = await linesOf(place, script, "open");
        expect([open[0], open[1], open[3]]).toEqual(["reached", "reached", "reached"]);
        expect(datagrams).toBe(1);
      } finally {
        tcp.close();
        udp.close();
        abstract.close();
      }
    });

    /** A user namespace in which the kernel makes no network namespace. */
    const forbids = () => {
      const limit = "echo 0 > /proc/sys/user/max_net_namespaces";
      const back = 'exec setpriv --inh-caps=-all --ambient-caps=-all "$@"';
      const ids = ["user", "group"].map((id) => `--map-${id}=${uidOf(users.schedulerUser)}`);
      return ["unshare", "--user", ...ids, "--keep-caps", "sh", "-c", `${limit}; ${back}`, "sh"];
    };
    const forbidden = async (network: "closed" | "closed-if-possible") => {
      await chown(root, uidOf(users.schedulerUser), 0);
      const runner = remoteRunner(users.schedulerUser, baseDir, { network, within: forbids() });
      const request = requestOf(place, `echo "network $AL_NETWORK" >&2; ${end()}`);
      return lastValueFrom(runner.run(request, NEVER).pipe(toArray()));
    };

    test("a run of a host user whose network is closed as an unprivileged user does not start if the kernel forbids it, with its words and advice", async () => {
      const events = await forbidden("closed");
      const { rejected } = exitOf(events);
      expect(rejected).toMatch(/network has to be closed.*\(unshare: .*No space left on device\)/);
      expect(rejected).toMatch(
        /container.*apparmor_restrict_unprivileged_userns.*iproute2.*\[local\]/,
      );
      expect(messagesOf(events)).toEqual([]);
    });

    test("a run of a host user whose network is closed as an unprivileged user is open if it need not be closed, and its log says so", async () => {
      const events = await forbidden("closed-if-possible");
      expect(exitOf(events)).toMatchObject({ exitCode: 0, rejected: null });
      const lines = messagesOf(events);
      expect(lines[0]).toMatch(/network of this run is open.*No space left on device/);
      expect(lines).toContain("network open");
    });
  });
});
