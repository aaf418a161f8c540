import { createServer, type AddressInfo } from "node:net";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { chown } from "node:fs/promises";
import { join } from "node:path";
import { NEVER } from "rxjs";
import { anyAgent } from "../../../../src/runtime/runners/host-user/sudoers-rule.ts";
import type { Runner } from "../../../../streams/runs/runner.ts";
import { collected, exitOf, messagesOf } from "../contract.ts";
import { agentUsers, uidOf, whyNoOsUsers } from "../../../helpers/os-users.ts";
import { aRequest, end } from "../shell-runs.ts";
import { whyNoNetwork } from "./network-namespaces.ts";
import { inNamespace, remoteRunner } from "./remote-runner.ts";
import { aRunner, supervisorProgram } from "./support.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { perFile, perTest } from "../../../helpers/per-test.ts";
import { noteSkipped } from "../../../helpers/note-skipped.ts";

const attempts = join(import.meta.dirname, "network-attempts.ts");
const missing = whyNoOsUsers() ?? whyNoNetwork();
noteSkipped("closed networks of host users", missing);

describe.skipIf(missing !== null)("a host-user run whose network is closed", () => {
  const users = perFile(
    () => agentUsers(supervisorProgram(anyAgent)),
    (users) => users.remove(),
  );
  const root = perTest(() => tempDir(0o755));
  const baseDir = () => join(root(), "runs");

  /** The scheduler's user, then the run's. */
  const places = ["root, root", "root, another", "a user, itself", "a user, another"] as const;
  type Place = (typeof places)[number];
  const runnerOf = async (
    place: Place,
    options: Parameters<typeof remoteRunner>[2],
  ): Promise<Runner> => {
    if (place.startsWith("root"))
      return aRunner(baseDir(), { network: () => options?.network ?? "closed" });
    const { schedulerUser } = users();
    await chown(root(), uidOf(schedulerUser), 0);
    return remoteRunner(schedulerUser, baseDir(), { network: "closed", ...options });
  };
  const requestOf = (place: Place, title: string) => {
    const runAs = place.endsWith("another") ? users().agentUser.name : "$USER";
    return aRequest(title, { timeoutSeconds: 30, runtime: { type: "host-user", runAs } });
  };
  const eventsOf = async (place: Place, script: string, options = {}) => {
    const runner = await runnerOf(place, options);
    return collected(runner.run(requestOf(place, `${script}\n${end()}`), NEVER));
  };
  const linesOf = async (...given: Parameters<typeof eventsOf>) => {
    const events = await eventsOf(...given);
    expect(exitOf(events)).toMatchObject({ exitCode: 0, rejected: null });
    return messagesOf(events);
  };

  const rights = `id -u; id -g; umask
    grep -E "^(CapInh|CapPrm|CapEff|CapAmb|NoNewPrivs|Seccomp):" /proc/self/status
    touch mine; stat -c '%u %g %a' mine .; stat -c '%u %a' /etc/passwd`;
  const surroundings = `PATH=$PATH:/usr/sbin
    ip -o addr | sed 's/ *scope.*//; s/ \\+/ /g'; ip route; ip -6 route | grep -v '^::1 dev lo'
    cat /proc/1/comm; find /run -mindepth 1 | wc -l; ls /proc | grep -c '^[0-9]'`;

  test.each(places)(
    "has the rights of an open run, but sees only the loopback and itself (users of scheduler and run: %s)",
    async (place) => {
      const open = await linesOf(place, rights, { network: "open" });
      const closed = await linesOf(place, `${rights}\n${surroundings}`);
      expect(closed.slice(0, open.length)).toEqual(open);
      if (place !== "root, root") expect(open).toContain("CapEff:\t0000000000000000");
      const seen = closed.slice(open.length);
      expect(Number(seen.pop())).toBeLessThan(12);
      expect(seen).toEqual(["1: lo inet 127.0.0.1/8", "1: lo inet6 ::1/128", "sh", "0"]);
    },
  );

  const place = "a user, itself";

  test("can't undo its isolation in a new user namespace", async () => {
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

  test("can't connect to this machine by TCP, UDP, IPv6 or abstract sockets", async () => {
    const tcp = createServer((socket) => socket.on("error", () => undefined).end());
    const udp = createSocket("udp4");
    const path = `\0al-test-${process.pid}`;
    const abstract = createServer().listen(path);
    let datagrams = 0;
    udp.on("message", () => (datagrams += 1)).bind(0, "0.0.0.0");
    const all = [tcp.listen(0, "::"), udp, abstract];
    onTestFinished(() => all.forEach((each) => each.close()));
    await Promise.all(all.map((each) => once(each, "listening")));
    const { port } = tcp.address() as AddressInfo;
    const hosts = ["127.0.0.1", "::1", "192.0.2.1"];
    const addresses = [...hosts.map((host) => ({ host, port })), { path }];
    const targets = JSON.stringify({ addresses, udpPort: udp.address().port });
    const script = `${process.execPath} --no-warnings ${attempts} '${targets}'`;
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
    const open = await linesOf(place, script, { network: "open" });
    expect([open[0], open[1], open[3], datagrams]).toEqual(["reached", "reached", "reached", 1]);
  });

  const forbidden = (network: "closed" | "closed-if-possible") => {
    const within = inNamespace(users().schedulerUser, "echo 0 > /proc/sys/user/max_net_namespaces");
    return eventsOf(place, `echo "network $AL_NETWORK" >&2`, { network, within });
  };

  test("does not start if the kernel forbids isolation, with a reason and advice", async () => {
    const events = await forbidden("closed");
    const { rejected } = exitOf(events);
    expect(rejected).toMatch(/network has to be closed.*\(unshare: .*No space left on device\)/);
    expect(rejected).toMatch(
      /container.*apparmor_restrict_unprivileged_userns.*iproute2.*\[local\]/,
    );
    expect(messagesOf(events)).toEqual([]);
  });

  test("has an open network, with a warning, if the kernel forbids isolation and the config permits that", async () => {
    const events = await forbidden("closed-if-possible");
    expect(exitOf(events)).toMatchObject({ exitCode: 0, rejected: null });
    const [first, ...others] = messagesOf(events);
    expect(first).toMatch(/network of this run is open.*No space left on device/);
    expect(others).toContain("network open");
  });
});
