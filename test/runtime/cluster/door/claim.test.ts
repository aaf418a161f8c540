import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { claimAnswerSchema } from "../../../../src/runtime/wire/remote-protocol.ts";
import { post } from "../../run-api/support.ts";
import { aDoor, claimA, claimB } from "./support.ts";

const { side, run, claim, tokenOf, unlock, ...door } = aDoor();
const statusOf = async (id = claimA) => (await claim({ id })).status;
const stored = () => side().store.remoteRuns.all();

describe("a claim", () => {
  test("is answered with the job and a token, which is valid for all other requests", async () => {
    const { status, body } = await claim();
    expect(status).toBe(200);
    const { job, leaseSeconds } = claimAnswerSchema.parse(body);
    expect(job).toMatchObject({ instanceId: "dev-1", channel: { socket: "/run/al/channel.sock" } });
    expect(leaseSeconds).toBe(90);
    const token = job.channel?.token ?? "";
    expect(Buffer.from(token, "base64url")).toHaveLength(32);
    expect(side().now.remote.claims).toEqual([{ instanceId: "dev-1", claim: claimA, node: "n1" }]);
    expect([await unlock(token), await unlock(run().ticket)]).toEqual([200, 401]);
  });

  test("is accepted for one of many concurrent claimers, which keeps its token", async () => {
    const ids = Array.from({ length: 8 }, (_, n) => `${n}${claimA.slice(1)}`);
    const answers = await Promise.all(ids.map((id) => claim({ id })));
    const [winner, ...others] = answers.toSorted((a, b) => a.status - b.status);
    expect(winner?.status).toBe(200);
    const refused = { status: 409, body: { error: "claimed" } };
    expect(others).toMatchObject(Array(7).fill(refused));
    expect(side().now.remote.claims).toHaveLength(1);
    const { job } = claimAnswerSchema.parse(winner?.body);
    expect(await unlock(job.channel?.token ?? "")).toBe(200);
  });

  test("whose answer was lost is answered again, with another token", async () => {
    const [lost, token] = [await tokenOf(), await tokenOf()];
    expect([await unlock(lost), await unlock(token)]).toEqual([401, 200]);
  });

  test("with a forged ticket, another run's, or none is rejected", async () => {
    const other = await door.expectRun("dev-2");
    for (const ticket of ["A".repeat(43), other.ticket, ""]) {
      const refused = { status: 401, body: { error: "unauthorized" } };
      expect(await claim({ ticket })).toMatchObject(refused);
    }
    expect(side().now.remote.claims).toEqual([]);
    expect(await statusOf()).toBe(200);
  });

  test("that is malformed has no effect", async () => {
    expect([await statusOf("1"), await statusOf()]).toEqual([400, 200]);
  });

  test("that fails with 503 succeeds when repeated", async () => {
    const { remote } = side().now;
    const make = remote.claim.bind(remote);
    remote.claim = () => Promise.reject(new Error("the credential is on fire"));
    const refused = await claim();
    expect(refused).toMatchObject({ status: 503, body: { error: "unavailable" } });
    expect(JSON.stringify(refused)).not.toContain("fire");
    expect(side().problems).toEqual(["dev-1: the credential is on fire"]);
    remote.claim = make;
    expect([await statusOf(), await statusOf(claimB)]).toEqual([200, 409]);
  });
});

describe("after a restart of the scheduler", () => {
  test("a run's token still works, and no other process can claim the run", async () => {
    const token = await tokenOf();
    const restored = await side().restart(["dev-1"]);
    expect([...restored.keys()]).toEqual(["dev-1"]);
    expect(await unlock(token)).toBe(503);
    side().serve();
    expect([await unlock(token), await statusOf(claimB)]).toEqual([200, 409]);
    expect(await unlock(await tokenOf())).toBe(200);
  });

  test("an unclaimed ticket is still valid", async () => {
    await side().restart(["dev-1"]);
    side().serve();
    expect(await statusOf()).toBe(200);
  });

  test("a run that the scheduler no longer knows is answered with 401", async () => {
    const token = await tokenOf();
    await side().restart([]);
    side().serve();
    expect([await unlock(token), await statusOf()]).toEqual([401, 401]);
    await expect.poll(stored).toEqual([]);
  });
});

describe("a run's ticket and token", () => {
  test("are removed from texts while the run lives, and stored only as hashes", async () => {
    const secrets = [run().ticket, await tokenOf()];
    const { redact } = side().now.redactor;
    const shown = () => secrets.map((secret) => redact(`x ${secret} y`));
    expect(shown()).toEqual(secrets.map(() => "x [redacted] y"));
    const dir = join(side().dir, ".al");
    const files = readdirSync(dir).filter((file) => file.includes("state.db"));
    const bytes = files.map((file) => readFileSync(join(dir, file)).toString("latin1")).join("");
    expect(secrets.filter((secret) => bytes.includes(secret))).toEqual([]);
    run().runSocket[Symbol.dispose]();
    expect(shown()).toEqual(secrets.map((secret) => `x ${secret} y`));
    expect(side().problems).toEqual([]);
  });

  test("are invalid once the run has ended, on old connections and on new ones", async () => {
    const token = await tokenOf();
    using channel = await door.openChannel();
    const through = async () => (await post({ socket: channel.path, token }, "unlock")).status;
    expect(await through()).toBe(200);
    run().runSocket[Symbol.dispose]();
    expect([await through(), await unlock(token), await statusOf()]).toEqual([401, 401, 401]);
    await expect.poll(stored).toEqual([]);
  });
});
